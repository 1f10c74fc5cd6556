# Short convolutions as GPU kernels, on the simulator, against the definition: all
# widths and dtypes, with and without bias, activation and window, dense and packed
# (empty sequences, offsets that begin late and end early), no token at all, slices
# of wider arrays at addresses that 16 bytes divide and that they do not, windows
# with the channels inside, more sequences than a grid dimension has blocks. Twice
# the same bits; what no sequence has stays as it was.
# REQUIRES: numpy
# RUN: %python %s linattn-compile %t
import itertools
import pathlib
import subprocess
import sys

import numpy as np
from linattn import reference, runtime
from linattn.runtime.tensors import from_bf16_bits, to_bf16_bits

tool, folder = sys.argv[1], pathlib.Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)
NUMPY = {"f32": np.float32, "f16": np.float16, "i32": np.int32, "i64": np.int64}
LIMIT = {"f32": 1e-6, "f16": 5e-4, "bf16": 4e-3}
rng = np.random.default_rng(0)


def stored(values, dtype):
    return to_bf16_bits(values.astype(np.float32)) if dtype == "bf16" else values.astype(NUMPY[dtype])


def exact(values):
    return from_bf16_bits(values) if values.dtype == np.uint16 else values


def compile_conv(name, C, W, dtypes, bias, window, packed, activation):
    """`dtypes` of input, weight (and bias), window, offsets."""
    x, w = f"tensor<{'?x' if packed else '?x?x'}{C}x{dtypes[0]}>", f"tensor<{C}x{W}x{dtypes[1]}>"
    inputs, options, results = {"x": x, "w": w}, "", [x]
    if bias:
        inputs["bias"] = f"tensor<{C}x{dtypes[1]}>"
        options += f" bias(%bias : {inputs['bias']})"
    if window:
        inputs["window"] = f"tensor<?x{C}x{W - 1}x{dtypes[2]}>"
        options += f" window(%window : {inputs['window']})"
        results.append(inputs["window"])
    if packed:
        inputs["cu"] = f"tensor<?x{dtypes[3]}>"
        options += f" seqlens(%cu : {inputs['cu']})"
    options += " activation silu" if activation else ""
    arguments = ", ".join(f'%{n}: {t} {{linattn.name = "{n}"}}' for n, t in inputs.items())
    values = ", ".join(f"%r{i}" for i in range(len(results)))
    types = ", ".join(results)
    (folder / f"{name}.mlir").write_text(f"""func.func @conv({arguments}) -> ({types}) {{
  {values} = linattn.short_conv %x, %w {options} : ({x}, {w}) -> ({types})
  return {values} : {types}
}}
""")
    command = [tool, folder / f"{name}.mlir", "--target=sm_90a", "--no-cubin", "-o", folder / name]
    subprocess.run([str(part) for part in command], check=True)
    return runtime.load(str(folder / name))["conv"]


def sliced(values, at):
    """The same values as columns [at, at + C) of a wider array."""
    wide = np.full((*values.shape[:-1], values.shape[-1] + 8), 7, values.dtype)
    view = wide[..., at : at + values.shape[-1]]
    view[...] = values
    return view


