"""Gated linear attention: S = Diag(e^g) S + k v^T; o = K^-1/2 S^T q. g is over K."""

import linattn
from linattn import Token
from linattn import reference
from linattn.checking import main


@linattn.recurrence(samples={
    "q": "unit_key", "k": "unit_key", "v": "value", "g": "log_gate",
})
def gla(S, q, k, v, g: Token["K"]):
    S = S.decay(g).write(k, v)
    return S, S.read(q, scale=S.K ** -0.5)


OPS = {
    "gla": linattn.compile(
        gla, K=64, V=128, heads=8, dtype="bf16", dtypes={"g": "f32"}
    ),
}

if __name__ == "__main__":
    main(OPS, reference.gla)
