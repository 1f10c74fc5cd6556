# A decay over K that is slow and the same at every token: the rounding of its
# factors has one sign, and what it took goes to the next token. Simulator against
# the fp64 loop, 16384 tokens.
# REQUIRES: numpy
# RUN: %python %s linattn-run %t
import pathlib
import re
import subprocess
import sys

import numpy as np

tool, folder = sys.argv[1], pathlib.Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)
source = folder / "slow.mlir"
source.write_text("""
!seq = tensor<?x?x1x8xf32>
!V = vector<8xf32>
!S = !linattn.state<8x8xf32>
func.func @slow(%q: !seq {linattn.name = "q"}, %k: !seq {linattn.name = "k"}, %v: !seq {linattn.name = "v"},
    %g: tensor<1x8xf32> {linattn.name = "g"}, %s: tensor<?x1x8x8xf32> {linattn.name = "s"})
    -> (!seq, tensor<?x1x8x8xf32>) {
  %o, %end = linattn.recurrence tokens(%q : !seq, %k : !seq, %v : !seq) params(%g : tensor<1x8xf32>)
      state(%s : tensor<?x1x8x8xf32>) -> (!seq, tensor<?x1x8x8xf32>) {
  ^step(%qt: !V, %kt: !V, %vt: !V, %gt: !V, %s0: !S):
    %s1 = linattn.decay %s0, %gt : !S, !V
    %s2 = linattn.write %s1, %kt, %vt : !S, !V, !V
    %ot = linattn.read %s2, %qt : !S, !V
    linattn.yield %ot, %s2 : !V, !S
  }
  return %o, %end : !seq, tensor<?x1x8x8xf32>
}
""")
np.save(folder / "g.npy", -np.geomspace(1e-5, 1e-3, 8, dtype=np.float32).reshape(1, 8))
command = [tool, str(source), "--lowering=serial", "--device=sim", "--verify"]
command += ["--size=B=1,T=16384", "--input", f"g={folder}/g.npy"]
run = subprocess.run(command, capture_output=True, text=True)
assert run.returncode == 0, (run.stdout, run.stderr)
errors = [float(e) for e in re.findall(r"^\d\s+f32\s+\S+\s+(\S+)", run.stdout, re.M)][-2:]
assert len(errors) == 2 and max(errors) < 3e-5, run.stdout
