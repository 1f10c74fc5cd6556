"""One function per recurrence, in its paper's names. `s0` is the initial state
(None: zero); every function returns the outputs, then the final states. Other
keywords (cu_seqlens, slots, snapshots, ...) go to `scan`."""

import numpy as np

from .functions import expand_heads, f64, softplus
from .scan import scan


def read(S, x):
    """S^T x"""
    return np.einsum("...kv,...k->...v", S, x)


def outer(k, u):
    """k u^T"""
    return k[..., :, None] * u[..., None, :]


def decay(S, g):
    """e^g S for one g per head, Diag(e^g) S for g over K."""
    factor = np.exp(g)
    return (factor[..., None, None] if g.ndim == S.ndim - 2 else factor[..., None]) * S


def per_channel(rate, v):
    """A rate per head, or one that is already over V."""
    return rate[..., None] if rate.ndim == v.ndim - 1 else rate


def sizes(k, v):
    return np.shape(k)[-1], np.shape(v)[-1]


def default_scale(scale, k):
    return np.shape(k)[-1] ** -0.5 if scale is None else scale


def linear_attention(q, k, v, s0=None, *, scale=None, **sequences):
    """S += k v^T;  o = scale S^T q"""
    scale = default_scale(scale, k)

    def step(S, q, k, v):
        S = S + outer(k, v)
        return scale * read(S, q), S

    return scan(step, [q, k, v], [(s0, sizes(k, v))], **sequences)


def normalized_linear_attention(q, k, v, s0=None, z0=None, **sequences):
    """S += k v^T;  z += k;  o = S^T q / (z . q)"""

    def step(S, z, q, k, v):
        S = S + outer(k, v)
        z = z + k[..., None]
        return read(S, q) / read(z, q), S, z

    states = [(s0, sizes(k, v)), (z0, (np.shape(k)[-1], 1))]
    return scan(step, [q, k, v], states, **sequences)


def retnet(q, k, v, g, s0=None, *, scale=None, **sequences):
    """S = e^{g_h} S + k v^T, g a parameter per head"""
    scale = default_scale(scale, k)
    heads = max(np.shape(x)[-2] for x in (q, k, v))
    g = expand_heads(f64(g), heads, axis=0)

    def step(S, q, k, v):
        S = decay(S, np.broadcast_to(g, S.shape[:2])) + outer(k, v)
        return scale * read(S, q), S

    return scan(step, [q, k, v], [(s0, sizes(k, v))], **sequences)


def simple_gla(q, k, v, g, s0=None, *, scale=None, **sequences):
    """S = e^g S + k v^T"""
    scale = default_scale(scale, k)

    def step(S, q, k, v, g):
        S = decay(S, g) + outer(k, v)
        return scale * read(S, q), S

    return scan(step, [q, k, v, g], [(s0, sizes(k, v))], **sequences)


def gla(q, k, v, g, s0=None, **sequences):
    """S = Diag(e^g) S + k v^T, g over K"""
    if np.ndim(g) != np.ndim(k):
        raise ValueError("gla: g has a value per key channel")
    return simple_gla(q, k, v, g, s0, **sequences)


def mamba2(x, dt, B, C, A_log, dt_bias, D, s0=None, **sequences):
    """dt' = softplus(dt + dt_bias);  S = e^{-exp(A_log) dt'} S + B (dt' x)^T;
    y = S^T C + D x"""
    heads = np.shape(x)[-2]
    A_log, dt_bias, D = (
        expand_heads(f64(p), heads, axis=0) for p in (A_log, dt_bias, D)
    )

    def step(S, x, dt, B, C):
        rate = softplus(dt + dt_bias)
        S = decay(S, -np.exp(A_log) * rate) + outer(B, rate[..., None] * x)
        return read(S, C) + D[:, None] * x, S

    return scan(step, [x, dt, B, C], [(s0, sizes(B, x))], **sequences)


