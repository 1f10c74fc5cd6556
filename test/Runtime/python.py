# The Python module on the runtime alone, with numpy arrays, on the simulator:
# values against the numpy reference, strides, refusals, compile counts, capture.
# REQUIRES: numpy
# RUN: rm -rf %t && linattn-compile %examples/gated_deltanet_decode.mlir --target=sm_90a --no-cubin -o %t
# RUN: linattn-compile %S/Inputs/small.mlir --target=sm_90a --lowering=serial --no-cubin -o %t
# RUN: env LINATTN_SIM_LOG=%t/log %python %s %t
import ctypes
import pathlib
import sys

import numpy as np
from linattn import reference, runtime
from linattn.runtime import library, tensors

folder = pathlib.Path(sys.argv[1])
assert not [m for m in sys.modules if "mlir" in m or "torch" in m]
rng = np.random.default_rng(0)
artifact = runtime.load(folder)
assert list(artifact) == ["gated_deltanet_decode", "small"], list(artifact)
small = artifact["small"]
assert repr(small).startswith("small(q: f32[B, T, 1, 4], k: f32[B, T, 1, 4], "), small
assert runtime.device()["capability"] == (9, 0)


def draw(B, T, Hk=1, H=2, K=4, V=3):
    q, k = rng.normal(size=(2, B, T, Hk, K))
    k /= np.linalg.norm(k, axis=-1, keepdims=True)
    v = rng.normal(size=(B, T, H, V))
    g = -np.abs(rng.normal(size=(B, T, H)))
    beta = rng.uniform(size=(B, T, H))
    s0 = rng.normal(size=(B, H, K, V))
    return [x.astype(np.float32) for x in (q, k, v, g, beta, s0)]


def close(got, want):
    np.testing.assert_allclose(got, want, rtol=0, atol=2e-5)


# Right numbers; H17: neither T nor B loads (or compiles) anything again.
for _ in range(2):
    for T in range(1, 20):
        inputs = draw(1 + T % 3, T)
        for got, want in zip(small(*inputs), reference.gated_deltanet(*inputs)):
            close(got, want)
calls = (folder / "log").read_text().split()
assert calls.count("cuModuleLoadDataEx") == 1
assert calls.count("cuLaunchKernelEx") == 38 * len(small.description["launches"])

# By name; memory for results given.
inputs = dict(zip("q k v g beta s0".split(), draw(2, 5)))
o, s = small(**inputs)
mine = (np.empty_like(o), np.empty_like(s))
small(**inputs, out=mine)
assert np.array_equal(o, mine[0]) and np.array_equal(s, mine[1])

# H13: gates interleaved in one array, as they lie, give the same bits as copies.
q, k, v, g, beta, s0 = draw(1, 16)
both = np.empty((1, 16, 2, 2), np.float32)
both[..., 0], both[..., 1] = g, beta
assert both[..., 0].strides == (256, 16, 8)
for a, b in zip(
    small(q, k, v, g, beta, s0), small(q, k, v, both[..., 0], both[..., 1], s0)
):
    assert np.array_equal(a, b)

# The state's inner stride is fixed: refused before a launch.
launches = (folder / "log").read_text().count("cuLaunchKernelEx")


def refused(message, *args, **kwargs):
    try:
        small(*args, **kwargs)
    except runtime.LinattnError as error:
        assert message in str(error), (message, str(error))
        assert error.kind == "argument", error.kind
    else:
        raise AssertionError(f"accepted: {message}")


wide = np.empty((1, 2, 4, 6), np.float32)[..., ::2]
refused("small: stride 3 of 's0' is 1, got 2", q, k, v, g, beta, wide)
refused("small: 'q' is f32, got f64", q.astype(np.float64), k, v, g, beta, s0)
refused("small: dimension 1 of 'k' is T = 16 (from 'q'), got 15", q, k[:, 1:], v, g, beta, s0)
refused("small: dimension 2 of 'v' is 2, got 1", q, k, v[:, :, 1:], g, beta, s0)
refused("small: 'g' has 3 dimensions [B, T, 2], got 2 [16, 2]", q, k, v, g[0], beta, s0)
refused("small: 's0' is an argument, got none", q, k, v, g, beta)
refused("small: takes 6 arguments, got 7", q, k, v, g, beta, s0, s0)
refused("small: has the arguments q, k, v, g, beta, s0; got 'w'", w=q)
refused("small: 'q' is given once, got it twice", q, q=q)
refused("small: 'q' is a tensor of torch, cupy, numpy or DLPack, got list", [1.0])
refused("'q' has a dtype of f16, bf16", q.astype(complex), k, v, g, beta, s0)
refused(
    "small: 'v' is in this machine's byte order, got >f4: "
    "x.astype(x.dtype.newbyteorder('=')) is", q, k, v.astype(">f4"), g, beta, s0,
)
record = np.zeros(g.shape, [("g", "f4"), ("flag", "i1")])
refused("small: 'g' has strides that are multiples of its elements of 4 bytes, got [160, ",
        q, k, v, record["g"], beta, s0)

# What is written shares no memory with another operand: a state in its own
# memory, a part of it, two results in one.
o, s = small(q, k, v, g, beta, s0)
launches += 1
refused("small: 'out_1' is written, so it has memory of its own, got that of 's0'",
        q, k, v, g, beta, s0, out=(None, s0))
