# A query, a key or a bias that is NaN or inf makes its rows NaN, wherever it falls in
# a tile, and no others: the kernels on the simulator against the fp64 oracle.
# REQUIRES: numpy
# RUN: %python %s %examples linattn-run %t
import pathlib
import subprocess
import sys

import numpy as np

examples, tool, folder = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
folder.mkdir(parents=True, exist_ok=True)
rng = np.random.default_rng(0)
T = 70
EXAMPLES = ["softmax_attention", "diff_attention_v1", "diff_attention_v2"]
CASES = [("q", 7, np.nan), ("k", 0, np.nan), ("k", 66, np.nan), ("q", 3, np.inf)]


def shape_of(name, operand):
    """[1, T, heads, width] of the example's operand."""
    text = (examples / f"{name}.mlir").read_text()
    argument = text.split(f"%{operand}: tensor<?x?x")[1].split(">")[0]
    heads, width, _ = argument.split("x")
    return 1, T, int(heads), int(width)


for name in EXAMPLES:
    for number, (operand, token, value) in enumerate(CASES):
        x = rng.standard_normal(shape_of(name, operand)).astype(np.float32)
        x[0, token, 0, 3] = value
        path = folder / f"{name}_{number}.npy"
        np.save(path, x)
        command = [tool, str(examples / f"{name}.mlir"), "--device=sim", "--lowering=chunkwise"]
        command += ["--verify", f"--size=S={T}", f"--size=T={T}", f"--input={operand}={path}"]
        run = subprocess.run(command, capture_output=True, text=True)
        assert run.returncode == 0, (command, run.stdout, run.stderr)
