# Case H19: differential attention (version 1) with grouped heads. Both value
# heads share the two key heads of their group, and the first map of a head uses
# the first of them, the second map the second: repeating K before pairing
# heads would give both maps the same keys.
#
# With keys (0, ln 3) the first map at t = 1 is (1/4, 3/4), the second one, with
# keys 0, is (1/2, 1/2), so o = (.25, .3125) - .2 (.5, .375).
#
# REQUIRES: numpy, linattn-run
# RUN: %python %s linattn-run %t

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
from harness import *

path = write_module(
    "diff_v1",
    """
func.func @diff_v1(%q: tensor<?x?x4x1xf32> {linattn.name = "q"},
                   %k: tensor<?x?x2x1xf32> {linattn.name = "k"},
                   %v: tensor<?x?x1x2xf32> {linattn.name = "v"},
                   %lam: tensor<2xf32> {linattn.name = "lam"}) -> tensor<?x?x2x2xf32> {
  %o = linattn.diff_attention v1 %q, %k, %v, %lam causal
      : (tensor<?x?x4x1xf32>, tensor<?x?x2x1xf32>, tensor<?x?x1x2xf32>, tensor<2xf32>)
     -> tensor<?x?x2x2xf32>
  return %o : tensor<?x?x2x2xf32>
}
""",
)
q = np.ones((1, 2, 4, 1), np.float32)
k = np.array([[0, 0], [np.log(3), 0]], np.float32).reshape(1, 2, 2, 1)
v = np.array([[1, 0.5], [0, 0.25]], np.float32).reshape(1, 2, 1, 2)
lam = np.full(2, 0.2, np.float32)
for options in ([], ["--device=sim", "--lowering=chunkwise"]):
    got = run(path, *options, inputs=dict(q=q, k=k, v=v, lam=lam))["out_0"]
    assert got.shape == (1, 2, 2, 2)
    np.testing.assert_allclose(got[0, 1], [[0.15, 0.2375]] * 2, rtol=1e-6)
