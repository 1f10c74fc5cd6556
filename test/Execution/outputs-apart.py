# Norms of outputs in a kernel of their own, on the simulator against the fp64
# token loop.
# REQUIRES: numpy
# RUN: %python %s %S/Inputs/made-up-norms.mlir linattn-run
import subprocess
import sys

file, tool = sys.argv[1:]
CASES = [
    ("pooled_norm", "--size=B=3", "--size=P=4", "--size=T=70"),
    ("gated_norm", "--size=N=3", "--size=T=70", "--plan=segments=2 chunk=32"),
]
for function, *case in CASES:
    command = [tool, file, f"--function={function}", "--device=sim", "--lowering=chunkwise", "--verify", *case]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, (command, run.stdout, run.stderr)
