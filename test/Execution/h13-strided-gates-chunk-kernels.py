# H13 for kernels in chunks: gates that lie interleaved in one array give the same
# bits as contiguous copies; rows that do not begin where wide copies need them are
# refused before the launch.
# REQUIRES: numpy
# RUN: rm -rf %t && linattn-compile %S/../Runtime/Inputs/small.mlir --target=sm_90a --lowering=chunkwise --no-cubin -o %t
# RUN: %python %s %t
import sys

import numpy as np
from linattn import runtime

small = runtime.load(sys.argv[1])["small"]
assert small.description["plan"]["name"].startswith("chunkwise")
rng = np.random.default_rng(0)
T = 70
q, k = rng.normal(size=(2, 1, T, 1, 4)).astype(np.float32)
k /= np.linalg.norm(k, axis=-1, keepdims=True)
v = rng.normal(size=(1, T, 2, 3)).astype(np.float32)
both = np.empty((1, T, 2, 2), np.float32)
both[..., 0] = -np.abs(rng.normal(size=(1, T, 2)))
both[..., 1] = rng.uniform(size=(1, T, 2))
s0 = rng.normal(size=(1, 2, 4, 3)).astype(np.float32)

g, beta = both[..., 0], both[..., 1]
strided = small(q, k, v, g, beta, s0)
copied = small(q, k, v, g.copy(), beta.copy(), s0)
for a, b in zip(strided, copied):
    assert np.array_equal(a, b)

# A row of 4 numbers is copied 16 bytes at a time.
wide = np.zeros((1, T, 1, 5), np.float32)
wide[..., :4] = k
try:
    small(q, wide[..., :4], v, g, beta, s0)
except runtime.LinattnError as error:
    print(error)
    assert "'k'" in str(error) and "16" in str(error), error
else:
    raise AssertionError("a row of 20 bytes was accepted")
