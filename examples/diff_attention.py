"""Differential attention. Version 1: o = (1 - lambda_init) RMSNorm((softmax(q1 k1) -
lambda softmax(q2 k2)) V), V of width 2 D. Version 2: o_h = A_2h - sigmoid(l_h) A_2h+1,
both query heads over one key/value head."""

import linattn
import numpy as np
from linattn import reference
from linattn.checking import check
from linattn.sampling import draw, to_type

LAMBDA_INIT = 0.2  # 0.8 - 0.6 exp(-0.3 depth), in the first layer


def version1(B, T, seed=0):
    rng = np.random.default_rng(seed)
    q, k, v = (
        to_type(rng.standard_normal((B, T, *s)), "bf16")
        for s in ((8, 64), (4, 64), (2, 128))
    )
    lam = to_type(draw("rate", (4,), rng), "f32")
    return [q, k, v, lam, to_type(draw("weight", (128,), rng), "f32")]


def version2(B, T, seed=0):
    rng = np.random.default_rng(seed)
    q, k, v = (
        to_type(rng.standard_normal((B, T, *s)), "bf16")
        for s in ((8, 64), (2, 64), (2, 64))
    )
    return [q, k, v, to_type(rng.standard_normal((B, T, 4)), "f32")]


OPS = {
    "diff_attention_v1": (
        linattn.diff_attention(
            "v1", causal=True, norm=True, output_scale=1 - LAMBDA_INIT
        ),
        lambda q, k, v, lam, w: reference.diff_attention_v1(
            q, k, v, lam, norm_weight=w, output_scale=1 - LAMBDA_INIT, causal=True
        ),
        version1,
    ),
    "diff_attention_v2": (
        linattn.diff_attention("v2", causal=True),
        lambda *x: reference.diff_attention_v2(*x, causal=True),
        version2,
    ),
}

if __name__ == "__main__":
    check(OPS)
