# Case H5 in chunk form: one unit key for all tokens of a chunk. The triangular
# matrix is all ones then, and its powers overflow; the solution does not. With rate
# 1 each token replaces what stood there, exactly; with rate 2 it reflects.
#
# REQUIRES: numpy, linattn-run
# RUN: %python %s linattn-run %t

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
from harness import *
from small import *

K = 4
for name in ("deltanet", "gated_delta"):
    for chunk in (16, 64, 128):
        path = write_module(f"{name}_{K}", module(name, K=K, V=1))
        T = 2 * chunk
        key = np.zeros((T, 1, K), np.float32)
        key[..., 1] = 1
        q = np.full((T, 1, K), 0.5, np.float32)
        v = np.arange(1, T + 1, dtype=np.float32).reshape(T, 1, 1)
        zero = np.zeros((T, 1), np.float32)
        twice = lambda a, b: np.concatenate([a, b])
        # Two sequences: rate 1 with v = t + 1, rate 2 with v = 3.
        inputs = dict(
            q=twice(q, q), k=twice(key, key), v=twice(v, v * 0 + 3),
            b=twice(zero + 1, zero + 2), s0=np.zeros((2, 1, K, 1), np.float32),
        )
        if name == "gated_delta":
            inputs["g"] = twice(zero, zero)
        got = run(path, offsets([0, T, 2 * T]), "--lowering=chunkwise",
                  f"--chunk={chunk}", inputs=inputs, verify=False)
        scale = np.float32(K**-0.5) * np.float32(0.5)
        o = got["out_0"].ravel()
        assert (o[:T] == scale * v.ravel()).all(), (name, chunk)
        assert (o[T:] == scale * np.tile([6, 0], chunk)).all(), (name, chunk)
        assert got["out_1"][0, 0, 1, 0] == T and got["out_1"][1, 0, 1, 0] == 0