def deltanet(q, k, v, beta, s0=None, *, scale=None, **sequences):
    """S += beta k (v - S^T k)^T"""
    scale = default_scale(scale, k)

    def step(S, q, k, v, beta):
        S = S + outer(k, per_channel(beta, v) * (v - read(S, k)))
        return scale * read(S, q), S

    return scan(step, [q, k, v, beta], [(s0, sizes(k, v))], **sequences)


def gated_deltanet(q, k, v, g, beta, s0=None, *, scale=None, **sequences):
    """S = e^g S;  S += k (beta (v - S^T k))^T;  beta per head, or over V"""
    scale = default_scale(scale, k)

    def step(S, q, k, v, g, beta):
        S = decay(S, g)
        S = S + outer(k, per_channel(beta, v) * (v - read(S, k)))
        return scale * read(S, q), S

    return scan(step, [q, k, v, g, beta], [(s0, sizes(k, v))], **sequences)


def kda(q, k, v, g, beta, s0=None, **sequences):
    """S = Diag(e^g) S;  S += beta k (v - S^T k)^T"""
    if np.ndim(g) != np.ndim(k):
        raise ValueError("kda: g has a value per key channel")
    return gated_deltanet(q, k, v, g, beta, s0, **sequences)


def deltaproduct(q, k, v, g, beta, s0=None, *, scale=None, **sequences):
    """S = e^g S;  for i: S += beta_i k_i (v_i - S^T k_i)^T

    k [.., H, n, K], v [.., H, n, V], beta [.., H, n]; g None: no decay."""
    scale = default_scale(scale, k)
    updates = np.shape(k)[-2]
    if g is None:
        g = np.zeros(np.shape(beta)[:-1])

    def step(S, q, k, v, g, beta):
        S = decay(S, g)
        for i in range(updates):
            ki, vi = k[..., i, :], v[..., i, :]
            S = S + outer(ki, beta[..., i, None] * (vi - read(S, ki)))
        return scale * read(S, q), S

    return scan(step, [q, k, v, g, beta], [(s0, sizes(k, v))], **sequences)


def gdn2(q, k, v, g, b, w, s0=None, *, scale=None, **sequences):
    """S = Diag(e^g) S;  S += k (w o v - S^T (b o k))^T;  b over K, w over V"""
    scale = default_scale(scale, k)

    def step(S, q, k, v, g, b, w):
        S = decay(S, g)
        S = S + outer(k, w * v - read(S, b * k))
        return scale * read(S, q), S

    return scan(step, [q, k, v, g, b, w], [(s0, sizes(k, v))], **sequences)


def comba(
    q, k, v, p, g, beta, beta_p, s0=None, *, scale=None, decayed=False, **sequences
):
    """r = S^T p;  S = e^g S + k (beta v - beta_p r)^T

    decayed: r is read from e^g S instead."""
    scale = default_scale(scale, k)

    def step(S, q, k, v, p, g, beta, beta_p):
        r = read(decay(S, g) if decayed else S, p)
        u = per_channel(beta, v) * v - per_channel(beta_p, v) * r
        S = decay(S, g) + outer(k, u)
        return scale * read(S, q), S

    tokens = [q, k, v, p, g, beta, beta_p]
    return scan(step, tokens, [(s0, sizes(k, v))], **sequences)


def rwkv7(q, w, k, v, a, b, r, s0=None, **sequences):
    """u = S^T a;  S = Diag(e^w) S + b u^T + k v^T;
    o = S^T q + (sum_i q_i k_i r_i) v,  r a parameter per head and channel"""
    heads = max(np.shape(x)[-2] for x in (q, w, k, v, a, b))
    r = expand_heads(f64(r), heads, axis=0)

    def step(S, q, w, k, v, a, b):
        S = decay(S, w) + outer(b, read(S, a)) + outer(k, v)
        bonus = np.sum(q * k * r, axis=-1, keepdims=True)
        return read(S, q) + bonus * v, S

    return scan(step, [q, w, k, v, a, b], [(s0, sizes(k, v))], **sequences)
