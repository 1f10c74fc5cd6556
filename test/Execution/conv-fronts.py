# Short convolutions in the kernel of the recurrence that reads them, on the
# simulator, against their definitions: packed with empty sequences and ones shorter
# than the window, windows in and out, with and without activation and bias, every
# dtype, tokens with free strides, heads that share keys, a pool of states with a
# padding slot. As bits they are those of convolutions with launches of their own.
# REQUIRES: numpy
# RUN: %python %s linattn-compile %t serial
# RUN: %python %s linattn-compile %t chunkwise
import pathlib
import subprocess
import sys

import numpy as np
from linattn import reference, runtime
from linattn.runtime.tensors import from_bf16_bits, to_bf16_bits

tool, folder = sys.argv[1], pathlib.Path(sys.argv[2])
LOWERING = sys.argv[3] if len(sys.argv) > 3 and sys.argv[3][0] != "%" else "serial"
folder.mkdir(parents=True, exist_ok=True)
NUMPY = {"f32": np.float32, "f16": np.float16}
# Of outputs that are rounded once; a convolution may round the other way.
LIMIT = {"f32": 1e-5, "f16": 1e-3, "bf16": 6e-3}
HEADS, VALUE_HEADS, K, V = 2, 4, 32, 48
rng = np.random.default_rng(0)


def stored(values, dtype):
    return to_bf16_bits(values.astype(np.float32)) if dtype == "bf16" else values.astype(NUMPY[dtype])


def exact(values):
    return from_bf16_bits(values) if values.dtype == np.uint16 else values


