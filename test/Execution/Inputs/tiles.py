"""Compiles kernels on tiles from text and runs them in the simulator."""

import json
import os
import subprocess
import sys

import numpy as np

COMPILE, SIM, WORK = sys.argv[1:4]
TYPES = {"f32": np.float32, "i32": np.int32, "i64": np.int64}


# ------------------------------------------------------------- 16-bit floats
def to_bf16(x):
    """Rounds f32 to nearest even; the bits as u16."""
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def from_bf16(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


def encode(x, kind):
    if kind == "bf16":
        return to_bf16(x)
    if kind == "f16":
        return np.ascontiguousarray(x, np.float16).view(np.uint16)
    return np.ascontiguousarray(x, TYPES[kind])


def decode(x, kind):
    if kind == "bf16":
        return from_bf16(x)
    return x.view(np.float16).astype(np.float32) if kind == "f16" else x


def rounded(x, kind):
    """x as a kernel sees it."""
    return decode(encode(x, kind), kind).astype(np.float64)


# ------------------------------------------------------------------- kernels
class Array:
    """A global tensor: its values, or None and the shape of a result. `pad`
    columns after each row belong to the array and must stay as they are."""

    def __init__(self, kind, values=None, shape=None, pad=0, strides=1):
        self.kind, self.pad, self.strides = kind, pad, strides
        self.values = values
        self.shape = tuple(np.shape(values) if shape is None else shape)
        self.is_output = values is None

    def stored(self):
        shape = self.shape[:-1] + (self.shape[-1] + self.pad,)
        full = np.full(shape, np.nan if self.kind[0] != "i" else 7)
        if not self.is_output:
            full[..., : self.shape[-1]] = self.values
        return encode(full, self.kind)


count = 0


def compile_ptx(text, chip="sm_90a"):
    """The path of the PTX of the gpu.module @k."""
    global count
    count += 1
    folder = os.path.join(WORK, str(count))
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "k.mlir")
    with open(path, "w") as f:
        f.write(text)
    command = [COMPILE, path, "--target=" + chip, "-o", folder, "--no-cubin"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=250)
    assert done.returncode == 0, f"{path}\n{done.stdout}\n{done.stderr}"
    return os.path.join(folder, "k.ptx")


def launch(ptx, arguments, warps, shared, grid=(1, 1, 1)):
    """Runs a kernel whose arguments are arrays (each followed by its row
    strides) and integers; the results in order. What lies behind a row must not
    have changed."""
    folder = os.path.dirname(ptx)
    buffers, values, outputs = [], [], []
    for number, argument in enumerate(arguments):
        if not isinstance(argument, Array):
            values.append({"type": "s64", "value": int(argument)})
            continue
        name = f"a{number}"
        stored = argument.stored()
        np.save(os.path.join(folder, name + ".npy"), stored)
        kind = "u16" if stored.dtype == np.uint16 else argument.kind
        kind = {"i32": "s32", "i64": "s64"}.get(kind, kind)
        buffers.append(
            {"name": name, "type": kind, "shape": list(stored.shape), "init": "npy"}
            | {"file": name + ".npy", "output": argument.is_output}
        )
        values.append({"buffer": name})
        stride = stored.size
        for size in stored.shape[: argument.strides]:
            stride //= size
            values.append({"type": "s64", "value": stride})
        if argument.is_output:
            outputs.append((name, argument, stored))
    config = {"kernel": "k", "grid": list(grid), "block": 32 * warps}
    config |= {"dynamic_shared": shared, "buffers": buffers, "args": values}
    path = os.path.join(folder, "launch.json")
    with open(path, "w") as f:
        json.dump(config, f)
    done = subprocess.run(
        [SIM, ptx, path, "--save", folder], capture_output=True, text=True, timeout=500
    )
    assert done.returncode == 0, f"{ptx}\n{done.stdout}\n{done.stderr}"
    results = []
    for name, argument, before in outputs:
        after = np.load(os.path.join(folder, name + ".npy")).reshape(before.shape)
        width = argument.shape[-1]
        assert (after[..., width:].tobytes() == before[..., width:].tobytes()), name
        results.append(decode(np.ascontiguousarray(after[..., :width]), argument.kind))
    return results


def run(text, arguments, warps, shared, grid=(1, 1, 1), chip="sm_90a"):
    return launch(compile_ptx(text, chip), arguments, warps, shared, grid)


def module(arguments, body, warps):
    """A kernel of straight code around `body`."""
    constants = "".join(
        f"      %c{n} = arith.constant {n} : index\n" for n in (0, 1, 2, 4, 8)
    )
    return (
        f"gpu.module @k {{\n  gpu.func @k({arguments}) kernel "
        f"attributes {{tile.warps = {warps} : i64}} {{\n"
        + constants
        + "".join("      " + line.strip() + "\n" for line in body.strip().split("\n"))
        + "      gpu.return\n  }\n}\n"
    )


def swizzle_of(row_bytes):
    return next((s for s in (128, 64, 32) if row_bytes % s == 0), 0)


def smem(rows, columns, kind):
    size = 2 if kind in ("bf16", "f16") else 4
    swizzle = swizzle_of(columns * size)
    suffix = f", swizzle = {swizzle}" if swizzle else ""
    return f"{rows}x{columns}x{kind}{suffix}"


def relative_rms(got, want):
    got, want = np.asarray(got, np.float64), np.asarray(want, np.float64)
    return np.sqrt(np.square(got - want).mean() / np.square(want).mean())
