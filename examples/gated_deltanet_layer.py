"""A whole Gated DeltaNet layer: linear maps, then one recurrence from the raw
projections to the normalised, gated output, then the output map.

q = l2norm(W_query x) / sqrt(D), k = l2norm(W_key x), beta = sigmoid(W_beta x) over V,
g = -exp(A_log) softplus(W_alpha x + dt_bias);
S = e^g S; S += k (beta (v - S^T k))^T; y = RMSNorm(S^T q) silu(W_gate x); out_proj."""

import linattn
import numpy as np
from linattn import Param, Token


@linattn.recurrence
def gated_deltanet_core(
    S, query: Token["K"], key: Token["K"], value: Token["V"], gate: Token["V"],
    beta: Token["V"], alpha: Token(), A_log: Param(), dt_bias: Param(),
    norm_weight: Param["V"],
):
    q = linattn.l2norm(query) * S.K**-0.5
    k = linattn.l2norm(key)
    dt = linattn.softplus(alpha + dt_bias)
    S = S.decay(-(linattn.exp(A_log) * dt))
    S = S.delta_update(k, value, linattn.sigmoid(beta))
    o = S.read(q)
    norm = linattn.rsqrt(linattn.sum(o * o) * (1 / S.V) + 1e-6)
    return o * norm * norm_weight * linattn.silu(gate), S


class GatedDeltaNet:
    """The layer in f32; `parameters` as the numpy reference names them."""

    def __init__(self, parameters, heads):
        self.p = {n: np.asarray(a, np.float32) for n, a in parameters.items()}
        self.heads, width = heads, len(parameters["norm_weight"])
        self.op = linattn.compile(gated_deltanet_core, K=width, V=width, target="cpu")

    def __call__(self, x, state=None):
        p, shape = self.p, (*x.shape[:-1], self.heads, -1)
        maps = ("query", "key", "value", "gate", "beta")
        raw = [(x @ p[f"W_{name}"]).reshape(shape) for name in maps]
        # One norm weight for all heads: a parameter of one head.
        y, state = self.op(
            *raw, x @ p["W_alpha"], p["A_log"], p["dt_bias"], p["norm_weight"][None],
            initial_state=state,
        )
        return y.reshape(*x.shape[:-1], -1) @ p["out_proj"], state


def random_parameters(d_in, d_out, heads, seed=0):
    rng, width = np.random.default_rng(seed), d_out // heads
    names = ("query", "key", "value", "gate", "beta")
    found = {f"W_{n}": rng.standard_normal((d_in, d_out)) / d_in**0.5 for n in names}
    found["W_alpha"] = rng.standard_normal((d_in, heads)) / d_in**0.5
    found["A_log"] = np.log(rng.uniform(0.01, 1.0, heads))
    found["dt_bias"] = rng.standard_normal(heads)
    found["norm_weight"] = 1.0 + 0.1 * rng.standard_normal(width)
    found["out_proj"] = rng.standard_normal((d_out, d_out)) / d_out**0.5
    return found


if __name__ == "__main__":
    layer = GatedDeltaNet(random_parameters(24, 64, 4), heads=4)
    x = np.random.default_rng(1).standard_normal((2, 50, 24)).astype(np.float32)
    whole, _ = layer(x)
    first, state = layer(x[:, :20])
    rest, _ = layer(x[:, 20:], state)
    error = np.abs(np.concatenate([first, rest], axis=1) - whole).max()
    print(f"in one piece and in two: {error:.1e} apart")
    raise SystemExit(int(error > 1e-5))
