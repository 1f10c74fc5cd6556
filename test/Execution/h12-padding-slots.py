# Case H12: decoding with a pool of four states and slots 2, none, 0, none. The
# states that no slot names keep their bits, the rows of the others equal single
# decodes, and what means "none" is said in the module (-1 and -7 here).
#
# REQUIRES: numpy, linattn-run
# RUN: %python %s linattn-run %t

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
from harness import *
from operators import *

for name, padding, tokens in [
    ("gated_deltanet", -1, 1),
    ("gated_deltanet", -7, 3),
    ("rwkv7", -1, 1),
    ("normalized", -1, 2),
]:
    path = write_module(
        f"{name}{padding}", module(name, packed=False, padding=padding)
    )
    states = state_names(name)
    pool = run(
        path,
        f"--size=T={tokens},P=4",
        f"--slots=2,{padding},0,{padding}",
        "--gates=usual",
    )
    for i, s0 in enumerate(states, start=1):
        for untouched in (1, 3):
            assert same_bits(
                pool[f"out_{i}"][untouched], pool["in_" + s0][untouched]
            )
    for row, slot in ((0, 2), (2, 0)):
        inputs = {t: pool["in_" + t][row : row + 1] for t in token_names(name)}
        inputs |= {p: pool["in_" + p] for p in param_names(name)}
        inputs |= {s: pool["in_" + s] for s in states}
        alone = run(path, f"--slots={slot}", inputs=inputs, verify=False)
        assert same_bits(alone["out_0"][0], pool["out_0"][row])
        for i, _ in enumerate(states, start=1):
            assert same_bits(alone[f"out_{i}"][slot], pool[f"out_{i}"][slot])
    # Rows of no sequence were not written.
    assert np.isnan(pool["out_0"][[1, 3]]).all()
