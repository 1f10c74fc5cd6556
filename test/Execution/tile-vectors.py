# Vectors in the lanes of a warp, reductions and the triangular inverse of tile
# kernels, in the simulator against numpy in double precision.
#
# REQUIRES: numpy, linattn-compile, linattn-sim
# RUN: %python %s linattn-compile linattn-sim %t

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
from tiles import *

VECTOR = "memref<?xf32, strided<[1]>>"
MATRIX = "memref<?x?xf32, strided<[?, 1]>>"


# ------------------------------------------------------- running sums, convert
def scan(n, vec, x, exclusive=False):
    """Differences sum_i - sum_j in two floats, the ends through convert."""
    lanes = f"tensor<{n}xf32, #tile.strided<vec = {vec}>>"
    body = f"""
%x = tile.load %in[%c0] dims = [0] : {VECTOR} -> {lanes}
%hi, %lo = tile.scan %x {'exclusive' if exclusive else ''} : {lanes}
tile.store %hi, %hiOut[%c0] dims = [0] : {lanes}, {VECTOR}
tile.store %lo, %loOut[%c0] dims = [0] : {lanes}, {VECTOR}
"""
    arguments = ", ".join(f"%{a}: {VECTOR}" for a in ("in", "hiOut", "loOut"))
    arrays = [Array("f32", x, strides=0)]
    arrays += [Array("f32", shape=(n,), strides=0) for _ in range(2)]
    hi, lo = run(module(arguments, body, 2), arrays, 2, 0)
    return hi.astype(np.float64) + lo


rng = np.random.default_rng(1)
for n, vec in ((64, 2), (64, 1), (16, 4), (256, 2), (32, 1), (128, 8)):
    x = rounded(-np.exp(3 * rng.standard_normal(n)), "f32")
    for exclusive in (False, True):
        want = np.cumsum(x) - (x if exclusive else 0)
        got = scan(n, vec, x, exclusive)
        assert np.abs(got - want).max() < 1e-12 * np.abs(want).max(), (n, vec)
# Case H3: differences of small gates behind sums of 1e9.
x = rounded(np.repeat([-1e7, -1e-3], 128), "f32")
sums = scan(256, 2, x)
assert np.abs((sums[255] - sums[127:]) - (x[255] * np.arange(128, -1, -1))).max() < 1e-6


def converted(n, vec, warps, offset):
    """A vector by way of row and col into matrices, and elements of it."""
    lanes = f"tensor<{n}xf32, #tile.strided<vec = {vec}>>"
    row = f"tensor<{n}xf32, #tile.row<warps = {warps}>>"
    acc = f"tensor<{n}x{n}xf32, #tile.acc<warps = {warps}>>"
    body = f"""
%x = tile.load %in[%c0] dims = [0] : {VECTOR} -> {lanes}
%r = tile.convert %x : {lanes} -> {row}
%c = tile.convert %x : {lanes} -> tensor<{n}xf32, #tile.col>
%rows = tile.splat_row %r : {row} -> {acc}
%cols = tile.splat_col %c : tensor<{n}xf32, #tile.col> -> {acc}
%i = tile.iota axis = 0 : tensor<{n}x{n}xi32, #tile.acc<warps = {warps}>>
%j = tile.iota axis = 1 : tensor<{n}x{n}xi32, #tile.acc<warps = {warps}>>
%below = arith.cmpi sgt, %i, %j : tensor<{n}x{n}xi32, #tile.acc<warps = {warps}>>
%d = arith.subf %rows, %cols : {acc}
%one = tensor.extract %x[%at] : {lanes}
%two = tensor.extract %c[%c2] : tensor<{n}xf32, #tile.col>
%sum = arith.addf %one, %two : f32
%sums = tensor.splat %sum : {acc}
%y = arith.select %below, %d, %sums : tensor<{n}x{n}xi1, #tile.acc<warps = {warps}>>, {acc}
tile.store %y, %out[%c0, %c0] dims = [0, 1] : {acc}, {MATRIX}
%back = tile.convert %c : tensor<{n}xf32, #tile.col> -> {lanes}
tile.store %back, %same[%c0] dims = [0] : {lanes}, {VECTOR}
"""
    x = rounded(rng.standard_normal(n), "f32")
    arguments = f"%in: {VECTOR}, %out: {MATRIX}, %same: {VECTOR}, %at: index"
    arrays = [Array("f32", x, strides=0), Array("f32", shape=(n, n))]
    arrays += [Array("f32", shape=(n,), strides=0), offset]
    got, same = run(module(arguments, body, warps), arrays, warps, 0)
    below = np.tril(np.ones((n, n)), -1) > 0
    want = np.where(below, x[:, None] - x[None, :], x[offset] + x[2])
    assert np.array_equal(got, want.astype(np.float32)), (n, vec, warps)
    assert np.array_equal(same, x.astype(np.float32))


