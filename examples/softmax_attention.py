"""Softmax attention, o_t = sum_s softmax_s(D^-1/2 q_t . k_s) v_s: causal, over a
sliding window with the log-sum-exp, and with capped scores."""

import linattn
import numpy as np
from linattn import reference
from linattn.checking import check
from linattn.sampling import to_type

CAP = 20.0


def cap(score, sequence, head, query, key):
    return linattn.tanh(score / CAP) * CAP


def cap_in_numpy(score, *_):
    return CAP * np.tanh(score / CAP)


def arrays(dtype, B, T, heads, kv_heads, D, E, seed=0):
    rng = np.random.default_rng(seed)
    shapes = (heads, D), (kv_heads, D), (kv_heads, E)
    return [to_type(rng.standard_normal((B, T, *s)), dtype) for s in shapes]


# Name: (op, its oracle, arrays of its sizes).
OPS = {
    "softmax_attention": (
        linattn.softmax_attention(causal=True),
        lambda *x: reference.softmax_attention(*x, causal=True),
        lambda B, T: arrays("bf16", B, T, 16, 4, 64, 64),
    ),
    "softmax_attention_window": (
        linattn.softmax_attention(causal=True, window=128, return_lse=True),
        lambda *x: reference.softmax_attention(
            *x, causal=True, window=128, return_lse=True
        ),
        lambda B, T: arrays("bf16", B, T, 8, 8, 64, 128),
    ),
    "softmax_attention_softcap": (
        linattn.softmax_attention(score=cap),
        lambda *x: reference.softmax_attention(*x, score=cap_in_numpy),
        lambda B, T: arrays("f32", B, T, 8, 8, 64, 64),
    ),
}

if __name__ == "__main__":
    check(OPS)
