"""Softmax attention and its differential forms, by the definition: all scores
of a sequence at once."""

import numpy as np

from .functions import expand_heads, f64, rms_norm, sigmoid


def allowed_keys(queries, keys, causal, window):
    """bool [queries, keys]. Query t stands at position t + keys - queries: the
    last query sees the last key."""
    t = np.arange(queries)[:, None] + keys - queries
    s = np.arange(keys)[None, :]
    allowed = np.ones((queries, keys), dtype=bool)
    if causal:
        allowed &= s <= t
    if window is not None:
        allowed &= s > t - window
        if not causal:
            allowed &= s < t + window
    return allowed


def attend(sequence, q, k, v, scale, causal, window, score):
    """One sequence: q [T, H, D], k [S, H, D], v [S, H, E] -> o, lse."""
    queries, keys, heads = q.shape[0], k.shape[0], q.shape[1]
    s = scale * np.einsum("thd,shd->hts", q, k)
    if score is not None:
        s = score(
            s,
            sequence,
            np.arange(heads)[:, None, None],
            np.arange(queries)[None, :, None],
            np.arange(keys)[None, None, :],
        )
    s = np.where(allowed_keys(queries, keys, causal, window), s, -np.inf)
    top = np.max(s, axis=-1, initial=-np.inf)
    # A row without keys has no maximum: any finite one gives sum 0.
    safe = np.where(top == -np.inf, 0.0, top)
    weights = np.exp(s - safe[..., None])
    total = weights.sum(axis=-1)
    with np.errstate(divide="ignore"):
        lse = safe + np.log(total)
    weights = weights / np.where(total == 0.0, 1.0, total)[..., None]
    return np.einsum("hts,shd->thd", weights, v), lse.T


def softmax_attention(
    q,
    k,
    v,
    *,
    scale=None,
    causal=False,
    window=None,
    score=None,
    cu_seqlens=None,
    cu_seqlens_k=None,
    return_lse=False,
):
    """o_t = sum_s softmax_s(scale q_t . k_s) v_s over the allowed s.

    q [B, T, H, D], k [B, S, Hkv, D], v [B, S, Hkv, E]; packed [T, H, D] with
    cu_seqlens (of the keys too, unless cu_seqlens_k is given).
    score: maps (s [H, T, S], sequence, head, query, key) to the score that enters
      the softmax, after scale; it may give -inf.
    A row without keys gives o = 0 and lse = -inf. lse is [B, T, H].
    """
    q, k, v = f64(q), f64(k), f64(v)
    heads = q.shape[-2]
    k, v = (expand_heads(x, heads, axis=-2) for x in (k, v))
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    o = np.zeros((*q.shape[:-1], v.shape[-1]))
    lse = np.full(q.shape[:-1], -np.inf)
    if cu_seqlens is None:
        parts = [(n, n) for n in range(q.shape[0])]
    else:
        cu_k = cu_seqlens if cu_seqlens_k is None else cu_seqlens_k
        parts = [
            (slice(*cu_seqlens[n : n + 2]), slice(*cu_k[n : n + 2]))
            for n in range(len(cu_seqlens) - 1)
        ]
    for n, (mine, theirs) in enumerate(parts):
        o[mine], lse[mine] = attend(
            n, q[mine], k[theirs], v[theirs], scale, causal, window, score
        )
    return (o, lse) if return_lse else (o,)


def diff_lambda(lq1, lk1, lq2, lk2, lambda_init):
    """exp(lq1 . lk1) - exp(lq2 . lk2) + lambda_init over the last axis"""
    dot1 = np.sum(f64(lq1) * lk1, axis=-1)
    dot2 = np.sum(f64(lq2) * lk2, axis=-1)
    return np.exp(dot1) - np.exp(dot2) + lambda_init


def diff_attention_v1(
    q, k, v, lam, *, norm_weight=None, eps=1e-5, output_scale=None, **attention
):
    """o = (softmax(q1 k1) - lam softmax(q2 k2)) V, V of width 2D

    q [.., 2H, D], k [.., 2Hkv, D], v [.., Hkv, 2D]; map m of head h has query
    head 2h + m, key head 2 (h // (H / Hkv)) + m, value head h // (H / Hkv).
    lam broadcasts to [.., H]. norm_weight [2D]: then RMSNorm over 2D;
    output_scale (1 - lambda_init in the paper) comes last."""
    q, k, v = f64(q), f64(k), f64(v)
    heads, kv_heads = q.shape[-2] // 2, v.shape[-2]
    if (q.shape[-2], k.shape[-2]) != (2 * heads, 2 * kv_heads) or heads % kv_heads:
        raise ValueError("diff_attention_v1: q and k have two heads per map")
    # One softmax attention over the 2H query heads, each with its own keys.
    h, m = np.divmod(np.arange(2 * heads), 2)
    group = h // (heads // kv_heads)
    A = softmax_attention(
        q, k[..., 2 * group + m, :], v[..., group, :], **attention
    )[0]
    o = A[..., 0::2, :] - f64(lam)[..., None] * A[..., 1::2, :]
    if norm_weight is not None:
        o = rms_norm(o, norm_weight, eps)
    return (o if output_scale is None else output_scale * o,)


def diff_attention_v2(q, k, v, l, **attention):
    """o_h = A_2h - sigmoid(l_h) A_2h+1,  A = softmax attention

    q [.., 2H, D], k, v [.., Hkv, D]; query heads 2h and 2h + 1 belong to one
    key/value head; l [.., H]."""
    A = softmax_attention(q, k, v, **attention)[0]
    return (A[..., 0::2, :] - sigmoid(l)[..., None] * A[..., 1::2, :],)
