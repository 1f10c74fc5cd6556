# The chunk form of an example compiles in 2 s or less, and that time grows with
# the size of what the pipeline makes: one body for all chunks, loops over blocks.
# A test that measured time would fail on a busy machine; this one counts lines of
# the LLVM dialect. `benchmarks/compile.py` prints times beside the same numbers.
#
# RUN: %python %s linattn-opt %examples

import os
import subprocess
import sys

OPT, EXAMPLES = sys.argv[1:3]

# Lines when this was written, and an eighth more.
LIMITS = {
    "comba": 3850,
    "comba_decayed": 3800,
    "deltanet": 3200,
    "deltaproduct": 4900,
    "gated_deltanet": 3650,
    "gated_deltanet_channel_rate": 3550,
    "gated_deltanet_packed": 3650,
    "gdn2": 4650,
    "gla": 2950,
    "kda": 4550,
    "linear_attention": 1950,
    "mamba2": 2750,
    "normalized_linear_attention": 2950,
    "retnet": 2400,
    "rwkv7": 7350,
    "simple_gla": 2400,
}

for name, limit in LIMITS.items():
    path = os.path.join(EXAMPLES, name + ".mlir")
    done = subprocess.run(
        [OPT, path, "--linattn-to-cpu"], capture_output=True, text=True, timeout=250
    )
    assert done.returncode == 0, (name, done.stderr)
    lines = done.stdout.count("\n")
    assert lines <= limit, f"{name}: {lines} lines, at most {limit}"
    assert lines >= limit / 2, f"{name}: {lines} lines; lower the limit of {limit}"
