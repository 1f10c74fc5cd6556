"""The numpy oracle against values known from elsewhere: worked by hand, or met
by users of other implementations (the letters name the case)."""

import numpy as np
import pytest

from linattn import reference as ref


def one_d(T, value=1.0):
    """q = k = v of B = H = K = V = 1."""
    x = np.full((1, T, 1, 1), value)
    return x, x, x


def gates(*values):
    return np.array(values).reshape(1, -1, 1)


@pytest.mark.parametrize(
    "row, expected",
    [
        (lambda q, k, v, g: ref.gla(q, k, v, g[..., None]), 1.0003355752),
        (
            lambda q, k, v, g: ref.kda(q, k, v, g[..., None], np.full_like(g, 0.5)),
            0.5000838797,
        ),
    ],
)
def test_h1_strong_gates(row, expected):
    o, _ = row(*one_d(64), gates(*[-8.0] * 64))
    assert o[0, 63, 0, 0] == pytest.approx(expected, abs=5e-11)


def test_h1_channels_of_different_strength():
    # Channel 0 forgets by e^-8 a token, channel 1 sums up: o = (S0 + S1) / sqrt 2.
    x = np.ones((1, 64, 1, 2))
    g = np.zeros((1, 64, 1, 2))
    g[..., 0] = -8.0
    o, s = ref.gla(x, x, x[..., :1], g)
    fading = (1 - np.exp(-8.0 * 64)) / (1 - np.exp(-8.0))
    np.testing.assert_allclose(s[0, 0, :, 0], [fading, 64.0], rtol=1e-14)
    np.testing.assert_allclose(o[0, -1, 0, 0], (fading + 64) / np.sqrt(2), rtol=1e-14)


@pytest.mark.parametrize("gate", [-1000.0, -np.inf])
def test_h1_a_gate_that_forgets_all(gate):
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((2, 9, 3, 4)) for _ in range(3))
    beta = rng.random((2, 9, 3))
    now = v * np.sum(q * k, axis=-1, keepdims=True) / 2.0
    o, _ = ref.gla(q, k, v, np.full(k.shape, gate))
    np.testing.assert_allclose(o, now, rtol=1e-13)
    o, _ = ref.kda(q, k, v, np.full(k.shape, gate), beta)
    np.testing.assert_allclose(o, beta[..., None] * now, rtol=1e-13)


def test_h3_large_cumulative_gates():
    o, _ = ref.simple_gla(*one_d(64), gates(*[-1e4] * 32, *[-1e-3] * 32))
    assert o[0, 63, 0, 0] == pytest.approx(32.477673836, abs=5e-10)
    o, _ = ref.simple_gla(*one_d(256), gates(*[-1e7] * 128, *[-1e-3] * 128))
    assert o[0, 255, 0, 0] == pytest.approx(121.086557557, abs=5e-10)


def test_h4_deltaproduct_decays_once_per_token():
    q = np.ones((1, 1, 1, 1))
    k, v = np.ones((1, 1, 1, 2, 1)), np.zeros((1, 1, 1, 2, 1))
    beta = np.full((1, 1, 1, 2), 0.5)
    o, s = ref.deltaproduct(q, k, v, gates(np.log(0.5)), beta, np.full((1, 1, 1, 1), 8))
    # 8 -> 4 by the decay, then halved by each of the two updates.
    assert s.item() == pytest.approx(1.0, rel=1e-15)
    assert o.item() == pytest.approx(1.0, rel=1e-15)


@pytest.mark.parametrize("T", [1, 7, 50, 63, 64, 65])
def test_h4_gate_zero_is_deltanet(T):
    rng = np.random.default_rng(T)
    q, k, v = (rng.standard_normal((2, T, 2, 10)) for _ in range(3))
    k = ref.l2norm(k)
    beta = rng.random((2, T, 2))
    gated = ref.gated_deltanet(q, k, v, np.zeros_like(beta), beta)
    for a, b in zip(gated, ref.deltanet(q, k, v, beta)):
        np.testing.assert_array_equal(a, b)


