"""linattn: linear-attention recurrences, compiled.

    @linattn.recurrence
    def gated_delta(S, q, k, v, g, beta):
        S = S.decay(g)
        S = S.write(k, beta * (v - S.read(k)))
        return S, S.read(q)

    op = linattn.compile(gated_delta, K=128, V=128)
    o, s = op(q, k, v, g, beta, initial_state=s0)

The compiler is loaded when it is first needed; what is compiled already runs
without it."""

__version__ = "0.1.0"

# Names by the module that holds them: loaded when they are first used.
_HOMES = {
    "step": ["recurrence"],
    "kinds": ["State", "Token", "Param"],
    "op": ["compile", "Op"],
    "attention": ["softmax_attention", "diff_attention", "short_conv"],
    "errors": ["Error", "TraceError", "CompileError", "ArgumentError"],
    "functions": [
        "abs", "cos", "dot", "elu", "erf", "exp", "exp2", "l2norm", "log", "log1p",
        "max", "maximum", "mean", "min", "minimum", "relu", "rms_norm", "rsqrt",
        "sigmoid", "silu", "sin", "softplus", "sqrt", "sum", "tanh", "where",
    ],
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}
_MODULES = ["ir", "reference", "runtime", "testing"]
__all__ = [*_HOME]


def __getattr__(name):
    import importlib

    if name in _HOME:
        value = getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
    elif name in _MODULES:
        value = importlib.import_module(f".{name}", __name__)
    else:
        raise AttributeError(f"module 'linattn' has no attribute '{name}'")
    globals()[name] = value
    return value


def __dir__():
    return sorted([*globals(), *_HOME, *_MODULES])
