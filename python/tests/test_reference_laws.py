"""Laws that the rows of the numpy oracle obey among themselves: one operator
inside another, cut runs, packed runs, pools, and softmax by its definition."""

import numpy as np
import pytest

from linattn import reference as ref

RNG = np.random.default_rng(3)
B, T, H, K, V = 2, 11, 4, 5, 3


def normal(*shape):
    return RNG.standard_normal(shape)


def inputs(B=B, T=T):
    q, k, v = normal(B, T, 2, K), ref.l2norm(normal(B, T, 2, K)), normal(B, T, H, V)
    g = -np.abs(normal(B, T, H))
    beta = RNG.random((B, T, H))
    return q, k, v, g, beta, normal(B, H, K, V)


def over(x, n):
    return np.broadcast_to(x[..., None], (*x.shape, n))


def close(actual, expected):
    for a, e in zip(actual, expected, strict=True):
        np.testing.assert_allclose(a, e, rtol=1e-12, atol=1e-13)


def repeated(x):
    return ref.expand_heads(x, H, axis=2)


def test_delta_rules_contain_each_other():
    q, k, v, g, beta, s0 = inputs()
    expected = ref.gated_deltanet(q, k, v, g, beta, s0)
    close(ref.gated_deltanet(q, k, v, g, over(beta, V), s0), expected)
    close(ref.kda(q, repeated(k), v, over(g, K), beta, s0), expected)
    one = ref.deltaproduct(
        q, k[..., None, :], v[..., None, :], g, beta[..., None], s0
    )
    close(one, expected)
    gdn2 = ref.gdn2(q, k, v, over(g, K), over(beta, K), over(beta, V), s0)
    close(gdn2, expected)
    close(ref.comba(q, k, v, k, g, beta, beta, s0, decayed=True), expected)
    # Undecayed reads see e^g less.
    close(ref.comba(q, k, v, k, g, beta, beta * np.exp(g), s0), expected)


def test_rwkv7_contains_kda():
    q, k, v, g, beta, s0 = inputs()
    k, w = repeated(k), over(g, K)
    expected = ref.kda(q, k, v, w, beta, s0, scale=1.0)
    # S + beta k (v - S'^T k)^T with S' = Diag(e^w) S: the read moves before it.
    rwkv7 = ref.rwkv7(
        q, w, over(beta, K) * k, v, np.exp(w) * k, -over(beta, K) * k, np.zeros((H, K)), s0
    )
    close(rwkv7, expected)
    r = normal(H, K)
    with_bonus = ref.rwkv7(q, w, k, v, 0 * w, 0 * w, r, s0)
    plain = ref.gla(q, k, v, w, s0, scale=1.0)
    bonus = np.sum(repeated(q) * k * r, axis=-1, keepdims=True) * v
    close(with_bonus, (plain[0] + bonus, plain[1]))


def test_linear_rows_contain_each_other():
    q, k, v, g, _, s0 = inputs()
    close(ref.gla(q, repeated(k), v, over(g, K), s0), ref.simple_gla(q, k, v, g, s0))
    per_head = g[0, 0]
    constant = np.broadcast_to(per_head, g.shape)
    expected = ref.simple_gla(q, k, v, constant, s0)
    close(ref.retnet(q, k, v, per_head, s0), expected)
    close(ref.linear_attention(q, k, v, s0), ref.simple_gla(q, k, v, 0 * g, s0))


def test_mamba2_is_a_scalar_decay():
    C, Bk, x, dt, _, s0 = inputs()
    A_log, bias, D = normal(H), normal(H), normal(H)
    rate = np.log1p(np.exp(dt + bias))
    o, s = ref.simple_gla(
        C, Bk, rate[..., None] * x, -np.exp(A_log) * rate, s0, scale=1.0
    )
    expected = (o + D[:, None] * x, s)
    close(ref.mamba2(x, dt, Bk, C, A_log, bias, D, s0), expected)


def test_normalized_linear_attention_is_a_mean():
    # With q = k = 1 every value has the same weight.
    v = normal(B, T, H, V)
    ones = np.ones((B, T, H, K))
    o, _, z = ref.normalized_linear_attention(ones, ones, v)
    count = np.arange(1, T + 1).reshape(1, T, 1, 1)
    np.testing.assert_allclose(o, np.cumsum(v, axis=1) / count, rtol=1e-12)
    np.testing.assert_array_equal(z, np.full((B, H, K, 1), T))