def module(dtype, packed, width, activation, bias, window, slots):
    """Gated DeltaNet behind convolutions of q, k and v; `window` is the dtype of
    the windows."""
    lead = "?x" if packed else "?x?x"
    sizes = {"q": (HEADS, K), "k": (HEADS, K), "v": (VALUE_HEADS, V)}
    arguments, body, results = [], [], []
    if packed:
        arguments.append('%cu: tensor<?xi32> {linattn.name = "cu"}')
    for name, (heads, size) in sizes.items():
        C = heads * size
        x, w, y = f"tensor<{lead}{C}x{dtype}>", f"tensor<{C}x{width}xf32>", f"tensor<{lead}{heads}x{size}x{dtype}>"
        arguments += [f'%x{name}: {x} {{linattn.name = "x{name}"}}', f'%w{name}: {w} {{linattn.name = "w{name}"}}']
        options, made, types = "", f"%y{name}", x
        if bias:
            arguments.append(f'%b{name}: tensor<{C}xf32> {{linattn.name = "b{name}"}}')
            options += f" bias(%b{name} : tensor<{C}xf32>)"
        if window:
            end = f"tensor<?x{C}x{width - 1}x{window}>"
            arguments.append(f'%h{name}: {end} {{linattn.name = "h{name}"}}')
            options += f" window(%h{name} : {end})"
            made, types = f"{made}, %e{name}", f"{types}, {end}"
            results.append((f"%e{name}", end))
        if packed:
            options += " seqlens(%cu : tensor<?xi32>)"
        # Not every convolution has the activation.
        if activation and name != "k":
            options += " activation silu"
        body.append(f"{made} = linattn.short_conv %x{name}, %w{name}{options} : ({x}, {w}) -> ({types})")
        dims = "%T" if packed else "%B, %T"
        groups = "[0], [1, 2]" if packed else "[0], [1], [2, 3]"
        body.append(f"%{name} = tensor.expand_shape %y{name} [{groups}] output_shape [{dims}, {heads}, {size}] : {x} into {y}")
    state = f"tensor<?x{VALUE_HEADS}x{K}x{V}xf32>"
    gates = f"tensor<{lead}{VALUE_HEADS}xf32>"
    out = f"tensor<{lead}{VALUE_HEADS}x{V}x{dtype}>"
    arguments += [f'%g: {gates} {{linattn.name = "g"}}', f'%beta: {gates} {{linattn.name = "beta"}}',
                  f'%s0: {state} {{linattn.name = "s0"}}']
    if slots:
        arguments.append('%slots: tensor<?xi32> {linattn.name = "slots"}')
    x = f"tensor<{lead}{HEADS * K}x{dtype}>"
    first = ["%c0 = arith.constant 0 : index"]
    if packed:
        first.append(f"%T = tensor.dim %xq, %c0 : {x}")
    else:
        first += ["%c1 = arith.constant 1 : index", f"%B = tensor.dim %xq, %c0 : {x}", f"%T = tensor.dim %xq, %c1 : {x}"]
    tokens = ", ".join(f"%{n} : tensor<{lead}{h}x{d}x{dtype}>" for n, (h, d) in sizes.items())
    extra = (" seqlens(%cu : tensor<?xi32>)" if packed else "") + (" slots(%slots : tensor<?xi32>)" if slots else "")
    results = [("%o", out), ("%sT", state), *results]

    def widened(name, size):
        if dtype == "f32":
            return ""
        return f"%{name}f = arith.extf %{name}t : vector<{size}x{dtype}> to vector<{size}xf32>"

    f = "t" if dtype == "f32" else "f"
    rounded = "" if dtype == "f32" else f"%or = arith.truncf %ot : vector<{V}xf32> to vector<{V}x{dtype}>"
    text = f"""func.func @core({", ".join(arguments)}) -> ({", ".join(t for _, t in results)}) {{
  {chr(10).join([*first, *body])}
  %o, %sT = linattn.recurrence tokens({tokens}, %g : {gates}, %beta : {gates}) state(%s0 : {state}){extra} -> ({out}, {state}) {{
  ^step(%qt: vector<{K}x{dtype}>, %kt: vector<{K}x{dtype}>, %vt: vector<{V}x{dtype}>, %gt: f32, %bt: f32, %s: !linattn.state<{K}x{V}xf32>):
    {widened("q", K)}
    {widened("k", K)}
    {widened("v", V)}
    %kn = linattn.l2norm %k{f} eps 1.0e-6 : vector<{K}xf32> -> vector<{K}xf32>
    %s1 = linattn.decay %s, %gt : !linattn.state<{K}x{V}xf32>, f32
    %s2 = linattn.delta_update %s1, %kn, %v{f}, %bt : !linattn.state<{K}x{V}xf32>, vector<{K}xf32>, vector<{V}xf32>, f32
    %ot = linattn.read %s2, %q{f} : !linattn.state<{K}x{V}xf32>, vector<{K}xf32>
    {rounded}
    linattn.yield {"%ot" if dtype == "f32" else "%or"}, %s2 : vector<{V}x{dtype}>, !linattn.state<{K}x{V}xf32>
  }}
  return {", ".join(n for n, _ in results)} : {", ".join(t for _, t in results)}
}}
"""
    return text


def compile_core(name, text, fuse):
    path = folder / f"{name}.mlir"
    path.write_text(text)
    target = folder / f"{name}-{fuse}"
    command = [tool, path, "--target=sm_90a", "--no-cubin", f"--lowering={LOWERING}", f"--plan=fuse-conv={fuse}", "-o", target]
    subprocess.run([str(part) for part in command], check=True)
    launches = (target / "core.json").read_text().count('"kernel":')
    return runtime.load(str(target))["core"], launches


def sliced(values):
    """The same values as columns of a wider array: tokens and channels far apart."""
    wide = np.full((*values.shape[:-1], values.shape[-1] + 16), 7, values.dtype)
    view = wide[..., 8:-8]
    view[...] = values
    return view


