# Case H6: the eps of l2norm is added to the sum of squares, not to their mean;
# an all-zero key stays zero, writes nothing and makes nothing infinite.
#
# REQUIRES: numpy, linattn-run
# RUN: %python %s linattn-run %t

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
from harness import *

path = write_module(
    "norm",
    """
func.func @norm(%k: tensor<?x?x1x128xf32> {linattn.name = "k"},
                %v: tensor<?x?x1x2xf32> {linattn.name = "v"},
                %s0: tensor<?x1x128x2xf32> {linattn.name = "s0"})
    -> (tensor<?x?x1x128xf32>, tensor<?x1x128x2xf32>) {
  %n, %s = linattn.recurrence
      tokens(%k : tensor<?x?x1x128xf32>, %v : tensor<?x?x1x2xf32>)
      state(%s0 : tensor<?x1x128x2xf32>)
      -> (tensor<?x?x1x128xf32>, tensor<?x1x128x2xf32>) {
  ^step(%kt: vector<128xf32>, %vt: vector<2xf32>, %st: !linattn.state<128x2xf32>):
    %kn = linattn.l2norm %kt eps 1.0e-6 : vector<128xf32> -> vector<128xf32>
    %rate = arith.constant 1.0 : f32
    %s1 = linattn.delta_update %st, %kn, %vt, %rate
        : !linattn.state<128x2xf32>, vector<128xf32>, vector<2xf32>, f32
    linattn.yield %kn, %s1 : vector<128xf32>, !linattn.state<128x2xf32>
  }
  return %n, %s : tensor<?x?x1x128xf32>, tensor<?x1x128x2xf32>
}
""",
)
v = np.array([3, 5], np.float32).reshape(1, 1, 1, 2)
for lowering in ("serial", "chunkwise"):
    k = np.full((1, 1, 1, 128), 1e-3, np.float32)
    got = run(path, f"--lowering={lowering}", inputs=dict(k=k, v=v))
    norm = np.linalg.norm(got["out_0"].astype(np.float64))
    assert abs(norm - 0.996116) < 1e-6, (lowering, norm)

    got = run(path, f"--lowering={lowering}", inputs=dict(k=0 * k, v=v))
    assert not got["out_0"].any(), lowering
    assert (got["out_1"] == got["in_s0"]).all(), lowering
