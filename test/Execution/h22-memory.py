# Cases H22 and H23: the loop over chunks allocates nothing, on the heap or on the
# stack, so that memory does not grow with the sequence and no length overflows the
# stack. First in the code: no allocation stands in a sequential loop, whatever the
# recurrence. Then in a run of 2^20 tokens: what it takes more than one of 64 is
# what its arrays take.
#
# REQUIRES: numpy, linattn-run
# AddressSanitizer's shadow and its quarantine of freed memory grow with the run, so
# resident memory no longer says what the code takes.
# UNSUPPORTED: asan
# RUN: %python %s linattn-run %t linattn-opt %examples

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
from harness import *
from small import module

OPT, EXAMPLES = sys.argv[3:5]


def allocations_in_loops(path):
    """Lines that allocate inside an scf.for, where loops are still loops."""
    done = subprocess.run(
        [OPT, path, "--linattn-to-cpu", "--mlir-disable-threading",
         "--mlir-print-ir-before=convert-scf-to-openmp", "-o", os.devnull],
        capture_output=True, text=True, timeout=250,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    regions, found, loops = [], [], 0
    for line in done.stderr.splitlines():
        text = line.strip()
        if text.startswith("}"):
            regions.pop()
        if text.endswith("{"):
            regions.append("scf.for" in text or "scf.while" in text)
            loops += regions[-1]
        if any(regions) and re.search(r"\bmemref\.alloc(a)?\b", text):
            found.append(text)
    assert loops, path
    return found


names = ["gated_deltanet", "kda", "deltaproduct", "rwkv7", "gated_deltanet_channel_rate",
         "gated_deltanet_packed", "normalized_linear_attention", "mamba2"]
for name in names:
    found = allocations_in_loops(os.path.join(EXAMPLES, name + ".mlir"))
    assert not found, (name, found[:3])


def peak_bytes(*args):
    """The most memory that a run of the tool has at any time."""
    process = subprocess.Popen([TOOL, *args], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, args
    return usage.ru_maxrss * 1024


K = V = 4
for vector in (False, True):
    path = write_module(f"long_{vector}", module("gated_delta", K, V, vector=vector))
    peaks = [
        peak_bytes(path, "--lowering=chunkwise", "--chunk=16", offsets([0, T]))
        for T in (64, 2**20)
    ]
    gate = K if vector else 1
    arrays = 4 * 2**20 * (2 * K + 2 * V + gate + 1)
    # A tile of every chunk kept would be 16 MB or more for each of some twenty.
    assert peaks[1] - peaks[0] < arrays + 16e6, (vector, peaks, arrays)
