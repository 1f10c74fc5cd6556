"""GDN-2: S = Diag(e^g) S; S += k (w o v - S^T (b o k))^T; o = K^-1/2 S^T q. g and b
are over K, w over V."""

import linattn
from linattn import Token
from linattn import reference
from linattn.checking import main


@linattn.recurrence(samples={
    "q": "unit_key", "k": "unit_key", "v": "value", "g": "log_gate", "b": "rate",
    "w": "rate",
})
def gdn2(S, q, k: Token["K"], v: Token["V"], g: Token["K"], b: Token["K"], w: Token["V"]):
    S = S.decay(g)
    S = S.write(k, w * v - S.read(b * k))
    return S, S.read(q, scale=S.K ** -0.5)


OPS = {
    "gdn2": linattn.compile(gdn2, K=64, V=128, heads=8, dtype="f32"),
}

if __name__ == "__main__":
    main(OPS, reference.gdn2)
