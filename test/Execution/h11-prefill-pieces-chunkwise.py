# Case H11 in chunk form: a sequence cut in two, the state fed onward, gives what
# the uncut one gives, for every operator. Where the cut is a multiple of the chunk
# the same bits; elsewhere chunks lie otherwise, and sums have another order.
#
# REQUIRES: numpy, linattn-run
# RUN: %python %s linattn-run %t

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
from harness import *
from operators import *

T, CHUNK, CUTS = 300, 64, (1, 63, 64, 100, 128, 299)
LIMIT = 1e-4

for name in OPERATORS:
    path = write_module(name, module(name))
    states = state_names(name)
    chunkwise = ["--lowering=chunkwise", f"--chunk={CHUNK}"]
    # Draws alone; compiling the token loop takes a fraction of the time.
    whole = run(path, offsets([0, T]), "--gates=mixed", "--seed=11", verify=False)

    # All cuts at once, as packed sequences: first the pieces before the cuts and
    # the uncut one, then those behind, which start from the states of the first.
    def pieces(ranges, initial, verify=False):
        inputs = {
            t: np.concatenate([whole["in_" + t][a:b] for a, b in ranges])
            for t in token_names(name)
        }
        inputs |= {p: whole["in_" + p] for p in param_names(name)}
        ends = np.cumsum([0] + [b - a for a, b in ranges])
        got = run(path, offsets(ends), *chunkwise, inputs=inputs | initial, verify=verify)
        return np.split(got["out_0"], ends[1:-1]), got

    repeat = {s: np.repeat(whole["in_" + s], len(CUTS) + 1, axis=0) for s in states}
    head, got = pieces([(0, c) for c in (*CUTS, T)], repeat, verify=True)
    whole["out_0"] = head.pop()
    onward = {}
    for i, s in enumerate(states, start=1):
        onward[s] = got[f"out_{i}"][:-1]
        whole[f"out_{i}"] = got[f"out_{i}"][-1:]
    tail, got = pieces([(c, T) for c in CUTS], onward)

    for n, cut in enumerate(CUTS):
        results = [(np.concatenate([head[n], tail[n]]), whole["out_0"])]
        for i, _ in enumerate(states, start=1):
            results.append((got[f"out_{i}"][n], whole[f"out_{i}"][0]))
        for a, b in results:
            if cut % CHUNK == 0:
                assert same_bits(a, b), (name, cut)
            else:
                assert relative_rms(a, b) < LIMIT, (name, cut)
