# Decoding of recurrences on the simulator, against the fp64 loop: states in a pool
# in f32, bf16 and f16, in place; V that no thread's columns divide, rows of the
# pool with gaps, pools that begin at an odd element, packed sequences, no tokens at
# all, more than are computed ahead at once, snapshots after every and after every
# third token, slots without a sequence, gates after which nothing is left.
# Twice the same bits, and states that no slot names keep theirs.
# REQUIRES: numpy
# RUN: %python %s linattn-compile %t
import pathlib
import subprocess
import sys

import numpy as np
from linattn import reference, runtime

tool, folder = sys.argv[1], pathlib.Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)
KEY_HEADS, HEADS, PADDING = 1, 2, -3
# Relative RMS: one rounding of the state at the end of a call.
LIMIT = {"f32": 1e-6, "bf16": 3e-3, "f16": 4e-4}


def module(K, V, stored, vector_gate, packed, snapshots):
    n = "?x" if packed else "?x?x"
    gate = f"vector<{K}xf32>" if vector_gate else "f32"
    kinds = {
        "q": f"tensor<{n}{KEY_HEADS}x{K}xf16>",
        "k": f"tensor<{n}{KEY_HEADS}x{K}xf16>",
        "v": f"tensor<{n}{HEADS}x{V}xf16>",
        "g": f"tensor<{n}{HEADS}x{K}xf32>" if vector_gate else f"tensor<{n}{HEADS}xf32>",
        "beta": f"tensor<{n}{HEADS}xf32>",
    }
    tokens = ", ".join(f"%{name} : {kind}" for name, kind in kinds.items())
    states = f"{HEADS}x{K}x{V}x{stored}>"
    kinds["pool"], kinds["slots"] = f"tensor<?x{states}", "tensor<?xi32>"
    out = f"tensor<{n}{HEADS}x{V}xf32>"
    results = [out, kinds["pool"]]
    sequences = f"slots(%slots : tensor<?xi32>, padding = {PADDING})"
    if packed:
        kinds["cu"] = "tensor<?xi32>"
        sequences = "seqlens(%cu : tensor<?xi32>) " + sequences
    if snapshots:
        results.append(f"tensor<{'?x' if packed else '?x?x'}{states}")
        sequences += f" snapshots(every = {snapshots})"
    arguments = ", ".join(f'%{a}: {t} {{linattn.name = "{a}"}}' for a, t in kinds.items())
    types, state = ", ".join(results), f"!linattn.state<{K}x{V}x{stored}>"
    key, value = f"vector<{K}xf16>", f"vector<{V}xf16>"
    return f"""func.func @step({arguments}) -> ({types}) {{
  %r:{len(results)} = linattn.recurrence tokens({tokens}) state(%pool : {kinds["pool"]})
      {sequences} -> ({types}) {{
  ^step(%qt: {key}, %kt: {key}, %vt: {value}, %gt: {gate}, %bt: f32, %s: {state}):
    %s1 = linattn.decay %s, %gt : {state}, {gate}
    %s2 = linattn.delta_update %s1, %kt, %vt, %bt : {state}, {key}, {value}, f32
    %ot = linattn.read %s2, %qt scale {K**-0.5} : {state}, {key}
    linattn.yield %ot, %s2 : vector<{V}xf32>, {state}
  }}
  return {", ".join(f"%r#{i}" for i in range(len(results)))} : {types}
}}
"""


def to_stored(x, stored):
    if stored == "bf16":
        return runtime.to_bf16_bits(x.astype(np.float32))
    return x.astype({"f32": np.float32, "f16": np.float16}[stored])


def from_stored(x):
    return runtime.from_bf16_bits(x) if x.dtype == np.uint16 else x


def placed(values, place):
    """The pool as it lies in memory: dense, behind one element, or with gaps."""
    if place == "dense":
        return values.copy()
    if place == "behind":
        memory = np.zeros(values.size + 1, values.dtype)
        view = memory[1:].reshape(values.shape)
    else:
        view = np.zeros((*values.shape[:-1], values.shape[-1] + 3), values.dtype)
        view = view[..., : values.shape[-1]]
    view[...] = values
    return view


def relative(got, want):
    return np.linalg.norm(got - want) / max(np.linalg.norm(want), 1e-30)


