# While values stay finite, a later token changes no bit of an earlier output, in
# either lowering; two runs give the same bits. Everything of the later tokens is
# replaced, gates by -1000 too.
#
# REQUIRES: numpy, linattn-run
# RUN: %python %s linattn-run %t

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
from harness import *
from operators import *

T, CUTS = 100, (1, 40, 64, 70)

for name in ("gated_deltanet", "kda"):
    path = write_module(name, module(name))
    sequences = offsets([0, T])
    for lowering in ("serial", "chunkwise"):
        chosen = ["--lowering=" + lowering]
        before = run(path, sequences, "--gates=mixed", *chosen, verify=False)
        given = {t: before["in_" + t] for t in token_names(name)}
        given |= {s: before["in_" + s] for s in state_names(name)}
        again = run(path, sequences, *chosen, inputs=given, verify=False)
        assert same_bits(again["out_0"], before["out_0"]), (name, lowering)

        # All cuts in one run: copies of the sequence whose tails differ.
        tokens, states = {}, {}
        for t in token_names(name):
            copies = []
            for cut in CUTS:
                copy = given[t].copy()
                copy[cut:] = -1000 if t == "g" else copy[cut:] * -3 + 1
                copies.append(copy)
            tokens[t] = np.concatenate(copies)
        for s in state_names(name):
            states[s] = np.repeat(given[s], len(CUTS), axis=0)
        ends = offsets(range(0, T * len(CUTS) + 1, T))
        after = run(path, ends, *chosen, inputs=tokens | states, verify=False)
        for n, cut in enumerate(CUTS):
            got = after["out_0"][n * T : n * T + cut]
            assert np.isfinite(got).all()
            assert same_bits(got, before["out_0"][:cut]), (name, lowering, cut)
