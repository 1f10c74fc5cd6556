# From text to native code and to PTX in at most two seconds, for each example
# that is a recurrence, token by token (benchmarks/compile-time.py has the other
# forms). Seconds of the processor, since other tests run beside this one; start
# of the tool included.
#
# REQUIRES: linattn-compile
# Instrumented code takes several times the two seconds promised for a release build.
# UNSUPPORTED: asan
# RUN: %python %s linattn-compile %examples %t | FileCheck %s
#
# CHECK: gated_deltanet native {{.*}} s, PTX {{.*}} s

import glob
import os
import re
import resource
import subprocess
import sys

tool, folder, out = sys.argv[1:4]
LIMIT = 2.0


def seconds(*command):
    def used():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before = used()
    subprocess.run(command, check=True, capture_output=True, timeout=250)
    return used() - before


slow = []
for path in sorted(glob.glob(os.path.join(folder, "*.mlir"))):
    with open(path) as f:
        text = f.read()
    if not re.search(r"= linattn\.recurrence\b", text):
        continue
    name = os.path.splitext(os.path.basename(path))[0]
    serial = [tool, path, "--lowering=serial", "-o", out]
    native = seconds(*serial, "--target=cpu")
    ptx = seconds(*serial, "--target=sm_90a", "--no-cubin")
    print(f"{name:30} native {native:.2f} s, PTX {ptx:.2f} s")
    slow += [name] * (max(native, ptx) > LIMIT)
assert not slow, slow
