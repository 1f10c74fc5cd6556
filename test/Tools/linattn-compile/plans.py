# What the cost model chooses (docs/Plans.md) for sizes that are told, static in the
# types, or unknown. (That it has at most 20 numbers is asserted where it stands.)
# RUN: %python %s %examples linattn-compile %t
import json
import pathlib
import subprocess
import sys

from linattn.resize import resize

examples, tool, folder = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
folder.mkdir(parents=True, exist_ok=True)

# Operator, heads, sizes, plan.
CHOICES = [
    # Blocks of heads fill the GPU, or nothing is known.
    ("gated_deltanet", 64, "B=1,T=32768", ""),
    ("gated_deltanet", 32, "B=4,T=8192", ""),
    ("gated_deltanet", 2, None, ""),
    ("kda", 64, "B=1,T=8192", ""),
    ("gla", 16, "B=4,T=8192", ""),
    ("simple_gla", 48, "B=2,T=4096", ""),
    # Half of it, for long: narrower slices.
    ("gated_deltanet", 32, "B=1,T=32768", "column-parts=2 slice=32"),
    # A small part: segments, but of sequences that are long.
    ("gated_deltanet", 8, "B=1,T=32768", "segments=8"),
    ("kda", 4, "B=1,T=32768", "segments=16"),
    ("gla", 4, "B=1,T=65536", "segments=16"),
    ("linear_attention", 8, "B=1,T=32768", "segments=8"),
    ("mamba2", 24, "B=1,T=12288", "segments=8"),
    ("deltanet", 12, "B=1,T=8192", "segments=4"),
    ("linear_attention", 8, "B=1,T=256", ""),
]


def ask(operator, heads, sizes, *options):
    text = (examples / f"{operator}.mlir").read_text()
    source = folder / f"{operator}_{heads}.mlir"
    source.write_text(resize(text, K=128, V=128, heads=heads))
    command = [tool, str(source), "--target=sm_90a", "--print-plans", "-o", str(folder)]
    command += [f"--size={sizes}"] if sizes else []
    return subprocess.run([*command, *options], capture_output=True, text=True, check=True).stderr


wrong = []
for operator, heads, sizes, plan in CHOICES:
    said = ask(operator, heads, sizes)
    chosen = f"chosen '{plan}':" if plan else "chosen the default plan:"
    if chosen not in said or "''" in said:
        wrong.append((operator, heads, sizes, plan, said))
for case in wrong:
    print(*case, file=sys.stderr)
assert not wrong

# No transition, no segments.
assert "segments" not in ask("gated_deltanet_channel_rate", 8, "B=1,T=32768")

# Static sizes of the types are known without being told.
text = resize((examples / "gated_deltanet.mlir").read_text(), K=128, V=128, heads=8)
static = folder / "static.mlir"
static.write_text(text.replace("tensor<?x?x", "tensor<1x32768x").replace("tensor<?x8x", "tensor<1x8x"))
said = subprocess.run(
    [tool, str(static), "--target=sm_90a", "--print-plans", "-o", str(folder)],
    capture_output=True, text=True, check=True,
).stderr
assert "for 1 sequences of 32768 tokens" in said and "chosen 'segments=8'" in said, said

# Those of --size count where the types are silent, and nowhere else.
said = subprocess.run(
    [tool, str(static), "--target=sm_90a", "--print-plans", "--size=B=64,T=64"],
    capture_output=True, text=True, check=True,
).stderr
assert "for 1 sequences of 32768 tokens" in said, said

# What is assumed is called so; without any size the default stands.
said = ask("gated_deltanet", 8, None)
assert "no size is told (--size B=1,T=8192): the default plan stands" in said, said
# Four blocks a multiprocessor: 4 * 132 / 8 heads.
assert "for 66 (assumed) sequences of 4096 (assumed) tokens, chosen the default plan:" in said, said
assert "for 2 sequences of 4096 (assumed) tokens" in ask("gated_deltanet", 8, "B=2")
assert "for 66 (assumed) sequences of 100 tokens" in ask("gated_deltanet", 8, "T=100")