def check(name, dtype, shape, width=4, activation=True, bias=False, window=None, slots=False, strided=False):
    """`shape` is (sequences, tokens), or the offsets and the tokens there are."""
    packed = isinstance(shape[0], list)
    text = module(dtype, packed, width, activation, bias, window, slots)
    N = len(shape[0]) - 1 if packed else shape[0]
    tokens = (shape[1],) if packed else shape
    cu = np.array(shape[0], np.int32) if packed else None
    sequences = {"cu_seqlens": cu} if packed else {}
    inputs, convolved, windows, ends = [cu] if packed else [], {}, [], []
    for part, heads, size in (("q", HEADS, K), ("k", HEADS, K), ("v", VALUE_HEADS, V)):
        C = heads * size
        x, w = stored(rng.normal(size=(*tokens, C)), dtype), rng.normal(size=(C, width)).astype(np.float32) * 0.5
        own = [sliced(x) if strided else x, w]
        options = {}
        if bias:
            options["bias"] = rng.normal(size=C).astype(np.float32)
        if window:
            options["window"] = stored(rng.normal(size=(N, C, width - 1)), window)
            windows.append(options["window"])
        own += options.values()
        inputs += own
        options = {n: exact(v) for n, v in options.items()}
        act = "silu" if activation and part != "k" else None
        y, end = reference.short_conv(exact(x), w, activation=act, **options, **sequences)
        convolved[part] = exact(stored(y, dtype)).astype(np.float64).reshape(*tokens, heads, size)
        ends.append(end)
    g = -rng.random((*tokens, VALUE_HEADS)).astype(np.float32)
    beta = rng.random((*tokens, VALUE_HEADS)).astype(np.float32)
    P = N + 2 if slots else N
    s0 = rng.normal(size=(P, VALUE_HEADS, K, V)).astype(np.float32)
    where = np.arange(N, dtype=np.int32)[::-1].copy()
    k = convolved["k"] / np.sqrt(np.square(convolved["k"]).sum(-1, keepdims=True) + 1e-6)
    start = s0[where] if slots else s0
    want_o, want_s = reference.gated_deltanet(convolved["q"], k, convolved["v"], g, beta, start, scale=1.0, **sequences)
    if slots:
        where[0] = -1  # padding: its window is written, nothing else of it
    inputs += [g, beta, s0]
    used = np.ones(N, bool)
    if slots:
        inputs.append(where)
        used = where >= 0
    outs = []
    for fuse, expected in ((0, 4), (1, 1)):
        core, launches = compile_core(name, text, fuse)
        if LOWERING == "serial":
            assert launches == expected, (name, launches)
        for _ in range(2):
            own = list(inputs)
            pool = s0.copy()
            own[-2 if slots else -1] = pool
            o = np.full((*tokens, VALUE_HEADS, V), 3, inputs[1 if packed else 0].dtype)
            # A pool is its own result.
            out = [o, None if slots else np.full((N, VALUE_HEADS, K, V), 3, np.float32)]
            out += [np.full_like(h, 3) for h in windows]
            core(*own, out=out)
            outs.append([pool if value is None else value for value in out])
    for other in outs[1:]:
        for first, second in zip(outs[0], other):
            assert first.tobytes() == second.tobytes(), name
    o = exact(outs[0][0]).astype(np.float64)
    if packed:
        o, want_o = o[shape[0][0] : shape[0][-1]], want_o[shape[0][0] : shape[0][-1]]
    elif slots:
        o, want_o = o[used], want_o[used]
    s = outs[0][1][where[used]] if slots else outs[0][1]
    for got, want in ((o, want_o), (s, want_s[used] if slots else want_s)):
        error = np.linalg.norm(got - want) / max(np.linalg.norm(want), 1e-30)
        assert error <= LIMIT[dtype], (name, error)
    for got, want in zip(outs[0][2:], ends):
        assert np.allclose(exact(got), want, rtol=LIMIT[window]), name
    print(f"{name}: {error:.1e}", flush=True)


# Empty sequences, ones of one and two tokens, tokens that belong to none.
UNEVEN = ([3, 3, 4, 6, 6, 75, 75], 78)
check("plain", "f32", (2, 37))
check("windows", "bf16", (1, 70), window="bf16", bias=True)
check("short", "f16", (3, 2), width=4, window="f32", activation=False)
check("packed", "bf16", UNEVEN, width=3, window="f16", strided=True)
check("packed-f32", "f32", UNEVEN, width=2, bias=True, window="f32", activation=False)
check("packed-f16", "f16", UNEVEN, strided=True)
check("one-tap", "bf16", (1, 5), width=1)
if LOWERING == "serial":
    check("decoding", "bf16", (5, 1), window="bf16", slots=True, bias=True)
    check("decoding-more", "f32", (3, 4), width=3, window="bf16", slots=True, strided=True)
check("no-token", "f32", (2, 0), window="f32")
