"""KDA from raw projections, g = -exp(A_log) softplus(a + dt_bias), beta = sigmoid(b),
with q and k normalised, and the states after every 64 tokens and after the last."""

import linattn
from linattn import Param, Token
from linattn import reference
from linattn.checking import main


@linattn.recurrence(samples={
    "q": "raw", "k": "raw", "v": "value", "a": "raw_gate", "b": "raw",
    "A_log": "a_log", "dt_bias": "raw",
})
def kda_snapshots(
    S, q, k, v, a: Token["K"], b: Token(), A_log: Param(), dt_bias: Param["K"]
):
    q, k = linattn.l2norm(q), linattn.l2norm(k)
    g = -(linattn.exp(A_log) * linattn.softplus(a + dt_bias))
    S = S.decay(g)
    S = S.delta_update(k, v, linattn.sigmoid(b))
    return S, S.read(q, scale=S.K ** -0.5)


def oracle(q, k, v, a, b, A_log, dt_bias, s0, **sequences):
    q, k = reference.l2norm(q), reference.l2norm(k)
    g = -reference.exp(A_log)[:, None] * reference.softplus(a + dt_bias)
    return reference.kda(q, k, v, g, reference.sigmoid(b), s0, **sequences)


OPS = {
    "kda_snapshots": linattn.compile(
        kda_snapshots, K=64, V=64, heads=4, dtype="f32", snapshots=64
    ),
}

if __name__ == "__main__":
    main(OPS, oracle)
