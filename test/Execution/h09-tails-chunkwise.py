# Case H9 in chunk form: the final state where T is a multiple of the chunk, and
# where it is not. Values of the case, then the token loop in fp64 for every kind of
# last chunk.
#
# REQUIRES: numpy, linattn-run
# RUN: %python %s linattn-run %t

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
from harness import *
from small import *


def states(name, chunk, gate, lengths, vector=False):
    path = write_module(f"{name}_{vector}", module(name, vector=vector))
    key = lambda T: np.ones((T, 1))
    shape = (lambda T: (T, 1)) if vector else (lambda T: (T,))
    sequences = [
        dict(q=key(T), k=key(T), v=key(T), g=np.full(shape(T), gate), b=np.full(T, 0.5))
        for T in lengths
    ]
    names = "qkv" + STEPS[name][0]
    inputs, ends = pack(sequences, names)
    inputs["s0"] = np.zeros((len(lengths), 1, 1, 1), np.float32)
    got = run(path, offsets(ends), "--lowering=chunkwise", f"--chunk={chunk}",
              inputs=inputs, verify=False)
    final = got["out_1"].ravel()
    for T, value, sequence in zip(lengths, final, sequences):
        used = {n: sequence[n] for n in names}
        want = loop(name, **used)[1].item() if T else 0
        assert abs(value - want) <= 2e-6 * abs(want), (name, chunk, T)
    return dict(zip(lengths, final))


LENGTHS = (33, 0, 1, 15, 16, 17, 31, 32, 63, 64, 65, 128)
for chunk in (16, 32, 64, 128):
    for vector in {chunk == 32, chunk == 16}:
        linear = states("linear", chunk, -0.1, LENGTHS, vector)
        assert abs(linear[33] / 10.120751379 - 1) < 1e-6
        delta = states("gated_delta", chunk, -0.1, LENGTHS, vector)
        assert abs(delta[33] / 0.913106434 - 1) < 1e-6
retnet = states("linear", 64, -0.05, (128, 1, 31, 32, 65))
assert abs(retnet[128] / 20.470097646 - 1) < 1e-6
