"""Reference module: a Gated DeltaNet layer, in numpy and fp64.

Self-contained: one head and one token at a time, from the definition of the
layer. `core` is what one recurrence region must compute, from the raw
projections to the gated, normalised output; `forward` is the whole layer.
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


class GatedDeltaNet:
    """Parameters are drawn from `seed`; linear maps are [inputs, outputs]."""

    PROJECTIONS = ("query", "key", "value", "gate", "beta")

    def __init__(self, d_in, d_out, heads, seed=0):
        if d_out % heads:
            raise ValueError(f"GatedDeltaNet: {heads} heads do not divide {d_out}")
        rng = np.random.default_rng(seed)
        self.heads, self.width = heads, d_out // heads
        for name in self.PROJECTIONS:
            weight = rng.standard_normal((d_in, d_out)) / np.sqrt(d_in)
            setattr(self, f"W_{name}", weight)
        self.W_alpha = rng.standard_normal((d_in, heads)) / np.sqrt(d_in)
        self.A_log = np.log(rng.uniform(0.01, 1.0, heads))
        self.dt_bias = rng.standard_normal(heads)
        self.norm_weight = 1.0 + 0.1 * rng.standard_normal(self.width)
        self.out_proj = rng.standard_normal((d_out, d_out)) / np.sqrt(d_out)

    def project(self, x):
        """Arguments of `core` that depend on x."""
        per_head = (*x.shape[:-1], self.heads, self.width)
        maps = [getattr(self, f"W_{name}") for name in self.PROJECTIONS]
        return [(x @ W).reshape(per_head) for W in maps] + [x @ self.W_alpha]

    def forward(self, x, s0=None):
        """x [B, T, d_in] -> y [B, T, d_out], state."""
        parameters = (self.A_log, self.dt_bias, self.norm_weight)
        y, sT = core(*self.project(x), *parameters, s0)
        return y.reshape(*x.shape[:-1], -1) @ self.out_proj, sT
