# Case H20: differential attention (version 2) pairs query heads 2h and 2h + 1,
# which belong to one key/value group. Pairing head h with head h + 2 would mix
# the groups. Keys are 0, so each map is the mean of the values so far: 2 and 20
# at t = 1, and o = A - sigmoid(0) A = A / 2.
#
# REQUIRES: numpy, linattn-run
# RUN: %python %s linattn-run %t

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
from harness import *

path = write_module(
    "diff_v2",
    """
func.func @diff_v2(%q: tensor<?x?x4x1xf32> {linattn.name = "q"},
                   %k: tensor<?x?x2x1xf32> {linattn.name = "k"},
                   %v: tensor<?x?x2x1xf32> {linattn.name = "v"},
                   %l: tensor<?x?x2xf32> {linattn.name = "l"}) -> tensor<?x?x2x1xf32> {
  %o = linattn.diff_attention v2 %q, %k, %v, %l causal
      : (tensor<?x?x4x1xf32>, tensor<?x?x2x1xf32>, tensor<?x?x2x1xf32>, tensor<?x?x2xf32>)
     -> tensor<?x?x2x1xf32>
  return %o : tensor<?x?x2x1xf32>
}
""",
)
inputs = dict(
    q=np.arange(8, dtype=np.float32).reshape(1, 2, 4, 1),
    k=np.zeros((1, 2, 2, 1), np.float32),
    v=np.array([[1, 10], [3, 30]], np.float32).reshape(1, 2, 2, 1),
    l=np.zeros((1, 2, 2), np.float32),
)
for options in ([], ["--device=sim", "--lowering=chunkwise"]):
    got = run(path, *options, inputs=inputs)["out_0"]
    assert got[0, :, :, 0].tolist() == [[0.5, 5], [1, 10]]
