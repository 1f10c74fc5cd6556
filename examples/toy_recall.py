"""Why these operators: two tasks that need no training, on the CPU.

Associative recall: pairs (key, value) are written one after another, some keys again
with a new value; then every key is asked for. Linear attention adds what it writes, so
old values stay and other keys disturb; the delta rule replaces what the key held.

State tracking: the parity of a sequence of bits. A decay is never negative, so a gated
sum cannot flip a sign; the delta rule with a rate of 2 reflects, and so it can."""

import linattn
import numpy as np


@linattn.recurrence
def linear_attention(S, q, k, v):
    S = S.write(k, v)
    return S, S.read(q)


@linattn.recurrence
def delta_rule(S, q, k, v, beta):
    S = S.write(k, beta * (v - S.read(k)))
    return S, S.read(q)


@linattn.recurrence
def parity(S, k, x):
    # S = (I - 2 x k k^T) S: x = 1 flips what k holds.
    S = S.write(k, -2.0 * x * S.read(k))
    return S, S.read(k)


def recall(pairs, again, width=32, seed=0):
    """How much of the asked values each operator gets right: mean cosine."""
    rng = np.random.default_rng(seed)

    def unit(count):
        x = rng.standard_normal((1, count, 1, width))
        return (x / np.linalg.norm(x, axis=-1, keepdims=True)).astype(np.float32)

    keys, values, newer = unit(pairs), unit(pairs), unit(again)
    k = np.concatenate([keys, keys[:, :again]], axis=1)
    v = np.concatenate([values, newer], axis=1)
    wanted = np.concatenate([newer, values[:, again:]], axis=1)
    state = {}
    _, state["linear attention"] = linattn.compile(linear_attention, target="cpu")(k, k, v)
    rate = np.ones(k.shape[:3], np.float32)
    _, state["delta rule"] = linattn.compile(delta_rule, target="cpu")(k, k, v, rate)
    found = {}
    for name, S in state.items():
        o = np.einsum("bhkv,bthk->bthv", S, keys)
        cosine = np.sum(o * wanted, -1) / np.linalg.norm(o, axis=-1)
        found[name] = float(np.mean(cosine))
    return found


def track_parity(bits):
    """The parity after each bit, from the sign of what the state holds."""
    bits = np.asarray(bits, np.float32)
    k = np.zeros((1, len(bits), 1, 2), np.float32)
    k[..., 0] = 1
    start = np.zeros((1, 1, 2, 1), np.float32)
    start[0, 0, 0, 0] = 1
    o, _ = linattn.compile(parity, target="cpu")(
        k, bits[None, :, None], initial_state=start
    )
    return (o[0, :, 0, 0] < 0).astype(int)


if __name__ == "__main__":
    print("recall, mean cosine with the right value (32 channels, a quarter written twice)")
    for pairs in (4, 8, 16, 24):
        scores = recall(pairs, pairs // 4)
        print(f"  {pairs:3} pairs", *(f"{name} {x:.2f}" for name, x in scores.items()))
    bits = np.random.default_rng(0).integers(0, 2, 10000)
    right = np.array_equal(track_parity(bits), np.cumsum(bits) % 2)
    print(f"parity of 10000 bits: {'right after every one' if right else 'WRONG'}")
    raise SystemExit(int(not right))
