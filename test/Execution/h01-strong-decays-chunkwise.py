# Cases H1 to H3 in chunk form: e^-G factored out overflows for strong gates, a
# mask applied after exp leaves inf * 0, and differences of a large cumulative sum
# have no correct digit. Values of the cases, then everything against the token
# loop in fp64, for every chunk and for lengths beside its multiples.
#
# REQUIRES: numpy, linattn-run
# RUN: %python %s linattn-run %t

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
from harness import *
from small import *


def ones(T, g, width=1, b=0.5):
    """q = k = v = 1, one gate per token or a row of them."""
    g = np.broadcast_to(np.asarray(g, float), (T, width))
    key = np.ones((T, width))
    return dict(q=key, k=key, v=np.ones((T, 1)), g=g, b=np.full(T, b))


def drop(T, strong, weak):
    """A strong gate for the first half, a weak one for the second."""
    return np.where(np.arange(T) < T // 2, strong, weak)[:, None]


def check(name, sequences, chunk, vector, limit=2e-6):
    names = "qkv" + STEPS[name][0]
    width = sequences[0]["k"].shape[1]
    if not vector:
        sequences = [dict(s, g=s["g"][:, 0]) for s in sequences]
    inputs, ends = pack(sequences, names)
    path = write_module(
        f"{name}_{width}_{vector}", module(name, K=width, vector=vector, scale=1)
    )
    inputs["s0"] = np.zeros((len(sequences), 1, width, 1), np.float32)
    got = run(
        path, offsets(ends), "--lowering=chunkwise", f"--chunk={chunk}",
        inputs=inputs, verify=False,
    )
    outputs = np.split(got["out_0"][:, 0], ends[1:-1])
    for i, s in enumerate(sequences):
        used = {n: s[n] for n in names}
        want, state = loop(name, **used, scale=1)
        assert np.isfinite(outputs[i]).all(), (name, chunk, i)
        assert relative_rms(outputs[i], want) < limit, (name, chunk, i)
        assert relative_rms(got["out_1"][i, 0], state) < limit, (name, chunk, i)
    return [o[:, 0] for o in outputs]


LENGTHS = (1, 63, 65, 200)
for chunk in (16, 32, 64, 128):
    vector = chunk in (32, 64)
    tails = [ones(T, -8) for T in LENGTHS]
    long = [ones(64, drop(64, -1e4, -1e-3)), ones(256, drop(256, -1e7, -1e-3))]
    strong = [ones(64, -8), ones(64, -1000), ones(64, -5)]

    o = check("linear", strong + long + tails, chunk, vector)
    assert abs(o[0][63] - 1.0003355752) < 1e-6  # H1 (i)
    assert (o[1] == 1).all()  # H1 (iv): v_t (q . k), exactly
    assert abs(o[2][63] - 1 / (1 - np.exp(-5))) < 1e-6  # H2, forward
    assert abs(o[3][63] / 32.477673836 - 1) < 1e-6  # H3 (i)
    assert abs(o[4][255] / 121.086557557 - 1) < 1e-6  # H3 (ii)

    o = check("gated_delta", strong + long + tails, chunk, vector)
    assert abs(o[0][63] - 0.5000838797) < 1e-6  # H1 (ii)
    assert (o[1] == 0.5).all()  # H1 (iv): times b_t

# H1 (iii): channels with gates of -8 and 0.
for name in ("linear", "gated_delta"):
    sequences = [ones(T, [-8, 0], width=2, b=0.25) for T in (64, *LENGTHS)]
    check(name, sequences, 64, vector=True)
