"""Comba, removal read before the decay: r = S^T p; S = e^g S + k (beta v - beta' r)^T;
o = K^-1/2 S^T q. p is a removal key of its own."""

import linattn
from linattn import Token
from linattn import reference
from linattn.checking import main


@linattn.recurrence(samples={
    "q": "unit_key", "k": "unit_key", "v": "value", "p": "unit_key", "g": "log_gate",
    "beta": "rate", "beta_p": "rate",
})
def comba(S, q, k, v: Token["V"], p, g, beta, beta_p):
    D = S.decay(g)
    S = D.write(k, beta * v - beta_p * S.read(p))
    return S, S.read(q, scale=S.K ** -0.5)


OPS = {
    "comba": linattn.compile(comba, K=64, V=64, heads=8, dtype="bf16"),
}

if __name__ == "__main__":
    main(OPS, reference.comba)
