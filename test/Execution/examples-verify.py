# Every example runs and agrees with the fp64 oracle, for mild gates and for
# those that break naive kernels.
#
# REQUIRES: linattn-run
# RUN: %python %s linattn-run %examples

import glob
import os
import subprocess
import sys

tool, folder = sys.argv[1:3]
examples = sorted(glob.glob(os.path.join(folder, "*.mlir")))
assert examples
failed = []
for path in examples:
    with open(path) as f:
        text = f.read()
    args = ["--size", "B=2"] if "seqlens(" not in text else []
    if "seqlens(" in text:
        args += ["--seqlens=0,0,21,35", "--size", "T=37"]
    elif "slots(" in text:
        args += ["--slots=2,-1", "--size", "T=3"]
    else:
        args += ["--size", "T=35"]
    for gates in ("mixed", "extreme"):
        command = [tool, path, *args, "--verify", f"--gates={gates}"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        print(" ".join(command), done.returncode)
        if done.returncode:
            print(done.stdout, done.stderr)
            failed.append(os.path.basename(path))
assert not failed, failed