def test_first_token_by_hand():
    q, k, v, g, beta, s0 = inputs(T=1)
    o, s = ref.gated_deltanet(q, k, v, g, beta, s0)
    for b in range(B):
        for h in range(H):
            S = np.exp(g[b, 0, h]) * s0[b, h]
            key, query = k[b, 0, h // 2], q[b, 0, h // 2]
            S = S + np.outer(key, beta[b, 0, h] * (v[b, 0, h] - S.T @ key))
            np.testing.assert_allclose(s[b, h], S, rtol=1e-13)
            np.testing.assert_allclose(o[b, 0, h], S.T @ query / K**0.5, rtol=1e-12)


@pytest.mark.parametrize("cut", [0, 1, 5, T])
def test_a_cut_run_goes_on(cut):
    q, k, v, g, beta, s0 = inputs()
    whole = ref.gated_deltanet(q, k, v, g, beta, s0)
    first = [x[:, :cut] for x in (q, k, v, g, beta)]
    rest = [x[:, cut:] for x in (q, k, v, g, beta)]
    o1, s1 = ref.gated_deltanet(*first, s0)
    o2, s2 = ref.gated_deltanet(*rest, s1)
    close((np.concatenate([o1, o2], axis=1), s2), whole)


def test_packed_sequences_run_alone():
    cu = [0, 0, 4, 4, 9]  # two empty ones; two rows beyond the end
    q, k, v, g, beta, _ = (x[0] for x in inputs(B=1))
    s0 = normal(4, H, K, V)
    tokens = (q, k, v, g, beta)
    o, s, snap, ends = (
        *ref.gated_deltanet(*tokens, s0, cu_seqlens=cu),
        ref.gated_deltanet(*tokens, s0, cu_seqlens=cu, snapshots="token")[2],
        ref.gated_deltanet(*tokens, s0, cu_seqlens=cu, snapshots=3)[2],
    )
    assert snap.shape == (T, H, K, V) and ends.shape == (T // 3 + 4, H, K, V)
    for n, (lo, hi) in enumerate(zip(cu, cu[1:])):
        alone = ref.gated_deltanet(
            *(x[None, lo:hi] for x in tokens), s0[n : n + 1], snapshots=1
        )
        close((o[lo:hi], s[n], snap[lo:hi]), [x[0] for x in alone])
        rows = ref.gated_deltanet(
            *(x[None, lo:hi] for x in tokens), s0[n : n + 1], snapshots=3
        )[2][0]
        start = lo // 3 + n
        close([ends[start : start + len(rows)]], [rows])
    np.testing.assert_array_equal(s[0], s0[0])
    np.testing.assert_array_equal(o[9:], 0.0)
    np.testing.assert_array_equal(
        ref.written_rows(None, T, cu), np.arange(T) < 9
    )


def test_a_pool_with_padding():
    q, k, v, g, beta, _ = inputs(B=4, T=1)
    pool = normal(4, H, K, V)
    slots = [2, -1, 0, -1]
    o, after = ref.gated_deltanet(q, k, v, g, beta, pool, slots=slots)
    np.testing.assert_array_equal(after[[1, 3]], pool[[1, 3]])
    for n in (0, 2):
        one = [x[n : n + 1] for x in (q, k, v, g, beta)]
        alone = ref.gated_deltanet(*one, pool[slots[n]][None])
        close((o[n], after[slots[n]]), [x[0] for x in alone])
    mask = ref.written_rows(4, 1, slots=slots)
    np.testing.assert_array_equal(mask[:, 0], [True, False, True, False])


def test_no_token_no_change():
    q, k, v, g, beta, s0 = inputs(T=0)
    o, s = ref.gated_deltanet(q, k, v, g, beta, s0)
    assert o.shape == (B, 0, H, V)
    np.testing.assert_array_equal(s, s0)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("window", [None, 3])
@pytest.mark.parametrize("T, S", [(7, 7), (4, 7), (7, 4), (1, 6), (3, 0)])
@pytest.mark.parametrize("capped", [False, True])
def test_softmax_by_definition(causal, window, T, S, capped):
    q, k, v = normal(B, T, 4, K), normal(B, S, 2, K), normal(B, S, 2, V)
    bias = normal(B, 4, T, S)

    def score(s, b, h, t, j):
        return 2.0 * np.tanh(s / 2.0) + bias[b, h, t, j]

    o, lse = ref.softmax_attention(
        q, k, v, scale=0.7, causal=causal, window=window,
        score=score if capped else None, return_lse=True,
    )
    for b, t, h in np.ndindex(B, T, 4):
        p = t + S - T
        scores, values = [], []
        for j in range(S):
            if causal and j > p:
                continue
            if window and not p - window < j:
                continue
            if window and not causal and not j < p + window:
                continue
            s = 0.7 * q[b, t, h] @ k[b, j, h // 2]
            if capped:
                s = 2.0 * np.tanh(s / 2.0) + bias[b, h, t, j]
            scores.append(s)
            values.append(v[b, j, h // 2])
        if not scores:
            assert lse[b, t, h] == -np.inf
            np.testing.assert_array_equal(o[b, t, h], 0.0)
            continue
        weights = np.exp(scores)
        np.testing.assert_allclose(lse[b, t, h], np.log(weights.sum()), rtol=1e-12)
        mean = weights @ np.array(values) / weights.sum()
        np.testing.assert_allclose(o[b, t, h], mean, rtol=1e-11, atol=1e-12)


def test_softmax_of_large_scores():
    q = np.array([1000.0, -1000.0]).reshape(1, 2, 1, 1)
    k, v = q, np.array([1.0, 5.0]).reshape(1, 2, 1, 1)
    o, lse = ref.softmax_attention(q, k, v, scale=1.0, return_lse=True)
    np.testing.assert_array_equal(o[0, :, 0, 0], [1.0, 5.0])
    np.testing.assert_array_equal(lse[0, :, 0], [1e6, 1e6])


def test_packed_attention_runs_alone():
    cu, cu_k = [0, 0, 4, 7], [0, 2, 2, 9]
    q, k, v = normal(8, 4, K), normal(10, 2, K), normal(10, 2, V)
    o, lse = ref.softmax_attention(
        q, k, v, causal=True, cu_seqlens=cu, cu_seqlens_k=cu_k, return_lse=True
    )
    for n in range(3):
        mine, theirs = slice(*cu[n : n + 2]), slice(*cu_k[n : n + 2])
        alone = ref.softmax_attention(
            q[None, mine], k[None, theirs], v[None, theirs], causal=True,
            return_lse=True,
        )
        close((o[mine], lse[mine]), [x[0] for x in alone])
    # The second sequence has queries and no keys.
    np.testing.assert_array_equal(o[:4], 0.0)


def test_differential_v1_is_two_attentions():
    heads, kv = 4, 2
    q, k = normal(B, T, 2 * heads, K), normal(B, T, 2 * kv, K)
    v, lam, weight = normal(B, T, kv, 2 * K), normal(heads), normal(2 * K)
    (o,) = ref.diff_attention_v1(
        q, k, v, lam, causal=True, norm_weight=weight, output_scale=0.4
    )
    for h in range(heads):
        maps = []
        for m in (0, 1):
            qm, km = q[:, :, 2 * h + m], k[:, :, 2 * (h // 2) + m]
            maps.append(
                ref.softmax_attention(
                    qm[:, :, None], km[:, :, None], v[:, :, h // 2, None], causal=True
                )[0][:, :, 0]
            )
        y = maps[0] - lam[h] * maps[1]
        y = y / np.sqrt(np.mean(y * y, axis=-1, keepdims=True) + 1e-5) * weight * 0.4
        np.testing.assert_allclose(o[:, :, h], y, rtol=1e-11, atol=1e-13)


def test_differential_v2_is_attention_minus_attention():
    q, k, v, l = normal(B, T, 8, K), normal(B, T, 2, K), normal(B, T, 2, V), normal(B, T, 4)
    A, _ = ref.softmax_attention(q, k, v, window=4, return_lse=True)
    expected = A[:, :, 0::2] - A[:, :, 1::2] / (1 + np.exp(-l))[..., None]
    close(ref.diff_attention_v2(q, k, v, l, window=4), (expected,))


@pytest.mark.parametrize("activation", [None, "silu"])
def test_short_conv_by_definition(activation):
    C, W = 3, 4
    x, weight, bias = normal(B, T, C), normal(C, W), normal(C)
    window = normal(B, C, W - 1)
    y, after = ref.short_conv(x, weight, bias, window, activation=activation)
    for b, t, c in np.ndindex(B, T, C):
        total = bias[c]
        for i in range(W):
            at = t - W + 1 + i
            total += weight[c, i] * (x[b, at, c] if at >= 0 else window[b, c, at])
        if activation:
            total = total / (1 + np.exp(-total))
        np.testing.assert_allclose(y[b, t, c], total, rtol=1e-12)
    np.testing.assert_array_equal(after, np.swapaxes(x[:, T - W + 1 :], 1, 2))
    cut = 2  # shorter than the window
    y1, w1 = ref.short_conv(x[:, :cut], weight, bias, window, activation=activation)
    y2, w2 = ref.short_conv(x[:, cut:], weight, bias, w1, activation=activation)
    close((np.concatenate([y1, y2], axis=1), w2), (y, after))


def test_short_conv_packed():
    x, weight, cu = normal(9, 3), normal(3, 2), [0, 4, 4, 8]
    window = normal(3, 3, 1)
    y, after = ref.short_conv(x, weight, window=window, cu_seqlens=cu)
    for n, (lo, hi) in enumerate(zip(cu, cu[1:])):
        alone = ref.short_conv(x[None, lo:hi], weight, window=window[n : n + 1])
        close((y[lo:hi], after[n]), [a[0] for a in alone])
    np.testing.assert_array_equal(after[1], window[1])


def test_functions_do_not_overflow():
    x = np.array([-1e4, -30.0, 0.0, 30.0, 1e4])
    with np.errstate(over="raise"):
        np.testing.assert_allclose(ref.sigmoid(x), [0, np.exp(-30) / (1 + np.exp(-30)), 0.5, 1, 1], rtol=1e-12)
        np.testing.assert_allclose(ref.softplus(x), [0, np.log1p(np.exp(-30)), np.log(2), 30, 1e4], rtol=1e-12)
        np.testing.assert_allclose(ref.elu(x)[[0, 2, 4]], [-1, 0, 1e4])


def test_heads_that_do_not_divide():
    with pytest.raises(ValueError, match="3 heads do not divide 4 heads"):
        ref.linear_attention(normal(1, 2, 4, 2), normal(1, 2, 3, 2), normal(1, 2, 4, 2))