converted(64, 2, 4, 37)
converted(64, 1, 4, 63)
converted(32, 4, 4, 0)
converted(128, 2, 2, 100)
converted(16, 1, 1, 5)


# ------------------------------------------------------------------ reductions
def reduced(M, N, warps, kind):
    acc = f"tensor<{M}x{N}xf32, #tile.acc<warps = {warps}>>"
    row = f"tensor<{M}xf32, #tile.row<warps = {warps}>>"
    col = f"tensor<{N}xf32, #tile.col>"
    parts = min(warps, M // 16)
    scratch, use = "", ""
    if parts > 1:
        scratch = f"%s = tile.alloc {{offset = 0 : i64}} : !tile.smem<{parts}x{N}xf32>"
        use = f"scratch(%s : !tile.smem<{parts}x{N}xf32>)"
    body = f"""
{scratch}
%x = tile.load %in[%c0, %c0] dims = [0, 1] : {MATRIX} -> {acc}
%r = tile.reduce {kind} %x axis = 1 : {acc} -> {row}
%c = tile.reduce {kind} %x axis = 0 {use} : {acc} -> {col}
tile.store %r, %rows[%c0] dims = [0] : {row}, {VECTOR}
tile.store %c, %cols[%c0] dims = [0] : {col}, {VECTOR}
"""
    x = rounded(1 + 0.1 * rng.standard_normal((M, N)), "f32")
    if kind == "max":
        x[3, 5] = np.nan
    arguments = f"%in: {MATRIX}, %rows: {VECTOR}, %cols: {VECTOR}"
    arrays = [Array("f32", x), Array("f32", shape=(M,), strides=0)]
    arrays += [Array("f32", shape=(N,), strides=0)]
    rows, cols = run(module(arguments, body, warps), arrays, warps, parts * N * 4)
    f = {"add": np.sum, "max": np.max, "min": np.min, "mul": np.prod}[kind]
    assert np.allclose(rows, f(x, 1), rtol=1e-5, equal_nan=True), (M, N, warps, kind)
    assert np.allclose(cols, f(x, 0), rtol=1e-5, equal_nan=True), (M, N, warps, kind)


reduced(64, 40, 4, "add")
reduced(32, 16, 4, "max")
reduced(64, 8, 1, "min")
reduced(64, 32, 2, "mul")


# ------------------------------------------------------------------- systems
def solved(n, size, warps, terms):
    """A system of `size` tokens for each of n rows, token after token."""
    acc = f"tensor<{n}x{size}xf32, #tile.acc<warps = {warps}>>"
    swizzle = min(128, size * 4)
    smem = f"!tile.smem<{size}x{size}xf32, swizzle = {swizzle}>"
    square = f"tensor<{size}x{size}xf32, #tile.acc<warps = {warps}>>"
    body, arena = "", 0
    for m in range(terms):
        body += f"""
%s{m} = tile.alloc {{offset = {arena} : i64}} : {smem}
%a{m} = tile.load %A{m}[%c0, %c0] dims = [0, 1] : {MATRIX} -> {square}
tile.local_store %a{m}, %s{m} : {square}, {smem}
%r{m} = tile.load %R{m}[%c0, %c0] dims = [0, 1] : {MATRIX} -> {acc}
"""
        arena += size * size * 4
    names = lambda letter: ", ".join(f"%{letter}{m}" for m in range(terms))
    types = lambda type: ", ".join([type] * terms)
    body += f"""
tile.barrier
%x = tile.load %in[%c0, %c0] dims = [0, 1] : {MATRIX} -> {acc}
%u = tile.unit_lower_solve %x rates({names("r")} : {types(acc)})
    matrices({names("s")} : {types(smem)}) : {acc}
tile.store %u, %out[%c0, %c0] dims = [0, 1] : {acc}, {MATRIX}
"""
    A = [np.tril(rng.standard_normal((size, size)) / size**0.5, -1) for _ in range(terms)]
    R = [rng.standard_normal((n, size)) for _ in range(terms)]
    x = rng.standard_normal((n, size))
    # What is not read is not a number.
    below = np.tril(np.ones((size, size)), -1) > 0
    arrays = [Array("f32", np.where(below, a, np.nan)) for a in A]
    arrays += [Array("f32", r) for r in R]
    arrays += [Array("f32", x), Array("f32", shape=(n, size))]
    arguments = [f"%A{m}: {MATRIX}" for m in range(terms)]
    arguments += [f"%R{m}: {MATRIX}" for m in range(terms)]
    arguments += [f"%in: {MATRIX}", f"%out: {MATRIX}"]
    (got,) = run(module(", ".join(arguments), body, warps), arrays, warps, arena)
    want = rounded(x, "f32")
    for t in range(size):
        for a, r in zip(A, R):
            sums = want[:, :t] @ rounded(a, "f32")[t, :t]
            want[:, t] += rounded(r, "f32")[:, t] * sums
    error = np.abs(got - want).max() / np.abs(want).max()
    print("solve", n, size, warps, terms, f"{error:.1e}")
    assert error < 1e-5, (n, size, warps, terms, error)


solved(16, 16, 1, 1)
solved(64, 64, 4, 1)
solved(64, 32, 2, 2)
solved(32, 32, 4, 1)


# ------------------------------------------------------------------ inverses
def inverse(n, warps, A, chip="sm_90a"):
    acc = f"tensor<{n}x{n}xf32, #tile.acc<warps = {warps}>>"
    pad, tiles = 16, n // 16
    slot = max(32 * ((n - 16) * 2 + pad), 16 * (64 + pad))
    size = max(tiles, warps) * (slot + (32 * (32 + pad) if tiles > 1 else 0))
    body = f"""
%s = tile.alloc {{offset = 0 : i64}} : !tile.smem<{size}xi8>
%x = tile.load %in[%c0, %c0] dims = [0, 1] : {MATRIX} -> {acc}
%t = tile.unit_lower_inverse %x scratch(%s) : {acc}, !tile.smem<{size}xi8>
tile.store %t, %out[%c0, %c0] dims = [0, 1] : {acc}, {MATRIX}
"""
    # What is not read is not a number.
    given = np.where(np.tril(np.ones((n, n)), -1) > 0, A, np.nan)
    arrays = [Array("f32", given), Array("f32", shape=(n, n))]
    text = module(f"%in: {MATRIX}, %out: {MATRIX}", body, warps)
    (got,) = run(text, arrays, warps, size, chip=chip)
    A = np.tril(rounded(np.nan_to_num(given), "f32"), -1)
    want = np.linalg.inv(np.eye(n) - A)
    error = np.abs(got - want).max() / np.abs(want).max()
    print("inverse", n, warps, f"{error:.1e}")
    assert error < 1e-5 and not np.triu(got, 1).any(), (n, warps, error)
    return got


for n, warps in ((16, 1), (16, 4), (32, 2), (64, 4), (64, 2), (64, 1), (128, 4)):
    keys = rng.standard_normal((n, 32)) / 32**0.5
    inverse(n, warps, -np.tril(keys @ keys.T, -1))
inverse(128, 8, -np.tril(0.3 * rng.standard_normal((128, 128)) / 8, -1), "sm_80")
inverse(64, 8, -np.tril(0.3 * rng.standard_normal((64, 64)) / 8, -1))
# Case H5: one key again and again, at rate 1 and 2, where powers of A overflow.
for rate in (1, 2):
    inverse(64, 4, -rate * np.tril(np.ones((64, 64)), -1))
