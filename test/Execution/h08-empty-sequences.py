# Case H8: empty sequences anywhere, and no tokens at all, for every operator.
# The final state of an empty sequence is its initial state to the bit; the
# others equal runs of their own; without tokens the output is empty.
#
# REQUIRES: numpy, linattn-run
# RUN: %python %s linattn-run %t

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
from harness import *
from operators import *

for name in OPERATORS:
    path = write_module(name, module(name))
    cuts = [0, 0, 64, 64, 100]
    whole = run(path, offsets(cuts), "--gates=usual")
    states = state_names(name)
    for i, s0 in enumerate(states, start=1):
        for n in (0, 2):
            assert same_bits(whole[f"out_{i}"][n], whole[f"in_{s0}"][n]), name

    for n in (1, 3):
        rows = slice(cuts[n], cuts[n + 1])
        inputs = {t: whole["in_" + t][rows] for t in token_names(name)}
        inputs |= {p: whole["in_" + p] for p in param_names(name)}
        inputs |= {s: whole["in_" + s][n : n + 1] for s in states}
        alone = run(
            path, offsets([0, cuts[n + 1] - cuts[n]]), inputs=inputs, verify=False
        )
        assert same_bits(alone["out_0"], whole["out_0"][rows]), name
        for i, _ in enumerate(states, start=1):
            assert same_bits(alone[f"out_{i}"][0], whole[f"out_{i}"][n]), name

    for state in ("random", "zero"):
        none = run(
            path,
            offsets([0, 0, 0]),
            "--state=" + state,
            verify=state == "random",
        )
        assert none["out_0"].shape == (0, 2, 5)
        for i, s0 in enumerate(states, start=1):
            assert same_bits(none[f"out_{i}"], none["in_" + s0]), name
            assert state == "random" or not none[f"out_{i}"].any()