def test_h5_a_repeated_key():
    rng = np.random.default_rng(1)
    k = np.broadcast_to(ref.l2norm(rng.standard_normal(4), eps=0.0), (1, 64, 1, 4))
    q = rng.standard_normal((1, 64, 1, 4))
    v = np.broadcast_to(np.arange(1.0, 65.0).reshape(1, 64, 1, 1), (1, 64, 1, 3))
    g, beta = np.zeros((1, 64, 1)), np.ones((1, 64, 1))
    o, _ = ref.gated_deltanet(q, k, v, g, beta)
    # With rate 1 the last value replaces what stood at the key.
    expected = np.sum(q * k, axis=-1, keepdims=True) / 2.0 * v
    np.testing.assert_allclose(o, expected, rtol=1e-12)
    o, _ = ref.gated_deltanet(k, k, 3.0 + 0 * v, g, 2 * beta, scale=1.0)
    np.testing.assert_allclose(o[0, :, 0, 0], [6.0, 0.0] * 32, atol=1e-11)


def test_h6_eps_is_added_to_the_sum():
    x = np.full(128, 1e-3)
    assert np.linalg.norm(ref.l2norm(x, eps=1e-6)) == pytest.approx(0.996116, abs=5e-7)
    zero = np.zeros((1, 3, 1, 8))
    s0 = np.random.default_rng(2).standard_normal((1, 1, 8, 8))
    ones = np.ones((1, 3, 1))
    o, s = ref.gated_deltanet(zero + 1, ref.l2norm(zero), zero + 1, 0 * ones, ones, s0)
    np.testing.assert_array_equal(s, s0)
    assert np.isfinite(o).all()


@pytest.mark.parametrize(
    "T, run, expected",
    [
        (33, lambda q, k, v, g: ref.simple_gla(q, k, v, g), 10.120751379),
        (
            33,
            lambda q, k, v, g: ref.gated_deltanet(q, k, v, g, np.full_like(g, 0.5)),
            0.913106434,
        ),
        (128, lambda q, k, v, g: ref.retnet(q, k, v, g[0, 0] / 2), 20.470097646),
    ],
)
def test_h9_final_state(T, run, expected):
    _, s = run(*one_d(T), gates(*[-0.1] * T))
    assert s.item() == pytest.approx(expected, abs=5e-10)


def test_h10_state_is_key_by_value():
    k = np.array([1.0, 0.0]).reshape(1, 1, 1, 2)
    v = np.array([1.0, 2.0]).reshape(1, 1, 1, 2)
    one = np.ones((1, 1, 1))
    _, s = ref.gated_deltanet(k, k, v, 0 * one, one)
    np.testing.assert_array_equal(s[0, 0], [[1.0, 2.0], [0.0, 0.0]])
    # An asymmetric start, read by the query alone: o = S^T q.
    s0 = np.array([[1.0, 2.0], [3.0, 4.0]]).reshape(1, 1, 2, 2)
    q = np.array([5.0, 7.0]).reshape(1, 1, 1, 2)
    o, _ = ref.linear_attention(q, 0 * k, v, s0, scale=1.0)
    np.testing.assert_array_equal(o[0, 0, 0], [5 + 21, 10 + 28])


def test_h14_grouped_heads():
    k = np.eye(2).reshape(1, 1, 2, 2)
    v = np.arange(1.0, 5.0).reshape(1, 1, 4, 1)
    one = np.ones((1, 1, 4))
    _, s = ref.gated_deltanet(k, k, v, 0 * one, one)
    np.testing.assert_array_equal(s[0, :, :, 0], [[1, 0], [2, 0], [0, 3], [0, 4]])


def test_h19_differential_pairs_before_grouping():
    q = np.ones((1, 2, 4, 1))
    # Two maps of one key head pair: (0, ln 3) and (0, 0).
    k = np.array([[0.0, 0.0], [np.log(3.0), 0.0]]).reshape(1, 2, 2, 1)
    v = np.array([[1.0, 0.5], [0.0, 0.25]]).reshape(1, 2, 1, 2)
    (o,) = ref.diff_attention_v1(q, k, v, 0.2, causal=True, scale=1.0)
    np.testing.assert_allclose(o[0, 1], [[0.15, 0.2375]] * 2, rtol=1e-14)


def test_h20_differential_pairs_are_neighbours():
    q = np.ones((1, 2, 4, 1))
    k = np.zeros((1, 2, 2, 1))
    v = np.array([[1.0, 10.0], [3.0, 30.0]]).reshape(1, 2, 2, 1)
    (o,) = ref.diff_attention_v2(q, k, v, np.zeros((1, 2, 2)), causal=True)
    np.testing.assert_allclose(o[0, 1, :, 0], [1.0, 10.0], rtol=1e-14)
