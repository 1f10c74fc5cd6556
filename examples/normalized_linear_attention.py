"""Linear attention with a normaliser and the feature map phi(x) = 1 + elu(x):
S += phi(k) v^T; z += phi(k); o = S^T phi(q) / (z . phi(q))."""

import linattn
from linattn import State
from linattn import reference
from linattn.checking import main


def phi(x):
    return linattn.maximum(x, 0.0) + linattn.exp(linattn.minimum(x, 0.0))


@linattn.recurrence(samples={"q": "raw", "k": "raw", "v": "value", "z": "rate"})
def normalized_linear_attention(S: State, z: State["K", 1], q, k, v):
    phi_k, phi_q = phi(k), phi(q)
    S = S.write(phi_k, v)
    z = z.write(phi_k, 1.0)
    return S.read(phi_q) / z.read(phi_q), S, z


def oracle(q, k, v, *states, **sequences):
    q, k = 1 + reference.elu(q), 1 + reference.elu(k)
    return reference.normalized_linear_attention(q, k, v, *states, **sequences)


OPS = {
    "normalized_linear_attention": linattn.compile(
        normalized_linear_attention, K=64, V=64, heads=8, dtype="f32"
    ),
}

if __name__ == "__main__":
    main(OPS, oracle)
