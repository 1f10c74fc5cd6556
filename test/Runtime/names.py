# Names of sizes that the user gives, an argument that nothing uses, a state that
# begins with a constant: the artifact loads, runs and checks.
# REQUIRES: numpy
# RUN: rm -rf %t && linattn-compile %S/Inputs/names.mlir --target=sm_90a --lowering=serial --no-cubin -o %t
# RUN: %python %s %t
import sys

import numpy as np
from linattn import runtime

f = runtime.load(sys.argv[1])["names"]
rng = np.random.default_rng(0)
k = rng.normal(size=(2, 3, 1, 4)).astype(np.float32)
g = -rng.uniform(size=(2, 3, 1)).astype(np.float32)
want, S = np.zeros((2, 3, 1, 4)), np.ones((2, 1, 4, 4))
for t in range(3):
    S = np.exp(g[:, t])[..., None, None] * S + k[:, t, :, :, None] * k[:, t, :, None, :]
    want[:, t] = np.einsum("bhkv,bhk->bhv", S, k[:, t])
for spare in (None, np.zeros((7, 5), np.float32)):
    o, sT = f(k, spare, g)
    assert np.abs(o - want).max() < 1e-5 and np.abs(sT - S).max() < 1e-5
try:
    f(k, None, g[:, 1:])
except runtime.LinattnError as error:
    assert str(error) == "names: dimension 1 of 'g' is time = 3 (from 'k'), got 2", error
else:
    raise AssertionError("accepted")
