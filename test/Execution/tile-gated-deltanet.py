# The hand-written tile kernel of Gated DeltaNet against a token loop in double
# precision: a tail, the usual gates, strong gates and repeated keys at rate 2
# (cases H3 and H5), races and uninitialised reads excluded by the simulator.
#
# REQUIRES: numpy, linattn-compile, linattn-sim
# RUN: %python %s linattn-compile linattn-sim %t %examples

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
from tiles import *

with open(os.path.join(sys.argv[4], "tile", "gated_deltanet.mlir")) as f:
    text = f.read().replace("@gated_deltanet", "@k")
H, HK, D = 32, 16, 128


def reference(q, k, v, g, beta, S):
    """One head, in double precision."""
    outputs = []
    for t in range(len(q)):
        S = np.exp(g[t]) * S
        S = S + np.outer(k[t], beta[t] * (v[t] - S.T @ k[t]))
        outputs.append(S.T @ q[t] * D**-0.5)
    return np.array(outputs), S


def check(name, T, gates, repeat=False, rate=None, heads=(0, 31)):
    rng = np.random.default_rng(T)
    q, k = rng.standard_normal((2, 1, T, HK, D))
    if repeat:
        k[:] = k[:, :1]
    q, k = (x / np.sqrt(np.square(x).sum(-1, keepdims=True)) for x in (q, k))
    v = rng.standard_normal((1, T, H, D))
    beta = 1 / (1 + np.exp(-rng.standard_normal((1, T, H))))
    if rate is not None:
        beta[:] = rate
    g = gates(rng, (1, T, H))
    s0 = rng.standard_normal((1, H, D, D))
    kinds = ["bf16"] * 3 + ["f32"] * 3
    q, k, v, g, beta, s0 = (
        rounded(x, kind) for x, kind in zip((q, k, v, g, beta, s0), kinds)
    )
    arguments = [Array(kind, x, strides=3) for kind, x in zip(kinds, (q, k, v, g, beta, s0))]
    arguments += [Array("bf16", shape=(1, T, H, D), strides=3)]
    arguments += [Array("f32", shape=(1, H, D, D), strides=3), T]
    o, sT = launch(ptx, arguments, 4, 128768, grid=(2 * H, 1, 1))
    for h in heads:
        args = (q[0, :, h // 2], k[0, :, h // 2], v[0, :, h], g[0, :, h], beta[0, :, h])
        wantO, wantS = reference(*args, s0[0, h])
        errors = relative_rms(o[0, :, h], wantO), relative_rms(sT[0, h], wantS)
        print(name, h, "output %.1e, state %.1e" % errors)
        assert max(errors) < 8e-3, (name, h, errors)


ptx = compile_ptx(text)
usual = lambda rng, shape: -0.1 * rng.random(shape)
check("usual", 150, usual)
check("strong", 65, lambda rng, shape: np.where(rng.random(shape) < 0.5, -1e4, -1e-3))
check("repeated", 64, lambda rng, shape: np.zeros(shape), repeat=True, rate=1.0)
