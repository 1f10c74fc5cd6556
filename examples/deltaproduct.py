"""Gated DeltaProduct, n = 2: S = e^g S; for i = 1, 2: S += beta_i k_i (v_i - S^T k_i)^T;
o = K^-1/2 S^T q. beta_i may reach 2."""

import linattn
from linattn import Token
from linattn import reference
from linattn.checking import main


@linattn.recurrence(samples={
    "q": "unit_key", "k": "unit_key", "v": "value", "g": "log_gate", "beta": "rate2",
})
def deltaproduct(S, q, k: Token[2, "K"], v: Token[2, "V"], g, beta: Token[2]):
    S = S.decay(g)
    for k_i, v_i, beta_i in zip(k, v, beta):
        S = S.delta_update(k_i, v_i, beta_i)
    return S, S.read(q, scale=S.K ** -0.5)


OPS = {
    "deltaproduct": linattn.compile(
        deltaproduct, K=128, V=128, heads=8, dtype="bf16", dtypes={"beta": "f32"}
    ),
}

if __name__ == "__main__":
    main(OPS, reference.deltaproduct)
