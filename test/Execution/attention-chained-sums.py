# A layer norm over value columns that go over the keys in turn: the mean, then the
# variance around it, are sums over all slices of a row. The kernel on the simulator
# against the same tiles in fp64 on the CPU, and against what a layer norm is.
# REQUIRES: numpy
# RUN: %python %s linattn-run %S/Inputs/attention-chained-sums.mlir %t
import pathlib
import subprocess
import sys

import numpy as np

tool, module, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
SIZES = [f"--size={n}.{d}={size}" for n in "qkv" for d, size in enumerate((1, 40))]


def run(name, *options):
    subprocess.run(
        [tool, module, *SIZES, "--lowering=chunkwise", *options, "--save", folder / name],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    load = lambda file: np.load(folder / name / f"{file}.npy").astype(np.float64)
    return load("out_0"), load("in_w"), load("in_q")


got, weight, q = run("sim", "--device=sim")
want, _, same = run("cpu", "--device=cpu", "--precision=fp64")
assert np.array_equal(q, same)
error = np.sqrt(np.mean((got - want) ** 2) / np.mean(want**2))
assert error < 5e-3, error
# Scaled by .8 behind the norm.
rows = got / weight / 0.8
assert abs(rows.mean(-1)).max() < 2e-3, abs(rows.mean(-1)).max()
assert abs((rows**2).mean(-1) - 1).max() < 1e-2, (rows**2).mean(-1)
