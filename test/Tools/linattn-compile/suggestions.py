# Where a plan has no kernel, the message says what takes the bytes and which plan has
# one; that plan compiles.
# RUN: %python %s %examples linattn-compile %t
import pathlib
import re
import subprocess
import sys

from linattn.resize import resize

examples, tool, folder = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])


def compile(source, target, plan, *options):
    command = [tool, str(source), f"--target={target}", "--no-cubin", "-o", str(folder), *options]
    command += [f"--plan={plan}"] if plan else []
    return subprocess.run(command, capture_output=True, text=True)


def suggestion(said, given):
    """The plan that a remark recommends, of words that were given and are not left out."""
    match = re.search(r"there is a kernel by (?:the plan '(.*?)'|the default plan)(?:, without '(.*?)')?(?:, which counts on .*)?\n", said)
    assert match, said
    plan, without = match[1] or "", match[2] or ""
    assert set(given.split()) <= set(plan.split()) | set(without.split()), said
    return plan, without


# Each suggestion compiles; what is left out is as little as helps.
CASES = [
    ("gated_deltanet", "sm_90a", "slice=128 chunk=128", ""),
    ("gated_deltanet", "sm_86", "slice=128 chunk=128", "chunk=128"),
    ("gated_deltanet", "sm_86", "stages=4 slice=128 chunk=64", "stages=4"),
    ("gla", "sm_86", "chunk=128", "chunk=128"),
    ("gated_deltanet_channel_rate", "sm_90a", "segments=2 stages=1", "segments=2"),
    ("softmax_attention", "sm_86", "query-tile=256 key-tile=128 stages=4", "key-tile=128"),
]
for name, target, plan, without in CASES:
    done = compile(examples / f"{name}.mlir", target, plan)
    assert done.returncode == 1, (name, plan, done)
    suggested, left_out = suggestion(done.stderr, plan)
    assert left_out == without, (name, plan, done.stderr)
    again = compile(examples / f"{name}.mlir", target, suggested)
    assert again.returncode == 0, (name, suggested, again.stderr)

# Two stages of q, k, v and two matrices between the kernels, 128 tokens by 128 columns of
# 16 bits each, and one more such tile.
tile = 128 * 128 * 2
said = compile(examples / "gated_deltanet.mlir", "sm_90a", "slice=128 chunk=128").stderr
stages = ", ".join(["128x128xbf16"] * 5)
assert f"needs {11 * tile} bytes of shared memory, a block may have 232448 on sm_90a" in said, said
assert (
    f"note: 2 stages of {stages} for 'q', 'k', 'v', 'scratch_0', 'scratch_1': "
    f"{10 * tile} of the {11 * tile} bytes that live together" in said
), said
assert f"note: a tile of 128x128xbf16: {tile} of the {11 * tile} bytes" in said, said

# Without a plan there is none to recommend, but the other kernel.
text = (examples / "gated_deltanet.mlir").read_text()
big = folder / "big.mlir"
big.write_text(resize(text, K=512, V=64, heads=1))
done = compile(big, "sm_86", "", "--lowering=chunkwise")
assert done.returncode == 1 and "there is a token-serial kernel (--lowering=serial, auto)" in done.stderr, done
assert "bytes of shared memory" in done.stderr, done
assert compile(big, "sm_86", "", "--lowering=serial").returncode == 0
assert compile(big, "sm_86", "").returncode == 0
