# Case H4 in chunk form: gates of 0 are no special case. Gated DeltaNet is DeltaNet
# then, for every kind of last chunk, with a gate per head and one per channel; and
# two updates per token halve a state twice after its decay.
#
# REQUIRES: numpy, linattn-run
# RUN: %python %s linattn-run %t

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
from harness import *
from small import *

LENGTHS = (1, 7, 50, 63, 64, 65, 128, 200)
ends = np.cumsum([0] + list(LENGTHS))
chunkwise = (offsets(ends), "--lowering=chunkwise", "--seed=4")
sizes = dict(K=100, V=100, dtype="bf16", heads=2)

path = write_module("deltanet", module("deltanet", **sizes))
want = run(path, *chunkwise)
given = {n: want["in_" + n] for n in ("k", "q", "v", "b", "s0")}
for vector in (False, True):
    path = write_module(f"gated_{vector}", module("gated_delta", vector=vector, **sizes))
    shape = (ends[-1], 2) + ((100,) if vector else ())
    gates = np.zeros(shape, np.float32)
    got = run(path, *chunkwise, inputs=dict(given, g=gates))
    # bf16 outputs may differ by a rounding where the sums' order differs.
    assert relative_rms(got["out_0"], want["out_0"]) < 1e-3, vector
    assert relative_rms(got["out_1"], want["out_1"]) < 1e-6, vector

# S = 8, decayed to 4, then (1 - 1/2)^2 of it, for the last token of a chunk too.
path = write_module("deltaproduct", module("deltaproduct"))
for T in (1, 16, 17):
    one = np.ones((T, 1, 1), np.float32)
    g = np.zeros((T, 1), np.float32)
    b = np.zeros((T, 1), np.float32)
    g[-1], b[-1] = np.log(0.5), 0.5
    s0 = np.full((1, 1, 1, 1), 8, np.float32)
    got = run(path, offsets([0, T]), "--lowering=chunkwise", "--chunk=16",
              inputs=dict(q=one, k=one, v=one * 0, g=g, b=b, s0=s0), verify=False)
    assert abs(got["out_1"].item() - 1) < 1e-6
