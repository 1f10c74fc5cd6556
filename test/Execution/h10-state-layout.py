# Case H10: the state is [K, V], stored and read that way: K = V hides a
# transposed one, so the numbers are chosen to tell.
#
# REQUIRES: numpy, linattn-run
# RUN: %python %s linattn-run %t

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
from harness import *


def deltanet(K, V):
    t = lambda *d: "tensor<" + "x".join(map(str, ("?", "?", 1) + d)) + "xf32>"
    s, st = f"tensor<?x1x{K}x{V}xf32>", f"!linattn.state<{K}x{V}xf32>"
    k, v = f"vector<{K}xf32>", f"vector<{V}xf32>"
    return write_module(
        f"deltanet_{K}_{V}",
        f"""
func.func @deltanet(%q: {t(K)} {{linattn.name = "q"}}, %k: {t(K)} {{linattn.name = "k"}},
    %v: {t(V)} {{linattn.name = "v"}}, %b: {t()} {{linattn.name = "b"}},
    %s0: {s} {{linattn.name = "s0"}}) -> ({t(V)}, {s}) {{
  %o, %s = linattn.recurrence
      tokens(%q : {t(K)}, %k : {t(K)}, %v : {t(V)}, %b : {t()}) state(%s0 : {s})
      -> ({t(V)}, {s}) {{
  ^step(%qt: {k}, %kt: {k}, %vt: {v}, %bt: f32, %st: {st}):
    %s1 = linattn.delta_update %st, %kt, %vt, %bt : {st}, {k}, {v}, f32
    %ot = linattn.read %s1, %qt : {st}, {k}
    linattn.yield %ot, %s1 : {v}, {st}
  }}
  return %o, %s : {t(V)}, {s}
}}
""",
    )


def token(*values):
    return np.array(values, np.float32).reshape(1, 1, 1, -1)


square = deltanet(2, 2)
step = dict(k=token(1, 0), v=token(1, 2), b=np.ones((1, 1, 1), np.float32))
got = run(square, "--state=zero", inputs=dict(step, q=token(1, 0)))
assert got["out_1"].tolist() == [[[[1, 2], [0, 0]]]]  # S[0][1] = 2, S[1][0] = 0
assert got["out_0"].ravel().tolist() == [1, 2]

# An asymmetric state: k = (1, 0) with rate 1 replaces its first row by v. The
# output with q = (0, 1) is its second row.
s0 = np.array([[3, 5], [7, 11]], np.float32).reshape(1, 1, 2, 2)
got = run(square, inputs=dict(step, q=token(0, 1), s0=s0))
assert got["out_1"].tolist() == [[[[1, 2], [7, 11]]]]
assert got["out_0"].ravel().tolist() == [7, 11]

got = run(deltanet(128, 64), "--size=B=1,T=5")
q, k, v, b = (got["in_" + n].astype(np.float64)[0, :, 0] for n in "qkvb")
S = got["in_s0"].astype(np.float64)[0, 0]
assert S.shape == (128, 64)
for t in range(5):
    S = S + b[t] * np.outer(k[t], v[t] - S.T @ k[t])
    assert relative_rms(got["out_0"][0, t, 0], S.T @ q[t]) < 1e-5
assert relative_rms(got["out_1"][0, 0], S) < 1e-6
