"""RetNet, lightning attention: S = e^{g_h} S + k v^T; o = K^-1/2 S^T q, with g a
parameter per head."""

import linattn
from linattn import Param
from linattn import reference
from linattn.checking import main


@linattn.recurrence(samples={
    "q": "unit_key", "k": "unit_key", "v": "value", "g": "log_gate",
})
def retnet(S, q, k, v, g: Param):
    S = S.decay(g).write(k, v)
    return S, S.read(q, scale=S.K ** -0.5)


OPS = {
    "retnet": linattn.compile(retnet, K=64, V=128, heads=8, dtype="bf16"),
}

if __name__ == "__main__":
    main(OPS, reference.retnet)
