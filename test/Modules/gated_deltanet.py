"""Reference module: a Gated DeltaNet layer, in numpy and fp64.

Self-contained: one head and one token at a time, from the definition of the
layer. `core` is what one recurrence region must compute, from the raw
projections to the gated, normalised output; `forward` is the whole layer, linear maps included.
"""

import numpy as np


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def l2norm(y):
    return y * (np.sum(y * y) + 1e-6) ** -0.5


def rms_norm(y, weight):
    return y * (np.mean(y * y) + 1e-6) ** -0.5 * weight


def core(query, key, value, gate, beta, alpha, A_log, dt_bias, norm_weight, s0=None):
    """Raw projections [B, T, H, D] (alpha [B, T, H]), state [B, H, D, D] -> y, sT."""
    query, key, value, gate, beta, alpha = (
        np.asarray(x, dtype=np.float64) for x in (query, key, value, gate, beta, alpha)
    )
    B, T, H, D = value.shape
    y = np.zeros(value.shape)
    states = np.zeros((B, H, D, D)) if s0 is None else np.array(s0, dtype=np.float64)
    for b, h in np.ndindex(B, H):
        S = states[b, h]
        for t in range(T):
            q = l2norm(query[b, t, h]) / np.sqrt(D)
            k = l2norm(key[b, t, h])
            rate = sigmoid(beta[b, t, h])
            g = -np.exp(A_log[h]) * np.logaddexp(0.0, alpha[b, t, h] + dt_bias[h])
            S = np.exp(g) * S
            S = S + np.outer(k, rate * (value[b, t, h] - S.T @ k))
            z = gate[b, t, h]
            y[b, t, h] = rms_norm(S.T @ q, norm_weight) * (z * sigmoid(z))
        states[b, h] = S
    return y, states


def forward(
    x, W_query, W_key, W_value, W_gate, W_beta, W_alpha, A_log, dt_bias,
    norm_weight, out_proj, s0=None,
):
    """x [B, T, d_in], linear maps [inputs, outputs] -> y [B, T, d_out], state."""
    per_head = (*x.shape[:-1], len(A_log), len(norm_weight))
    maps = (W_query, W_key, W_value, W_gate, W_beta)
    raw = [(x @ W).reshape(per_head) for W in maps]
    y, sT = core(*raw, x @ W_alpha, A_log, dt_bias, norm_weight, s0)
    return y.reshape(*x.shape[:-1], W_value.shape[1]) @ out_proj, sT


class GatedDeltaNet:
    """Parameters are drawn from `seed`; linear maps are [inputs, outputs]."""

    def __init__(self, d_in, d_out, heads, seed=0):
        if d_out % heads:
            raise ValueError(f"GatedDeltaNet: {heads} heads do not divide {d_out}")
        rng = np.random.default_rng(seed)
        self.heads, self.width = heads, d_out // heads
        for name in ("query", "key", "value", "gate", "beta"):
            weight = rng.standard_normal((d_in, d_out)) / np.sqrt(d_in)
            setattr(self, f"W_{name}", weight)
        self.W_alpha = rng.standard_normal((d_in, heads)) / np.sqrt(d_in)
        self.A_log = np.log(rng.uniform(0.01, 1.0, heads))
        self.dt_bias = rng.standard_normal(heads)
        self.norm_weight = 1.0 + 0.1 * rng.standard_normal(self.width)
        self.out_proj = rng.standard_normal((d_out, d_out)) / np.sqrt(d_out)

    def forward(self, x, s0=None):
        return forward(
            x, self.W_query, self.W_key, self.W_value, self.W_gate, self.W_beta,
            self.W_alpha, self.A_log, self.dt_bias, self.norm_weight, self.out_proj,
            s0,
        )
