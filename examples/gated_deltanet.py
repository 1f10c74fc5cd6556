"""Gated DeltaNet: S = e^g S; S += k (beta (v - S^T k))^T; o = K^-1/2 S^T q. Value
head h uses key head h / 2. The same step with beta over the value channels, over
packed sequences, and for decoding in a pool of states with a state after each
token."""

import linattn
from linattn import reference
from linattn.checking import main


@linattn.recurrence(samples={
    "q": "unit_key", "k": "unit_key", "v": "value", "g": "log_gate", "beta": "rate",
})
def gated_deltanet(S, q, k, v, g, beta):
    S = S.decay(g)
    S = S.delta_update(k, v, beta)
    return S, S.read(q, scale=S.K ** -0.5)


SIZES = dict(K=128, V=128, dtype="bf16")
HEADS = {"q": 16, "k": 16, "v": 32}


OPS = {
    "gated_deltanet": linattn.compile(gated_deltanet, heads=HEADS, **SIZES),
    "gated_deltanet_channel_rate": linattn.compile(
        gated_deltanet, K=64, V=128, heads=8, dtype="f32", kinds={"beta": "V"}
    ),
    "gated_deltanet_packed": linattn.compile(
        gated_deltanet, heads={"q": 8, "k": 8, "v": 16}, packed=True, **SIZES
    ),
    "gated_deltanet_decode": linattn.compile(
        gated_deltanet, heads=HEADS, slots=True, snapshots=1, **SIZES
    ),
}

if __name__ == "__main__":
    main(OPS, reference.gated_deltanet)