def times(said):
    lines = [line.split(maxsplit=1) for line in said.splitlines() if line.rstrip().endswith(("'", " plan"))]
    return {plan: float(time) for time, plan in lines}


# A plan that is given is the only one, and takes what it took among the candidates.
sizes = "B=1,T=32768"
everything = times(ask("gated_deltanet", 8, sizes))
assert len(everything) == 12, everything
for plan in ("segments=4", "segments=8 column-parts=2 slice=32"):
    said = ask("gated_deltanet", 8, sizes, f"--plan={plan}")
    assert f"given '{plan}':" in said, said
    assert times(said) == {f"'{plan}'": everything[f"'{plan}'"]}, (said, everything)
# Its chunks are its own; what the model does not know is said.
said = ask("gated_deltanet", 8, sizes, "--plan=chunk=32 stages=1")
assert "a chunk of 32 tokens" in said and "(the model knows nothing of stages=1)" in said, said


def refused(code, message, *options, source=folder / "gated_deltanet_8.mlir"):
    done = subprocess.run([tool, str(source), "--print-plans", *options], capture_output=True, text=True)
    assert done.returncode == code and message in done.stderr, (options, done)


# What has no plans, and a plan that there is no kernel by.
refused(2, "error: --print-plans is of kernels in chunks, on a GPU, got --target=cpu", "--target=cpu")
refused(
    2, "error: --print-plans is of kernels in chunks, on a GPU, got --lowering=serial",
    "--target=sm_90a", "--lowering=serial",
)
refused(1, "bytes of shared memory", "--target=sm_90a", "--plan=slice=128 chunk=128 stages=4")
refused(1, "plan: 'key-tile' is of attention", "--target=sm_90a", "--plan=key-tile=64")
refused(
    1, "cannot run in segments", "--target=sm_90a", "--plan=segments=2",
    source=examples / "gated_deltanet_channel_rate.mlir",
)
# It writes nothing, so that it makes no folder.
subprocess.run([tool, str(static), "--target=sm_90a", "--print-plans", "-o", str(folder / "none")], check=True)
assert not (folder / "none").exists()

# Parts of columns that stand in docs/Plans.md, of operands of 256 bytes a row or more.
def parts(operator, K, plan, dtype=None):
    source = folder / f"{operator}_parts.mlir"
    source.write_text(resize((examples / f"{operator}.mlir").read_text(), K=K, V=64, heads=1, dtype=dtype))
    command = [tool, str(source), "--target=sm_90a", "--no-cubin", f"--plan={plan}", "-o", str(folder)]
    subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads((folder / f"{operator}.json").read_text())["plan"]["parts"]


for operator, K, plan, expected, *dtype in [
    ("gated_deltanet", 64, "chunk=16", 1, "f32"),
    ("gated_deltanet", 128, "chunk=16", 2, "f32"),
    ("gated_deltanet", 128, "stages=1", 1),
    ("gated_deltanet", 192, "stages=1 chunk=16", 2),
    ("gated_deltanet", 64, "chunk=16 mma=bf16x2", 1),
    ("gated_deltanet", 128, "chunk=16 mma=bf16x2", 2),
    ("gated_deltanet", 64, "column-parts=4", 4),
    # A chain alone: chunks of 32 tokens, more than 16 keys.
    ("simple_gla", 64, "stages=1", 2),
    ("simple_gla", 64, "chunk=16", 1),
    ("simple_gla", 16, "stages=1", 1),
    # A decay over K in one kernel.
    ("gla", 64, "split=0", 1),
    ("gla", 64, "split=1 column-parts=2", 2),
]:
    assert parts(operator, K, plan, *dtype) == expected, (operator, K, plan, dtype)
refused(
    1, "a decay over K has one part of columns, got 2",
    "--target=sm_90a", "--plan=split=0 column-parts=2", source=folder / "gla_parts.mlir",
)
