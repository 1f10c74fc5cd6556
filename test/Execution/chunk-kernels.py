# Kernels in chunks on the simulator: right against the fp64 token loop, and
# without a finding (races, bounds, uninitialised values ..), for tails, packed
# and empty sequences, several sequences, grouped heads, initial states, gates.
# REQUIRES: numpy
# RUN: %python %s %examples linattn-run %t
import pathlib
import subprocess
import sys

from linattn.resize import resize

examples, tool, folder = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
folder.mkdir(parents=True, exist_ok=True)

TAILS = [["--size", "B=1", f"--size=T={T}"] for T in (1, 64, 70, 128)]
CASES = {
    "linear_attention": [TAILS[0], ["--size=B=3", "--size=T=17", "--state=zero"]],
    "simple_gla": [TAILS[2], ["--size=B=2", "--size=T=65", "--gates=strong"]],
    "retnet": [TAILS[2]],
    "deltanet": [TAILS[2], ["--size=B=2", "--size=T=0"]],
    "gated_deltanet": [
        *TAILS,
        ["--size=B=2", "--size=T=66", "--gates=extreme"],
        ["--size=B=1", "--size=T=130", "--gates=mixed", "--state=zero"],
        ["--size=B=1", "--size=T=130", "--gates=slow"],
    ],
    "gated_deltanet_packed": [
        ["--seqlens=0,0,64,64,100", "--gates=usual"],
        ["--seqlens=0,3,3,5,70,199,199", "--gates=none"],
    ],
    "mamba2": [TAILS[2]],
    "comba": [TAILS[2]],
    "comba_decayed": [TAILS[2]],
    "normalized_linear_attention": [TAILS[2]],
    # Decay over K; several writes, reads before the decay, snapshots, f32.
    "kda": [
        *TAILS[:3],
        ["--size=B=1", "--size=T=130", "--gates=mixed"],
        ["--size=B=2", "--size=T=66", "--gates=extreme", "--state=zero"],
    ],
    "gla": [TAILS[2], ["--size=B=2", "--size=T=65", "--gates=strong"]],
    "rwkv7": [TAILS[2], ["--size=B=1", "--size=T=66", "--gates=extreme"]],
    "gdn2": [["--size=B=1", "--size=T=40", "--gates=mixed"]],
    "kda_snapshots": [["--size=B=1", "--size=T=70"]],
    # Several writes that need each other; a system for each value column.
    "deltaproduct": [
        TAILS[0],
        ["--size=B=1", "--size=T=70", "--gates=mixed"],
        ["--size=B=2", "--size=T=40", "--gates=extreme", "--state=zero"],
    ],
    "gated_deltanet_channel_rate": [
        TAILS[2],
        ["--size=B=2", "--size=T=40", "--gates=extreme"],
    ],
}

# Heads of the keys, where they are fewer than the 4 of the values.
KEY_HEADS = {"gated_deltanet": 2, "gated_deltanet_packed": 2, "simple_gla": 1}


def with_few_heads(name, **sizes):
    """An example with 4 heads: what a block does is the same, and time is short."""
    text = (examples / f"{name}.mlir").read_text()
    path = folder / f"{name}{'_packed' if sizes else ''}.mlir"
    path.write_text(resize(text, heads=4, key_heads=KEY_HEADS.get(name, 4), **sizes))
    return path


# All the heads of the example in the first case of three; heads are blocks.
ALL_HEADS = ("gated_deltanet", "kda", "mamba2")
RUNS = [
    (with_few_heads(name) if i or name not in ALL_HEADS else examples / f"{name}.mlir", case)
    for name, cases in CASES.items()
    for i, case in enumerate(cases)
]
# Those packed, and in f16.
for name in ("linear_attention", "simple_gla", "deltanet", "gla"):
    RUNS.append((with_few_heads(name, packed=True), ["--seqlens=0,0,17,81,81,100"]))
half = folder / "gated_deltanet_f16.mlir"
half.write_text(with_few_heads("gated_deltanet").read_text().replace("bf16", "f16"))
RUNS.append((half, ["--size=B=1", "--size=T=70"]))

failed = []
for path, case in RUNS:
    command = [tool, str(path), *case]
    command += ["--device=sim", "--lowering=chunkwise", "--verify"]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        failed.append(" ".join([path.name, *case]))
        print(" ".join(command), run.stdout, run.stderr, sep="\n", file=sys.stderr)
assert not failed, failed