def check(name, C, W, shape, dtypes=("f32", "f32", "f32", "i32"), bias=False, window=False,
          activation=False, at=None, channels_inside=False):  # fmt: skip
    """`shape` is (sequences, tokens), or the offsets and the tokens there are."""
    packed = isinstance(shape[0], list)
    window = window and W > 1
    conv = compile_conv(name, C, W, dtypes, bias, window, packed, activation)
    N = len(shape[0]) - 1 if packed else shape[0]
    tokens = (shape[1],) if packed else shape
    x = stored(rng.normal(size=(*tokens, C)), dtypes[0])
    w = stored(rng.normal(size=(C, W)), dtypes[1])
    inputs, options = [x, w], {}
    if bias:
        options["bias"] = stored(rng.normal(size=C), dtypes[1])
    if window:
        options["window"] = stored(rng.normal(size=(N, C, W - 1)), dtypes[2])
        if channels_inside:
            options["window"] = options["window"].transpose(0, 2, 1).copy().transpose(0, 2, 1)
    inputs += options.values()
    options = {n: exact(v) for n, v in options.items()}
    if packed:
        cu = np.array(shape[0], NUMPY[dtypes[3]])
        inputs.append(cu)
        options["cu_seqlens"] = cu
    if at is not None:
        inputs[0] = sliced(x, at)
    want_y, want_end = reference.short_conv(
        exact(x), exact(w), activation="silu" if activation else None, **options
    )
    outs = []
    for _ in range(2):
        y = np.full_like(inputs[0], 3)
        out = [y, np.full_like(options_window(inputs, window), 3)] if window else [y]
        conv(*inputs, out=out)
        outs.append([o.copy() for o in out])
    y = exact(outs[0][0]).astype(np.float64)
    if packed:
        owned = slice(shape[0][0], shape[0][-1])
        untouched = np.ones(shape[1], bool)
        untouched[owned] = False
        assert (outs[0][0][untouched] == 3).all(), name
        y, want_y = y[owned], want_y[owned]
    error = np.linalg.norm(y - want_y) / max(np.linalg.norm(want_y), 1e-30)
    assert error <= LIMIT[dtypes[0]], (name, error)
    if window:
        end = exact(outs[0][1])
        if LIMIT[dtypes[2]] <= LIMIT[dtypes[0]]:  # an input fits the window
            assert (end == want_end.astype(np.float32)).all(), name
        else:
            assert np.allclose(end, want_end, rtol=LIMIT[dtypes[2]]), name
    for first, second in zip(*outs):
        assert first.tobytes() == second.tobytes(), name


def options_window(inputs, window):
    return inputs[-1] if inputs[-1].ndim == 3 else inputs[-2]


# Pairs of everything, in few cases: each row of the table is one.
DTYPES = [("f32", "f32", "f32", "i32"), ("bf16", "f32", "bf16", "i64"),
          ("bf16", "bf16", "f32", "i32"), ("f16", "f16", "f16", "i64"),
          ("f32", "bf16", "f16", "i32")]  # fmt: skip
# Two empty at the front, one in the middle, one at the end; 3 rows before the first
# and 5 behind the last belong to none.
UNEVEN = ([3, 3, 3, 68, 68, 69, 71, 167, 167], 172)
SHAPES = [(2, 37), UNEVEN, (3, 1), (1, 64), ([0, 32, 64, 65], 65), (2, 0), ([0, 0], 4), (1, 2)]
CHANNELS = [40, 8, 5, 20, 1, 64]
for number, shape in enumerate(itertools.chain(SHAPES, SHAPES)):
    check(
        f"pair{number}", CHANNELS[number % 6], [4, 3, 2, 4, 1][number % 5], shape,
        DTYPES[(number * 2 + number // 5) % 5], bias=number % 2 == 0, window=number % 3 != 1,
        activation=number % 4 < 2, at=[None, 0, 1, 8][(number // 2) % 4],
        channels_inside=number % 7 == 3,
    )  # fmt: skip
# The usual one, by itself: 16-bit channels in pieces of 16 bytes, in a slice.
check("usual", 64, 4, UNEVEN, DTYPES[1], window=True, activation=True, at=8)
check("usual-dense", 64, 4, (2, 70), DTYPES[2], window=True, bias=True, activation=True, at=1)
# More sequences than 65,535.
check("many", 1, 2, (65_600, 1), window=True)
check("many-packed", 1, 2, (list(range(65_601)), 65_600), window=True)

# Values that are not finite stay where they are, and no further than W tokens.
conv = compile_conv("special", 8, 2, DTYPES[0], False, False, False, True)
x = np.zeros((1, 6, 8), np.float32)
x[0, 1], x[0, 4] = np.inf, -np.inf
w = np.tile(np.array([0, 1], np.float32), (8, 1))
x[0, 3, 2] = np.nan
w[:, 0] = 0.5
with np.errstate(invalid="ignore"):
    total, _ = reference.short_conv(x, w)
# silu(-inf) is 0, its limit.
lost = np.isnan(total)
y = conv(x, w)
y = y[0] if isinstance(y, (list, tuple)) else y
assert (np.isnan(y) == lost).all() and (np.isinf(y) == (total == np.inf)).all()
assert not y[total == -np.inf].any()
