"""Linear attention: S += k v^T; o = K^-1/2 S^T q."""

import linattn
from linattn import reference
from linattn.checking import main


@linattn.recurrence(samples={"q": "unit_key", "k": "unit_key", "v": "value"})
def linear_attention(S, q, k, v: linattn.Token["V"]):
    S = S.write(k, v)
    return S, S.read(q, scale=S.K ** -0.5)


OPS = {
    "linear_attention": linattn.compile(
        linear_attention, K=64, V=64, heads=16, dtype="bf16"
    ),
}

if __name__ == "__main__":
    main(OPS, reference.linear_attention)
