# Plan segmented on the simulator: right against the fp64 token loop and without a
# finding, for diagonal transitions (no write reads the state) and matrices, for
# all distributions of gates, tails, sequences shorter than a segment or empty,
# packed ones, several states, snapshots, states of pools.
# REQUIRES: numpy
# RUN: %python %s %examples linattn-run %t
import pathlib
import subprocess
import sys

from linattn.resize import resize

sys.path.insert(0, str(pathlib.Path(__file__).parent / "Inputs"))
from operators import module

examples, tool, folder = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
folder.mkdir(parents=True, exist_ok=True)


def tokens(T, B=1, gates="mixed", state="random"):
    sizes = [f"--size=B={B}", f"--size=T={T}", f"--gates={gates}"]
    return sizes if state == "random" else [*sizes, f"--state={state}"]


def packed(*offsets):
    return ["--seqlens=" + ",".join(map(str, offsets)), "--gates=mixed"]


UNEVEN = packed(0, 0, 3, 70, 70, 200, 200)
# Example, how it is resized, plan, cases.
CASES = [
    ("gated_deltanet", {"key_heads": 1}, "segments=4",
     [tokens(260, gates=g) for g in ("none", "strong", "extreme", "mixed")]),
    ("gated_deltanet", {}, "segments=3", [tokens(0), tokens(1, B=2), tokens(70, 2)]),
    ("gated_deltanet", {"dtype": "f32"}, "segments=2 chunk=32", [tokens(150, state="zero")]),
    ("gated_deltanet", {}, "segments=2 split=0 chunk=32", [tokens(150)]),
    ("gated_deltanet", {}, "segments=2 hoist=1 chunk=32", [tokens(150)]),
    ("gated_deltanet", {}, "segments=2 slice=32 column-parts=2", [tokens(150)]),
    ("gated_deltanet", {"packed": True}, "segments=3 chunk=32", [UNEVEN]),
    ("deltanet", {}, "segments=4 chunk=32", [tokens(33)]),
    ("deltanet", {"packed": True}, "segments=2", [UNEVEN]),
    ("kda", {}, "segments=3 chunk=32",
     [tokens(200, gates=g) for g in ("usual", "slow", "extreme", "mixed")]),
    ("kda", {"packed": True}, "segments=2", [UNEVEN]),
    ("gla", {}, "segments=4 chunk=32",
     [tokens(200, gates=g) for g in ("none", "strong", "extreme")]),
    ("gla", {"packed": True}, "segments=5 chunk=32", [UNEVEN]),
    ("mamba2", {}, "segments=4", [tokens(200), tokens(10, gates="extreme")]),
    ("simple_gla", {}, "segments=2", [tokens(200, gates="extreme")]),
    ("linear_attention", {}, "segments=3", [tokens(200, state="zero")]),
    ("normalized_linear_attention", {}, "segments=3", [tokens(200)]),
    ("rwkv7", {}, "segments=2 chunk=32", [tokens(130)]),
    ("kda_snapshots", {}, "segments=3", [tokens(330)]),
]

runs = []
for number, (name, sizes, plan, cases) in enumerate(CASES):
    text = (examples / f"{name}.mlir").read_text()
    path = folder / f"{number}_{name}.mlir"
    path.write_text(resize(text, K=32, V=48, heads=2, **sizes))
    runs.append((name, path, plan, cases))
# States of a pool, in place, in f32 and of odd sizes: 8 keys, 5 columns.
for name in ("gated_deltanet", "gla", "kda", "normalized"):
    path = folder / f"{name}_slots.mlir"
    path.write_text(module(name, packed=False, padding=-1))
    pool = ["--size=P=4,T=100", "--slots=2,-1,0", "--gates=mixed"]
    runs.append((name, path, "segments=3 chunk=16", [pool]))

failed = []
for name, path, plan, cases in runs:
    for case in cases:
        command = [tool, str(path), *case, f"--plan={plan}"]
        command += ["--device=sim", "--lowering=chunkwise", "--verify"]
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode != 0:
            failed.append(" ".join([str(name), plan, *case]))
            print(" ".join(command), run.stdout, run.stderr, sep="\n", file=sys.stderr)
        if "-v" in sys.argv:
            print(run.returncode, name, plan, *case, flush=True)
assert not failed, failed
