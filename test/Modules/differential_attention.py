"""Reference module: differential attention V1, in numpy and fp64.

Self-contained: one head and one query at a time, from the definition.
"""

import numpy as np


def softmax(scores):
    weights = np.exp(scores - np.max(scores))
    return weights / weights.sum()


def published_lambda(lq1, lk1, lq2, lk2, lambda_init):
    """exp(lq1 . lk1) - exp(lq2 . lk2) + lambda_init, of each head."""
    return np.array(
        [
            np.exp(lq1[h] @ lk1[h]) - np.exp(lq2[h] @ lk2[h]) + lambda_init
            for h in range(len(lq1))
        ]
    )


def mean_lambda(lq1, lk1, lq2, lk2):
    """One number: the mean over all pairs (i, j) of heads of
    exp(lq1_i . lk1_j - lq2_i . lk2_j)."""
    heads = len(lq1)
    total = 0.0
    for i, j in np.ndindex(heads, heads):
        total += np.exp(lq1[i] @ lk1[j] - lq2[i] @ lk2[j])
    return np.full(heads, total / heads**2)


def core(q1, k1, q2, k2, v, lam, norm_weight, lambda_init, causal):
    """q1, k1, q2, k2 [B, T, H, D], v [B, T, H, 2D], lam [H] -> [B, T, H, 2D]."""
    B, T, H, D = q1.shape
    o = np.zeros(v.shape)
    for b, h, t in np.ndindex(B, H, T):
        last = t + 1 if causal else T
        maps = [
            softmax(k[b, :last, h] @ q[b, t, h] / np.sqrt(D))
            for q, k in ((q1, k1), (q2, k2))
        ]
        y = (maps[0] - lam[h] * maps[1]) @ v[b, :last, h]
        y = y * (np.mean(y * y) + 1e-5) ** -0.5 * norm_weight
        o[b, t, h] = y * (1.0 - lambda_init)
    return o


def forward(
    x, W_q1, W_k1, W_q2, W_k2, W_v, lam, norm_weight, out_proj, *, lambda_init, causal
):
    """x [B, T, d_model], linear maps [inputs, outputs] -> [B, T, d_model]."""
    heads = len(lam)
    raw = []
    for W in (W_q1, W_k1, W_q2, W_k2, W_v):
        raw.append((x @ W).reshape(*x.shape[:-1], heads, W.shape[1] // heads))
    o = core(*raw, lam, norm_weight, lambda_init, causal)
    return o.reshape(*x.shape[:-1], W_v.shape[1]) @ out_proj


class DifferentialAttention:
    """Parameters are drawn from `seed`; linear maps are [inputs, outputs].

    lambda_form: "published", or "mean" over all pairs of heads.
    """

    def __init__(
        self, d_model, heads, depth=0, causal=True, lambda_form="published",
        dropout=0.0, seed=0,
    ):
        if d_model % (2 * heads):
            raise ValueError(f"DifferentialAttention: 2 x {heads} heads and {d_model}")
        if dropout:
            raise ValueError(
                "DifferentialAttention: dropout inside attention is not supported, "
                f"got {dropout}"
            )
        if lambda_form not in ("published", "mean"):
            raise ValueError(f"DifferentialAttention: lambda_form '{lambda_form}'")
        rng = np.random.default_rng(seed)
        self.heads, self.width = heads, d_model // (2 * heads)
        self.causal, self.lambda_form = causal, lambda_form
        self.lambda_init = 0.8 - 0.6 * np.exp(-0.3 * depth)
        narrow, wide = heads * self.width, heads * 2 * self.width
        for name in ("q1", "k1", "q2", "k2"):
            weight = rng.standard_normal((d_model, narrow)) / np.sqrt(d_model)
            setattr(self, f"W_{name}", weight)
            vector = 0.1 * rng.standard_normal((heads, self.width))
            setattr(self, f"lambda_{name}", vector)
        self.W_v = rng.standard_normal((d_model, wide)) / np.sqrt(d_model)
        self.norm_weight = 1.0 + 0.1 * rng.standard_normal(2 * self.width)
        self.out_proj = rng.standard_normal((wide, d_model)) / np.sqrt(wide)

    def lam(self):
        vectors = (self.lambda_q1, self.lambda_k1, self.lambda_q2, self.lambda_k2)
        if self.lambda_form == "mean":
            return mean_lambda(*vectors)
        return published_lambda(*vectors, self.lambda_init)

    def forward(self, x):
        return forward(
            x, self.W_q1, self.W_k1, self.W_q2, self.W_k2, self.W_v, self.lam(),
            self.norm_weight, self.out_proj, lambda_init=self.lambda_init,
            causal=self.causal,
        )
