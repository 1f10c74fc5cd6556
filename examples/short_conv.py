"""The short convolution before q, k and v: y_t = silu(bias + sum_{j < 4} w_j x_{t-3+j}),
each channel alone; the window carries the last three inputs from call to call."""

import linattn
import numpy as np
from linattn import reference
from linattn.checking import check
from linattn.sampling import draw, to_type


def arrays(B, T, channels=256, seed=0):
    rng = np.random.default_rng(seed)
    return [
        to_type(rng.standard_normal((B, T, channels)), "bf16"),
        to_type(draw("weight", (channels, 4), rng), "f32"),
        to_type(rng.standard_normal(channels), "f32"),
        to_type(rng.standard_normal((B, channels, 3)), "f32"),
    ]


OPS = {
    "short_conv": (
        linattn.short_conv(bias=True, window=True, activation="silu"),
        lambda *x: reference.short_conv(*x, activation="silu"),
        arrays,
    ),
}

if __name__ == "__main__":
    check(OPS)
