# Case H14: with 2 key heads and 4 value heads, value head h reads key head
# h // 2, not h % 2.
#
# REQUIRES: numpy, linattn-run
# RUN: %python %s linattn-run %t

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
from harness import *

path = write_module(
    "groups",
    """
func.func @groups(%k: tensor<?x?x2x2xf32> {linattn.name = "k"},
                  %v: tensor<?x?x4x1xf32> {linattn.name = "v"},
                  %s0: tensor<?x4x2x1xf32> {linattn.name = "s0"})
    -> (tensor<?x?x4x1xf32>, tensor<?x4x2x1xf32>) {
  %o, %s = linattn.recurrence
      tokens(%k : tensor<?x?x2x2xf32>, %v : tensor<?x?x4x1xf32>)
      state(%s0 : tensor<?x4x2x1xf32>)
      -> (tensor<?x?x4x1xf32>, tensor<?x4x2x1xf32>) {
  ^step(%kt: vector<2xf32>, %vt: vector<1xf32>, %st: !linattn.state<2x1xf32>):
    %s1 = linattn.write %st, %kt, %vt
        : !linattn.state<2x1xf32>, vector<2xf32>, vector<1xf32>
    %ot = linattn.read %s1, %kt : !linattn.state<2x1xf32>, vector<2xf32>
    linattn.yield %ot, %s1 : vector<1xf32>, !linattn.state<2x1xf32>
  }
  return %o, %s : tensor<?x?x4x1xf32>, tensor<?x4x2x1xf32>
}
""",
)
k = np.array([[1, 0], [0, 1]], np.float32).reshape(1, 1, 2, 2)
v = np.arange(1, 5, dtype=np.float32).reshape(1, 1, 4, 1)
got = run(path, "--state=zero", inputs=dict(k=k, v=v))
assert got["out_1"].reshape(4, 2).tolist() == [[1, 0], [2, 0], [0, 3], [0, 4]]
assert got["out_0"].ravel().tolist() == [1, 2, 3, 4]