both = np.zeros((2, *s0.shape[1:]), np.float32)
refused("small: 'out_1' is written, so it has memory of its own, got that of 's0'",
        q, k, v, g, beta, both.reshape(-1)[7 : 7 + s0.size].reshape(s0.shape), out=(None, both[1:]))
refused("small: 'out_1' is written, so it has memory of its own, got that of 'out_0'",
        q, k, v, g, beta, s0, out=(o, o.reshape(-1)[-s.size :].reshape(s.shape)))
assert (folder / "log").read_text().count("cuLaunchKernelEx") == launches
# Views that interleave share none: each has its values, what lies between keeps its.
room = np.full((*o.shape[:-1], 3 * o.shape[-1]), 7, np.float32)
state_room = np.full((*s.shape[:-1], 2 * s.shape[-1]), 7, np.float32)
small(q, k, v, g, beta, s0, out=(room[..., :3], state_room[..., 3:]))
assert np.array_equal(room[..., :3], o) and np.array_equal(state_room[..., 3:], s)
assert np.all(room[..., 3:] == 7) and np.all(state_room[..., :3] == 7)
halves = np.zeros((1, o.shape[1], 2, 2, 3), np.float32)
small(q, k, v, g, beta, s0, out=(halves[:, :, :, 0], None))
assert np.array_equal(halves[:, :, :, 0], o)
small(q, k, halves[:, :, :, 0], g, beta, s0, out=(halves[:, :, :, 1], None))
again, _ = small(q, k, o, g, beta, s0)
assert np.array_equal(halves[:, :, :, 1], again) and np.array_equal(halves[:, :, :, 0], o)
try:
    artifact["large"]
except KeyError as error:
    assert "the artifact has gated_deltanet_decode, small; got 'large'" in str(error)

# H14: value head h reads key head h // (Hv / Hk): here both read the only one.
q = np.ones((1, 1, 1, 4), np.float32)
k = np.array([[[[0, 1, 0, 0]]]], np.float32)
v = np.array([[[[1, 1, 1], [2, 2, 2]]]], np.float32)
zero, one = np.zeros((1, 1, 2), np.float32), np.ones((1, 1, 2), np.float32)
o, s = small(q, k, v, zero, one, np.zeros((1, 2, 4, 3), np.float32))
close(o, v * 0.5)
assert np.array_equal(s[0, :, 1, 0], [1, 2]) and np.count_nonzero(s) == 6

# Slots: the pool is updated in place, bf16 as bits or ml_dtypes.
decode = artifact["gated_deltanet_decode"]
shapes = {a.name.decode(): a for a in decode.arguments}
B, T, P = 3, 1, 4
sizes = {"B": B, "T": T, "P": P}
description = {a["name"]: a for a in decode.description["arguments"]}
arrays = {}
for name, item in description.items():
    shape = [sizes.get(d, d) for d in item["shape"]]
    x = 0.1 * rng.normal(size=shape).astype(np.float32)
    arrays[name] = runtime.to_bf16_bits(x) if item["dtype"] == "bf16" else x
arrays["g"] = -np.abs(arrays["g"])
arrays["slots"] = np.array([2, -1, 0], np.int32)
before = arrays["pool"].copy()
results = decode(**arrays)
assert results[1] is arrays["pool"]
changed = [bool(np.any(before[p] != arrays["pool"][p])) for p in range(P)]
assert changed == [True, False, True, False], changed


def on_device(inputs):
    """The operands of a call, uploaded, a place for those of its results, and memory
    for the results."""
    given, made = tensors.TensorArray(6), tensors.TensorArray(2)
    for i, x in enumerate(inputs):
        copy = tensors.DeviceCopy(x, "f32")
        copy.upload(0)
        given.set(i, *copy.operand, copy)
    out = [tensors.DeviceCopy(np.empty_like(x), "f32") for x in (inputs[2], inputs[5])]
    return given, made, out


# The same on the device: the state's own memory, and one element of it.
inputs = draw(1, 3)
given, made, out = on_device(inputs)
made.set(0, *out[0].operand, out[0])
address, *rest = given.alive[5].operand
for place in (address, address + 4 * (inputs[5].size - 1), address - 4 * (inputs[5].size - 1)):
    made.set(1, place, *rest, None)
    status = library.library().linattn_call(
        small._handle, given.array, 6, made.array, 2, None, None
    )
    assert status == 2
    try:
        library.check(status)
    except runtime.LinattnError as error:
        message = "small: 'out_1' is written, so it has memory of its own, got that of 's0' (0x"
        assert str(error).startswith(message), error

# With a workspace a call neither allocates nor waits, so that graphs capture it.
inputs = draw(1, 3)
given, made, out = on_device(inputs)
for i, copy in enumerate(out):
    made.set(i, *copy.operand, copy)
scratch = library.Workspace(None, 0)
lib = library.library()
seen = len((folder / "log").read_text().split())
status = lib.linattn_call(
    small._handle, given.array, 6, made.array, 2, ctypes.byref(scratch), None
)
library.check(status)
assert (folder / "log").read_text().split()[seen:] == ["cuLaunchKernelEx"]
for copy, want in zip(out, reference.gated_deltanet(*inputs)):
    close(copy.download(0), want)
