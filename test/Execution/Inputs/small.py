"""Recurrences of one head at sizes of a test's choice, packed, f32 or bf16, and
the token loop in fp64, written from the cases' own equations."""

import numpy as np

# Of each: what is drawn or given per token beside q, k, v (g over K in `vector`),
# and the step.
STEPS = {
    "linear": ("g", """
    %s1 = linattn.decay %s, %gt : !S, {G}
    %s2 = linattn.write %s1, %kt, %vt : !S, !K, !V"""),
    "deltanet": ("b", """
    %s2 = linattn.delta_update %s, %kt, %vt, %bt : !S, !K, !V, f32"""),
    "gated_delta": ("gb", """
    %s1 = linattn.decay %s, %gt : !S, {G}
    %s2 = linattn.delta_update %s1, %kt, %vt, %bt : !S, !K, !V, f32"""),
    "deltaproduct": ("gb", """
    %s1 = linattn.decay %s, %gt : !S, {G}
    %sa = linattn.delta_update %s1, %kt, %vt, %bt : !S, !K, !V, f32
    %s2 = linattn.delta_update %sa, %kt, %vt, %bt : !S, !K, !V, f32"""),
}


def module(name, K=1, V=1, vector=False, dtype="f32", heads=1, scale=None):
    """The text of @{name}: q, k, v, [g], [b], s0, cu -> o, s."""
    extra, step = STEPS[name]
    token = lambda *d: f"tensor<{'x'.join(map(str, ('?', heads) + d))}x{{}}>"
    key, value = token(K).format(dtype), token(V).format(dtype)
    gate = (token(K) if vector else token()).format("f32")
    types = dict(q=key, k=key, v=value, g=gate, b=token().format("f32"))
    gate_type = f"vector<{K}xf32>" if vector else "f32"
    block = dict(q="!K", k="!K", v="!V", g=gate_type, b="f32")
    names = "qkv" + extra
    state = f"tensor<?x{heads}x{K}x{V}xf32>"
    samples = dict(q="unit_key", k="unit_key", v="value", g="log_gate", b="rate")
    arguments = [
        f'%{n}: {types[n]} {{linattn.name = "{n}", linattn.sample = "{samples[n]}"}}'
        for n in names
    ]
    arguments.append(f'%s0: {state} {{linattn.name = "s0", linattn.sample = "state"}}')
    arguments.append('%cu: tensor<?xi32> {linattn.name = "cu"}')
    operands = ", ".join(f"%{n} : {types[n]}" for n in names)
    steps = ", ".join(f"%{n}t: {block[n]}" for n in names)
    scale = K**-0.5 if scale is None else scale
    end = "    linattn.yield %o, %s2 : vector<{V}xf32>, !S"
    if dtype != "f32":
        end = (
            f"    %ob = arith.truncf %o : vector<{V}xf32> to !V\n"
            "    linattn.yield %ob, %s2 : !V, !S"
        )
    return f"""
!K = vector<{K}x{dtype}>
!V = vector<{V}x{dtype}>
!S = !linattn.state<{K}x{V}xf32>
func.func @{name}({", ".join(arguments)}) -> ({value}, {state}) {{
  %r:2 = linattn.recurrence tokens({operands}) state(%s0 : {state})
      seqlens(%cu : tensor<?xi32>) -> ({value}, {state}) {{
  ^step({steps}, %s: !S):{step.format(G=gate_type)}
    %o = linattn.read %s2, %qt scale {float(scale)!r} : !S, !K
{end.format(V=V)}
  }}
  return %r#0, %r#1 : {value}, {state}
}}
"""


def loop(name, q, k, v, g=None, b=None, s0=None, scale=None):
    """One sequence and head in fp64: q, k [T, K], v [T, V], g [T] or [T, K], b [T]."""
    f64 = lambda x: None if x is None else np.asarray(x, np.float64)
    q, k, v, g, b, s0 = map(f64, (q, k, v, g, b, s0))
    T, K = k.shape
    S = np.zeros((K, v.shape[1])) if s0 is None else s0.copy()
    scale = K**-0.5 if scale is None else scale
    out = np.empty(v.shape)
    for t in range(T):
        if g is not None:
            S = S * np.exp(g[t] if g.ndim == 1 else g[t][:, None])
        for _ in range(2 if name == "deltaproduct" else 1):
            write = v[t] if b is None else b[t] * (v[t] - S.T @ k[t])
            S = S + np.outer(k[t], write)
        out[t] = scale * (S.T @ q[t])
    return out, S


def pack(sequences, names):
    """Arrays of one head for `run`: sequences are dicts of arrays [T, ..]."""
    f32 = lambda x: np.ascontiguousarray(x, np.float32)
    inputs = {n: f32(np.concatenate([s[n] for s in sequences]))[:, None] for n in names}
    ends = np.cumsum([0] + [len(s["q"]) for s in sequences])
    return inputs, ends
