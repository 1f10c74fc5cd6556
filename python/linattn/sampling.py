"""Seeded inputs, in the kinds that `linattn.sample` names."""

import numpy as np

from .reference import exp

GATES = {
    "none": lambda rng, shape: np.zeros(shape),
    "usual": lambda rng, shape: -np.logaddexp(0.0, rng.standard_normal(shape) - 2.0),
    "slow": lambda rng, shape: -1e-3 * rng.random(shape),
    "strong": lambda rng, shape: -8.0 - 8.0 * rng.random(shape),
    "extreme": lambda rng, shape: np.where(rng.random(shape) < 0.5, -1000.0, -np.inf),
    "mixed": lambda rng, shape: -(10.0 ** rng.uniform(-4, 2, shape)),
}


def draw(kind, shape, rng, gates="usual"):
    """An fp64 array."""
    if kind in ("log_gate", "linear_gate", "raw_gate"):
        g = GATES[gates](rng, shape)
        if kind == "linear_gate":
            return exp(g)
        if kind == "log_gate":
            return g
        # softplus(x) = -g
        g = np.clip(-g, 1e-6, 80.0)
        return g + np.log(-np.expm1(-g))
    normal = rng.standard_normal(shape)
    if kind == "rate":
        return 1.0 / (1.0 + np.exp(-normal))
    if kind == "rate2":
        return 2.0 / (1.0 + np.exp(-normal))
    if kind == "unit_key":
        return normal / np.linalg.norm(normal, axis=-1, keepdims=True)
    if kind == "weight":
        return 0.5 * normal
    if kind == "a_log":
        return 0.1 * normal
    if kind == "state":
        return normal
    if kind in ("value", "raw", None):
        return normal
    raise ValueError(f"no kind of sample '{kind}'")


def to_type(array, dtype):
    """Rounded to an element type."""
    if dtype == "bf16":
        import ml_dtypes

        return array.astype(np.float32).astype(ml_dtypes.bfloat16)
    return array.astype({"f16": np.float16, "f32": np.float32, "f64": np.float64}[dtype])


def inputs(op, *, B=2, T=64, seed=0, gates="usual", state="random"):
    """Arrays for an op that was told heads, K, V and dtype: by name, then states."""
    from .emit import Sym

    module, rng = op.module(), np.random.default_rng(seed)
    sizes = {"B": B, "T": T, "S": T, "N": B, "P": B}
    samples = op.recurrence.samples
    found, states = {}, []
    for a in module.arguments:
        shape = tuple(
            sizes[d.name] + d.plus if isinstance(d, Sym) else d for d in a["shape"]
        )
        if a["role"] == "state":
            zero = state == "zero"
            array = np.zeros(shape) if zero else draw("state", shape, rng)
            states.append(to_type(array, a["dtype"]))
        elif a["role"] not in ("seqlens", "slots"):
            array = draw(samples.get(a["name"]), shape, rng, gates)
            if len(shape) and a["role"] == "param" and samples.get(a["name"]) == "raw":
                array *= 0.1
            found[a["name"]] = to_type(array, a["dtype"])
    return found, states
