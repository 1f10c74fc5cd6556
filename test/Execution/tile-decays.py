# Products of rows with decays between them, and running sums down the rows, of
# tile kernels, in the simulator against numpy in double precision.
#
# REQUIRES: numpy, linattn-compile, linattn-sim
# RUN: %python %s linattn-compile linattn-sim %t

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
from tiles import *

MATRIX = "memref<?x?xf32, strided<[?, 1]>>"
rng = np.random.default_rng(2)


def swizzle(columns, element):
    row = columns * (4 if element == "f32" else 2)
    return {128: ", swizzle = 128", 64: ", swizzle = 64", 32: ", swizzle = 32"}.get(
        min(row, 128), ""
    )


# --------------------------------------------------------------- running sums
def scan_rows(M, N, warps, flags):
    acc = f"tensor<{M}x{N}xf32, #tile.acc<warps = {warps}>>"
    tiles = M // 16
    scratch = f"!tile.smem<{tiles}x{N}xf32>"
    alloc = f"%s = tile.alloc {{offset = 0 : i64}} : {scratch}" if tiles > 1 else ""
    use = f"scratch(%s : {scratch})" if tiles > 1 else ""
    body = f"""
{alloc}
%x = tile.load %in[%c0, %c0] dims = [0, 1] : {MATRIX} -> {acc}
%y = tile.scan_rows %x {flags} {use} : {acc}
tile.store %y, %out[%c0, %c0] dims = [0, 1] : {acc}, {MATRIX}
"""
    x = rounded(rng.standard_normal((M, N)), "f32")
    arrays = [Array("f32", x), Array("f32", shape=(M, N))]
    text = module(f"%in: {MATRIX}, %out: {MATRIX}", body, warps)
    (got,) = run(text, arrays, warps, tiles * N * 4)
    want = np.cumsum(x[::-1], 0)[::-1] if "reverse" in flags else np.cumsum(x, 0)
    want = want - x if "exclusive" in flags else want
    assert np.abs(got - want).max() < 1e-5, (M, N, warps, flags)


for M, N, warps in ((16, 16, 1), (64, 24, 4), (64, 16, 2), (32, 16, 4), (128, 8, 4)):
    for flags in ("", "exclusive", "reverse", "exclusive reverse"):
        scan_rows(M, N, warps, flags)


