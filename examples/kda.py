"""Kimi delta attention: S = Diag(e^g) S; S += beta k (v - S^T k)^T; o = K^-1/2 S^T q.
g is over K."""

import linattn
from linattn import Token
from linattn import reference
from linattn.checking import main


@linattn.recurrence(samples={
    "q": "unit_key", "k": "unit_key", "v": "value", "g": "log_gate", "beta": "rate",
})
def kda(S, q, k, v, g: Token["K"], beta):
    S = S.decay(g)
    S = S.delta_update(k, v, beta)
    return S, S.read(q, scale=S.K ** -0.5)


OPS = {
    "kda": linattn.compile(
        kda, K=128, V=128, heads=16, dtype="bf16", dtypes={"g": "f32"}
    ),
}

if __name__ == "__main__":
    main(OPS, reference.kda)
