# tile.mma in every form of its operands, and loads and stores of tiles at odd
# bounds, in the simulator against numpy in double precision.
#
# REQUIRES: numpy, linattn-compile, linattn-sim
# RUN: %python %s linattn-compile linattn-sim %t

import itertools
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
from tiles import *

FREE = "strided<[?, 1]>"


def kernel(kind, M, N, K, warps, a, b, terms, align):
    """C = C0 + A B; `a` is reg, smem or transposed (then memory holds A^T), `b`
    plain or transposed."""
    size = 2 if kind != "f32" else 4
    aRows, aCols = (K, M) if a == "transposed" else (M, K)
    bRows, bCols = (N, K) if b == "transposed" else (K, N)
    sa, sb = smem(aRows, aCols, kind), smem(bRows, bCols, kind)
    sc = f"!tile.smem<{M}x{N}xf32, swizzle = {swizzle_of(N * 4)}>"
    round_up = lambda x: (x + 1023) // 1024 * 1024
    offB = round_up(aRows * aCols * size)
    offC = offB + round_up(bRows * bCols * size)
    acc = f"tensor<{M}x{N}xf32, #tile.acc<warps = {warps}>>"
    frag = f"tensor<{M}x{K}x{kind}, #tile.acc<warps = {warps}>>"
    channel = f"!tile.channel<1, !tile.smem<{sa}>>"
    body = f"""
%ch = tile.channel.create {{offset = 0 : i64}} : {channel}
%sa = tile.channel.acquire %ch[%c0] : {channel} -> !tile.smem<{sa}>
%sb = tile.alloc {{offset = {offB} : i64}} : !tile.smem<{sb}>
%sc = tile.alloc {{offset = {offC} : i64}} : {sc}
tile.load_async %a[%c0, %c0] dims = [0, 1] bounds(%ra, %ca) align = {align} into %sa : memref<?x?x{kind}, {FREE}>, !tile.smem<{sa}>
tile.load_async %b[%c0, %c0] dims = [0, 1] bounds(%rb, %cb) align = {align} into %sb : memref<?x?x{kind}, {FREE}>, !tile.smem<{sb}>
tile.channel.commit %ch[%c0] : {channel}
%c = tile.load %c_in[%c0, %c0] dims = [0, 1] bounds(%rc, %cc) : memref<?x?xf32, {FREE}> -> {acc}
%sw = tile.channel.wait %ch[%c0] : {channel} -> !tile.smem<{sa}>
tile.barrier
"""
    bType = f"!tile.smem<{sb}>"
    B = "%sb"
    if b == "transposed":
        bType = f"!tile.smem<{smem(K, N, kind).split(',')[0]}{suffix(sb)}, transposed>"
        body += f"%bt = tile.smem_view %sb transposed : !tile.smem<{sb}> -> {bType}\n"
        B = "%bt"
    aType, A = f"!tile.smem<{sa}>", "%sw"
    if a != "smem":
        if a.endswith("transposed"):
            aType = f"!tile.smem<{M}x{K}x{kind}{suffix(sa)}, transposed>"
            body += f"%at = tile.smem_view %sw transposed : !tile.smem<{sa}> -> {aType}\n"
            A = "%at"
    if a == "reg":
        body += f"%ar = tile.local_load {A} : {aType} -> {frag}\n"
        A, aType = "%ar", frag
    body += f"""
%d = tile.mma {A}, {B}, %c terms = {terms} : {aType}, {bType}, {acc}
tile.store %d, %out[%c0, %c0] dims = [0, 1] bounds(%rc, %cc) : {acc}, memref<?x?xf32, {FREE}>
tile.local_store %d, %sc : {acc}, {sc}
tile.barrier
tile.store %sc, %out2[%c0, %c0] dims = [0, 1] bounds(%rc, %cc) align = {max(align // 4, 4)} : {sc}, memref<?x?xf32, {FREE}>
"""
    names = ["a", "b", "c_in", "out", "out2"]
    kinds = [kind, kind, "f32", "f32", "f32"]
    arguments = ", ".join(
        f"%{n}: memref<?x?x{k}, {FREE}>" for n, k in zip(names, kinds)
    )
    arguments += "".join(f", %{n}: index" for n in ("ra", "ca", "rb", "cb", "rc", "cc"))
    return module(arguments, body, warps), offC + M * N * 4


def suffix(s):
    return ", " + s.split(", ")[1] if ", " in s else ""


def check(kind, M, N, K, warps, a, b, terms=1, valid=None, align=16, pad=0, chip="sm_90a"):
    m, n, k = valid or (M, N, K)
    rng = np.random.default_rng(M + N + K)
    A, B, C = (rng.standard_normal(s) for s in ((m, k), (k, n), (m, n)))
    A, B = rounded(A, kind), rounded(B, kind)
    A = A.T if a == "transposed" else A
    B = B.T if b == "transposed" else B
    text, shared = kernel(kind, M, N, K, warps, a, b, terms, align)
    arrays = [Array(kind, A, pad=pad), Array(kind, B, pad=pad), Array("f32", C, pad=pad)]
    arrays += [Array("f32", shape=(m, n), pad=pad) for _ in range(2)]
    sizes = [*A.shape, *B.shape, m, n]
    got, staged = run(text, arrays + sizes, warps, shared, chip=chip)
    A = A.T if a == "transposed" else A
    B = B.T if b == "transposed" else B
    error = relative_rms(got, rounded(C, "f32") + A @ B)
    # tf32 rounds operands to 11 bits; three products of it lose 2^-22.
    limit = 1e-3 if kind == "f32" and terms == 1 else 1e-6
    print(kind, (M, N, K), warps, a, b, terms, valid, f"{error:.1e}")
    assert error < limit
    assert got.tobytes() == staged.tobytes()


for a, b in itertools.product(("reg", "smem", "transposed"), ("plain", "transposed")):
    check("bf16", 64, 64, 64, 4, a, b)
    check("f32", 32, 40, 32, 2, a, b, terms=3)
check("f16", 64, 40, 48, 2, "reg", "transposed")
check("f16", 64, 24, 80, 2, "transposed", "plain")
check("f32", 64, 32, 64, 4, "smem", "transposed", terms=1)
# More warps than row tiles; several row tiles a warp.
check("bf16", 32, 64, 64, 4, "smem", "plain")
check("bf16", 128, 32, 32, 4, "transposed", "transposed")
check("bf16", 128, 64, 64, 8, "reg", "plain", chip="sm_80")
# Rows of other lengths than tiles, and a last piece of a row that is partly there.
check("bf16", 64, 64, 64, 4, "smem", "transposed", valid=(37, 51, 61), pad=3, align=4)
check("f32", 64, 64, 64, 4, "reg", "plain", terms=3, valid=(1, 63, 33), pad=3, align=8)
check("f16", 64, 64, 64, 1, "transposed", "plain", valid=(64, 6, 7), pad=2, align=4)
