"""Scalar decay (simple GLA): S = e^g S + k v^T; o = K^-1/2 S^T q. q and k have 4
heads, v and g 16: head h uses key head h / 4."""

import linattn
from linattn import reference
from linattn.checking import main


@linattn.recurrence(samples={
    "q": "unit_key", "k": "unit_key", "v": "value", "g": "log_gate",
})
def simple_gla(S, q, k, v, g):
    S = S.decay(g).write(k, v)
    return S, S.read(q, scale=S.K ** -0.5)


OPS = {
    "simple_gla": linattn.compile(
        simple_gla, K=64, V=64, heads={"q": 4, "k": 4, "v": 16}, dtype="bf16"
    ),
}

if __name__ == "__main__":
    main(OPS, reference.simple_gla)
