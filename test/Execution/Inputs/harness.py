"""Runs linattn-run from a test and brings the arrays back."""

import os
import subprocess
import sys

import numpy as np

TOOL, WORK = sys.argv[1:3]


def call(*args):
    """Runs the tool; the finished process."""
    return subprocess.run(
        [TOOL, *args], capture_output=True, text=True, timeout=250
    )


def write_module(name, text):
    os.makedirs(WORK, exist_ok=True)
    path = os.path.join(WORK, name + ".mlir")
    with open(path, "w") as f:
        f.write(text)
    return path


def run(module, *args, inputs=None, verify=True):
    """The saved arrays by name (in_q, out_0, ..): `module` is a path."""
    folder = os.path.splitext(module)[0] + ".arrays"
    os.makedirs(folder, exist_ok=True)
    options = [module, "--save", folder, *args]
    if verify:
        options.append("--verify")
    for name, array in (inputs or {}).items():
        path = os.path.join(folder, f"given_{name}.npy")
        np.save(path, array)
        options.append(f"--input={name}={path}")
    done = call(*options)
    assert done.returncode == 0, f"{options}\n{done.stdout}\n{done.stderr}"
    # The folder keeps arrays of earlier calls: take what this one wrote.
    return {
        f[:-4]: np.load(os.path.join(folder, f))
        for f in os.listdir(folder)
        if f.startswith(("in_", "out_", "oracle_"))
    }


def offsets(values):
    return "--seqlens=" + ",".join(map(str, values))


def same_bits(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def relative_rms(got, want):
    got, want = np.asarray(got, np.float64), np.asarray(want, np.float64)
    return np.sqrt(np.square(got - want).mean() / np.square(want).mean())
