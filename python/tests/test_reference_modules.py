"""The two reference modules against the rows of the oracle: each is written on
its own, so that agreement means something."""

import numpy as np
import pytest

from linattn import reference as ref


def close(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("with_state", [False, True])
def test_gated_deltanet(reference_module, with_state):
    layer = reference_module("gated_deltanet").GatedDeltaNet(12, 24, 4)
    rng = np.random.default_rng(5)
    x = rng.standard_normal((2, 9, 12))
    s0 = rng.standard_normal((2, 4, 6, 6)) if with_state else None
    y, sT = layer.forward(x, s0)
    query, key, value, gate, beta = (
        (x @ getattr(layer, f"W_{name}")).reshape(2, 9, 4, 6)
        for name in ("query", "key", "value", "gate", "beta")
    )
    alpha = x @ layer.W_alpha
    o, s = ref.gated_deltanet(
        ref.l2norm(query) / np.sqrt(6),
        ref.l2norm(key),
        value,
        -np.exp(layer.A_log) * ref.softplus(alpha + layer.dt_bias),
        ref.sigmoid(beta),
        s0,
        scale=1.0,
    )
    close(sT, s)
    o = ref.rms_norm(o, layer.norm_weight, 1e-6) * ref.silu(gate)
    close(y, o.reshape(2, 9, 24) @ layer.out_proj)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("lambda_form", ["published", "mean"])
def test_differential_attention(reference_module, causal, lambda_form):
    module = reference_module("differential_attention")
    layer = module.DifferentialAttention(
        16, 2, depth=3, causal=causal, lambda_form=lambda_form
    )
    x = np.random.default_rng(6).standard_normal((2, 7, 16))
    q1, k1, q2, k2, v = (
        (x @ getattr(layer, f"W_{name}")).reshape(2, 7, 2, -1)
        for name in ("q1", "k1", "q2", "k2", "v")
    )
    q, k = (
        np.stack(pair, axis=3).reshape(2, 7, 4, 4) for pair in ((q1, q2), (k1, k2))
    )
    (o,) = ref.diff_attention_v1(
        q,
        k,
        v,
        layer.lam(),
        causal=causal,
        norm_weight=layer.norm_weight,
        output_scale=1 - layer.lambda_init,
    )
    close(layer.forward(x), o.reshape(2, 7, 16) @ layer.out_proj)
    lambdas = (layer.lambda_q1, layer.lambda_k1, layer.lambda_q2, layer.lambda_k2)
    if lambda_form == "published":
        close(layer.lam(), ref.diff_lambda(*lambdas, 0.8 - 0.6 * np.exp(-0.9)))
    else:
        pairs = lambdas[0] @ lambdas[1].T - lambdas[2] @ lambdas[3].T
        close(layer.lam(), np.full(2, np.exp(pairs).mean()))


def test_dropout_is_refused_by_name(reference_module):
    module = reference_module("differential_attention")
    with pytest.raises(ValueError, match="dropout inside attention"):
        module.DifferentialAttention(16, 2, dropout=0.1)
