"""A whole differential attention layer (version 1): linear maps, lambda from its
vectors (the published form, or the mean over all pairs of heads), attention with its
norm, the output map."""

import linattn
import numpy as np


def published_lambda(lq1, lk1, lq2, lk2, lambda_init):
    """exp(lq1 . lk1) - exp(lq2 . lk2) + lambda_init per head"""
    first, second = np.sum(lq1 * lk1, axis=-1), np.sum(lq2 * lk2, axis=-1)
    return np.exp(first) - np.exp(second) + lambda_init


def mean_lambda(lq1, lk1, lq2, lk2):
    """The mean of exp(lq1_i . lk1_j - lq2_i . lk2_j) over all heads i, j."""
    value = np.mean(np.exp(lq1 @ lk1.T - lq2 @ lk2.T))
    return np.full(len(lq1), value)


class DifferentialAttention:
    """The layer in f32; `parameters` as the numpy reference names them."""

    def __init__(self, parameters, heads, *, causal=True, lambda_init=0.2,
                 lambda_form="published", dropout=0.0):
        if dropout:
            raise ValueError("DifferentialAttention: there is no dropout inside attention")
        self.p = {n: np.asarray(a, np.float32) for n, a in parameters.items()}
        self.heads = heads
        vectors = [self.p[f"lambda_{n}"] for n in ("q1", "k1", "q2", "k2")]
        lam = (
            mean_lambda(*vectors) if lambda_form == "mean"
            else published_lambda(*vectors, lambda_init)
        )
        self.lam = lam.astype(np.float32)
        self.op = linattn.diff_attention(
            "v1", causal=causal, norm=True, eps=1e-5, output_scale=1 - lambda_init,
            target="cpu",
        )

    def __call__(self, x):
        p, lead = self.p, x.shape[:-1]

        def two_maps(name):
            """Map m of head h is head 2 h + m."""
            halves = [(x @ p[f"W_{name}{i}"]).reshape(*lead, self.heads, 1, -1) for i in "12"]
            return np.concatenate(halves, axis=-2).reshape(*lead, 2 * self.heads, -1)

        v = (x @ p["W_v"]).reshape(*lead, self.heads, -1)
        o = self.op(two_maps("q"), two_maps("k"), v, self.lam, p["norm_weight"])
        return o.reshape(*lead, -1) @ p["out_proj"]


def random_parameters(d_model, heads, width, seed=0):
    rng = np.random.default_rng(seed)
    found = {}
    for name in ("q1", "k1", "q2", "k2"):
        found[f"W_{name}"] = rng.standard_normal((d_model, heads * width)) / d_model**0.5
        found[f"lambda_{name}"] = 0.1 * rng.standard_normal((heads, width))
    wide = 2 * heads * width
    found["W_v"] = rng.standard_normal((d_model, wide)) / d_model**0.5
    found["norm_weight"] = 1.0 + 0.1 * rng.standard_normal(2 * width)
    found["out_proj"] = rng.standard_normal((wide, d_model)) / wide**0.5
    return found


if __name__ == "__main__":
    layer = DifferentialAttention(random_parameters(32, 2, 8), heads=2)
    x = np.random.default_rng(1).standard_normal((2, 30, 32)).astype(np.float32)
    changed = x.copy()
    changed[:, 20:] = 0
    same = np.array_equal(layer(x)[:, :20], layer(changed)[:, :20])
    print(f"later tokens change earlier outputs: {not same}")
    raise SystemExit(int(not same))
