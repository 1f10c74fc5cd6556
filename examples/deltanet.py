"""DeltaNet: S += beta k (v - S^T k)^T; o = K^-1/2 S^T q."""

import linattn
from linattn import reference
from linattn.checking import main


@linattn.recurrence(samples={
    "q": "unit_key", "k": "unit_key", "v": "value", "beta": "rate",
})
def deltanet(S, q, k, v, beta):
    S = S.delta_update(k, v, beta)
    return S, S.read(q, scale=S.K ** -0.5)


OPS = {
    "deltanet": linattn.compile(deltanet, K=128, V=128, heads=16, dtype="bf16"),
}

if __name__ == "__main__":
    main(OPS, reference.deltanet)