def check(
    number, K, V, stored, T, slots, vector_gate=False, snapshots=0, place="dense", gate=0.5
):
    """`T` is a number of tokens, or those of each sequence, packed."""
    packed = not isinstance(T, int)
    source, out = folder / f"{number}.mlir", folder / str(number)
    source.write_text(module(K, V, stored, vector_gate, packed, snapshots))
    command = [tool, str(source), "--target=sm_90a", "--no-cubin", "--lowering=serial"]
    subprocess.run([*command, "-o", str(out)], check=True, stdout=subprocess.DEVNULL)
    function = runtime.load(str(out))["step"]

    rng = np.random.default_rng(number)
    n = (sum(T),) if packed else (len(slots), T)
    unit = rng.normal(size=(2, *n, KEY_HEADS, K))
    unit /= np.linalg.norm(unit, axis=-1, keepdims=True)
    q, k = unit.astype(np.float16)
    v = rng.normal(size=(*n, HEADS, V)).astype(np.float16)
    gates = (*n, HEADS, K) if vector_gate else (*n, HEADS)
    g = -rng.exponential(gate, size=gates).astype(np.float32)
    beta = rng.uniform(size=(*n, HEADS)).astype(np.float32)
    first = to_stored(rng.normal(size=(max(slots) + 2, HEADS, K, V)), stored)
    slots = np.array(slots, np.int32)
    options = dict(slots=slots, padding=PADDING)
    offsets = []
    if packed:
        offsets = [np.cumsum([0, *T]).astype(np.int32)]
        options["cu_seqlens"] = offsets[0]
    if snapshots:
        options["snapshots"] = snapshots
    operator = reference.kda if vector_gate else reference.gated_deltanet
    start = from_stored(first).astype(np.float64)
    wanted = operator(q, k, v, g, beta, start, **options)

    def call():
        pool = placed(first, place)
        got = function(q, k, v, g, beta, pool, slots, *offsets)
        got = [from_stored(np.asarray(x)) for x in got]
        assert (got[1] == from_stored(pool)).all(), number
        return got

    got, written = call(), np.ones(n, bool)
    written = reference.written_rows(
        len(slots), n[-1] if not packed else n[0], options.get("cu_seqlens"), slots, PADDING
    ).reshape(n)
    if written.any():
        error = relative(got[0][written], wanted[0][written])
        assert error <= 1e-6, (number, error)
    named = slots[slots != PADDING]
    error = relative(got[1][named].astype(np.float64), wanted[1][named])
    assert error <= LIMIT[stored], (number, error)
    others = np.setdiff1d(np.arange(len(first)), named)
    assert (got[1][others] == from_stored(first)[others]).all(), number
    if snapshots:
        # Of the sequences that exist; what else there is room for is not written.
        live = np.abs(wanted[2]).sum((-3, -2, -1)) != 0
        error = relative(got[2][live].astype(np.float64), wanted[2][live])
        assert error <= LIMIT[stored], (number, "snapshots", error)
    again = call()
    assert got[1].tobytes() == again[1].tobytes(), number
    assert got[0][written].tobytes() == again[0][written].tobytes(), number


CASES = [
    # Two columns a thread: whole lines of a row, as f32, bf16 and f16.
    dict(K=128, V=128, stored="f32", T=2, slots=[2, PADDING, 0]),
    dict(K=128, V=128, stored="bf16", T=4, slots=[1, 0], vector_gate=True),
    dict(K=64, V=64, stored="f16", T=8, slots=[3, 1], snapshots=3),
    # Tokens: none, one, many.
    dict(K=64, V=64, stored="bf16", T=0, slots=[1, 0]),
    dict(K=64, V=64, stored="bf16", T=1, slots=[1, 2]),
    dict(K=32, V=64, stored="bf16", T=8, slots=[0, 3], snapshots=1),
    # Tokens behind the first eight, and decays too strong to wait.
    dict(K=64, V=64, stored="bf16", T=17, slots=[1, 0]),
    dict(K=32, V=40, stored="f32", T=[9, 16, 0, 12], slots=[3, 1, 0, 2], gate=30),
    dict(K=48, V=32, stored="f32", T=11, slots=[0, PADDING], vector_gate=True, gate=4),
    dict(K=32, V=128, stored="f32", T=8, slots=[2, 1], gate=6),
    # V that is odd, and that no block's columns divide; K that no lanes divide.
    dict(K=64, V=65, stored="bf16", T=3, slots=[1, 0]),
    dict(K=60, V=70, stored="bf16", T=3, slots=[1, PADDING], vector_gate=True),
    dict(K=100, V=130, stored="f16", T=2, slots=[0], snapshots=1),
    dict(K=7, V=1, stored="f32", T=3, slots=[0, 2]),
    dict(K=200, V=33, stored="bf16", T=2, slots=[2, 0], snapshots=2),
    dict(K=256, V=64, stored="f32", T=2, slots=[1]),
    dict(K=20, V=6, stored="bf16", T=5, slots=[0, 1], vector_gate=True),
    # Pools where a thread's columns are not one piece.
    dict(K=64, V=64, stored="bf16", T=2, slots=[1, 0], place="behind"),
    dict(K=64, V=66, stored="f32", T=2, slots=[1, 0], place="gaps", snapshots=1),
    dict(K=60, V=64, stored="f16", T=2, slots=[0, PADDING], place="gaps"),
    # Packed: an empty sequence, one that has no state, uneven ones.
    dict(K=64, V=64, stored="bf16", T=[2, 0, 8, 1], slots=[3, 1, 0, PADDING]),
    dict(K=64, V=48, stored="f32", T=[1, 4, 0], slots=[0, 2, 1], snapshots=1, vector_gate=True),
    dict(K=32, V=34, stored="f16", T=[5, 3, 7], slots=[1, PADDING, 4], snapshots=3),
    dict(K=32, V=32, stored="bf16", T=[0, 0], slots=[1, 0]),
]
for number, case in enumerate(CASES):
    check(number, **case)