# ------------------------------------------------------------------- products
def decay_mma(C, K, element, positions, y_position, inclusive, gates, warps=None):
    warps = warps or C // 16
    acc = f"tensor<{C}x{K}xf32, #tile.acc<warps = {warps}>>"
    half = acc.replace("f32", element)
    square = f"tensor<{C}x{C}xf32, #tile.acc<warps = {warps}>>"
    operand = f"!tile.smem<{C}x{K}x{element}{swizzle(K, element)}>"
    decays = f"!tile.smem<{C}x{K}xf32{swizzle(K, 'f32')}>"
    lane = (32 if element == "f32" else 16) + 32
    sizes = [C * K * 4] * 6 + [2 * (C // 16) * 32 * lane, max(K * 4, 1024)]
    at = [sum(sizes[:i]) // 1024 * 1024 for i in range(len(sizes) + 1)]
    at = [sum((s + 1023) // 1024 * 1024 for s in sizes[:i]) for i in range(len(sizes) + 1)]

    def alloc(name, number, kind):
        return f"%{name} = tile.alloc {{offset = {at[number]} : i64}} : {kind}"

    def fill(name):
        if element == "f32":
            return f"""
%{name}f = tile.load %{name}In[%c0, %c0] dims = [0, 1] : {MATRIX} -> {acc}
tile.local_store %{name}f, %{name} : {acc}, {operand}"""
        return f"""
%{name}f = tile.load %{name}In[%c0, %c0] dims = [0, 1] : {MATRIX} -> {acc}
%{name}h = arith.truncf %{name}f : {acc} to {half}
tile.local_store %{name}h, %{name} : {half}, {operand}"""

    flags = "[" + ", ".join(str(i).lower() for i in inclusive) + "]"
    results = ["%tx", "%ty"]
    body = "\n".join(
        [
            alloc("x", 0, operand), alloc("z", 1, operand), alloc("y", 2, operand),
            alloc("g", 3, decays), alloc("tx", 4, operand), alloc("ty", 5, operand),
            alloc("s", 6, f"!tile.smem<{sizes[6]}xi8>"), alloc("sums", 7, f"!tile.smem<{K}xf32>"),
            fill("x"), fill("z"), fill("y"),
            f"%gf = tile.load %gIn[%c0, %c0] dims = [0, 1] : {MATRIX} -> {acc}",
            f"tile.local_store %gf, %g : {acc}, {decays}",
            "tile.barrier",
            f"""%p, %q = tile.decay_mma (%x, %z), %y decay(%g) scratch(%s)
  x_positions = {positions} y_position = {y_position} inclusive = {flags}
  targets [1, 2] (%tx, %ty : {operand}, {operand}) sums(%sums : !tile.smem<{K}xf32>)
  in {element} : ({operand}, {operand}), {operand}, {decays}, !tile.smem<{sizes[6]}xi8>
  -> {square}, {square}""",
            "tile.barrier",
            f"tile.store %p, %pOut[%c0, %c0] dims = [0, 1] : {square}, {MATRIX}",
            f"tile.store %q, %qOut[%c0, %c0] dims = [0, 1] : {square}, {MATRIX}",
        ]
        + [
            f"""%v{i} = tile.local_load {t} : {operand} -> {half}
%w{i} = {f'arith.extf %v{i} : {half} to {acc}' if element != 'f32' else f'arith.negf %v{i} : {acc}'}
tile.store %w{i}, %{n}[%c0, %c0] dims = [0, 1] : {acc}, {MATRIX}"""
            for i, (t, n) in enumerate(zip(results, ("txOut", "tyOut")))
        ]
        + [
            f"""%sv = tile.local_load %sums : !tile.smem<{K}xf32> -> tensor<{K}xf32, #tile.col>
tile.store %sv, %sOut[%c0] dims = [0] : tensor<{K}xf32, #tile.col>, memref<?xf32, strided<[1]>>"""
        ]
    )  # fmt: skip
    x, z, y = (rounded(rng.standard_normal((C, K)), element) for _ in range(3))
    g = rounded(gates((C, K)), "f32")
    names = ["xIn", "zIn", "yIn", "gIn", "pOut", "qOut", "txOut", "tyOut"]
    arguments = ", ".join(f"%{n}: {MATRIX}" for n in names)
    arguments += ", %sOut: memref<?xf32, strided<[1]>>"
    arrays = [Array("f32", a) for a in (x, z, y, g)]
    arrays += [Array("f32", shape=(C, C)) for _ in range(2)]
    arrays += [Array("f32", shape=(C, K)) for _ in range(2)]
    arrays += [Array("f32", shape=(K,), strides=0)]
    got = run(module(arguments, body, warps), arrays, warps, at[-1])
    sign = -1 if element == "f32" else 1

    # In double precision, pair by pair.
    g = np.maximum(g, -1e4)
    # Two roundings a term, of as many terms as there are; four deviations.
    limit = {"f32": 1e-5, "f16": 1.5e-3, "bf16": 1e-2}[element]
    for n, rows in enumerate((x, z)):
        want = np.zeros((C, C))
        size = np.zeros((C, C))
        for i in range(C):
            for j in range(i + inclusive[n]):
                first, last = j + y_position, i + positions[n]
                factor = np.exp(g[first:last].sum(0))
                want[i, j] = (rows[i] * y[j] * factor).sum()
                size[i, j] = np.sqrt(((rows[i] * y[j] * factor) ** 2).sum())
        assert not np.any(got[n][size == 0]), (C, K, element, n)
        # What is less than the least normal number loses bits, and is 0 at last.
        least = 1e-3 if element == "f16" else 1e-35
        error = np.abs(got[n] - want) / np.maximum(size, least)
        assert error.max() < limit, (C, K, element, positions, y_position, n, error.max())
    start = z * np.exp(np.cumsum(g, 0) - (g if positions[1] == 0 else 0))
    end = np.cumsum(g[::-1], 0)[::-1] - (g if y_position == 1 else 0)
    for have, want in ((got[2], start), (got[3], y * np.exp(end))):
        assert np.allclose(sign * have, want, rtol=limit, atol=1e-7 if element == 'f16' else 1e-37), (C, K, element)
    assert np.allclose(got[4], g.sum(0), rtol=1e-5), (C, K, element)


def usual(shape):
    return -np.log1p(np.exp(-rng.standard_normal(shape)))


def extreme(shape):
    """From no decay to all of it, next to each other."""
    return rng.choice([0.0, -1e-3, -8.0, -80.0, -1000.0, -np.inf], shape)


BOTH = [1, 1], 1, [False, True]
decay_mma(16, 16, "bf16", *BOTH, usual)
decay_mma(16, 32, "bf16", *BOTH, extreme, warps=4)
decay_mma(32, 64, "bf16", [0, 1], 1, [False, False], usual)
decay_mma(64, 32, "bf16", *BOTH, extreme)
decay_mma(64, 64, "bf16", [1, 0], 0, [True, True], usual)
decay_mma(64, 128, "f16", *BOTH, usual)
decay_mma(64, 32, "f32", *BOTH, extreme)
decay_mma(32, 32, "f32", [1, 1], 0, [True, False], usual)
decay_mma(128, 16, "bf16", *BOTH, extreme)
