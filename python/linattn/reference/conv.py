"""The short causal convolution that stands before q, k and v."""

import numpy as np

from .functions import f64, silu


def short_conv(
    x, weight, bias=None, window=None, *, activation=None, cu_seqlens=None
):
    """y_t = act(bias + sum_i weight[:, i] x_{t - W + 1 + i}), each channel alone.

    x [B, T, C] or [T, C] packed; weight [C, W]; bias [C]; window [N, C, W - 1]
    holds the W - 1 inputs before the first token, oldest first (None: zero).
    activation: None or "silu". Returns y and the window after the last token."""
    x, weight = f64(x), f64(weight)
    width = weight.shape[-1]
    packed = cu_seqlens is not None
    if packed:
        spans = [(n, slice(*cu_seqlens[n : n + 2])) for n in range(len(cu_seqlens) - 1)]
    else:
        spans = [(n, n) for n in range(x.shape[0])]
    channels = x.shape[-1]
    after = np.zeros((len(spans), channels, width - 1))
    y = np.zeros(x.shape)
    for n, where in spans:
        before = after[n] if window is None else f64(window)[n]
        line = np.concatenate([before.T, x[where]])
        length = line.shape[0] - (width - 1)
        total = np.zeros((length, channels))
        for i in range(width):
            total += weight[:, i] * line[i : i + length]
        if bias is not None:
            total = total + f64(bias)
        y[where] = silu(total) if activation == "silu" else total
        after[n] = line[length:].T
    return y, after
