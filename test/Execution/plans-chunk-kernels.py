# Every plan of a kernel in chunks gives the same function: one kernel or two, the
# factored and the hoisted form, one or two parts of columns, narrow slices, other
# chunks and numbers of stages. f32, on the simulator, against the numpy oracle.
# REQUIRES: numpy
# RUN: %python %s %examples linattn-compile %t
import pathlib
import subprocess
import sys

import numpy as np
from linattn import reference, runtime
from linattn.resize import resize

examples, tool, folder = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
folder.mkdir(parents=True, exist_ok=True)
K, V, T = 32, 48, 70
text = (examples / "gated_deltanet.mlir").read_text()
source = folder / "gdn.mlir"
source.write_text(resize(text, K=K, V=V, heads=2, key_heads=1, dtype="f32"))

rng = np.random.default_rng(0)
q, k = rng.normal(size=(2, 1, T, 1, K))
k /= np.linalg.norm(k, axis=-1, keepdims=True)
v = rng.normal(size=(1, T, 2, V))
g = -np.abs(rng.normal(size=(1, T, 2)))
beta = rng.uniform(size=(1, T, 2))
s0 = rng.normal(size=(1, 2, K, V))
inputs = [x.astype(np.float32) for x in (q, k, v, g, beta, s0)]
wanted = reference.gated_deltanet(*[x.astype(np.float64) for x in inputs], scale=128**-0.5)

PLANS = {
    "": ("split-T", 2),
    "split=0": ("single", 1),
    "split=0 hoist=1": ("single", 1),
    "split=1 hoist=1": ("split-T", 2),
    "split=1 column-parts=2": ("split-T", 2),
    "split=0 column-parts=2 slice=32": ("single", 1),
    "slice=16": ("split-T", 2),
    "stages=1": ("split-T", 2),
    "stages=3 chunk=32": ("split-T", 2),
    "split=0 chunk=16": ("single", 1),
}
for number, (plan, (name, kernels)) in enumerate(PLANS.items()):
    out = folder / str(number)
    command = [tool, str(source), "--target=sm_90a", "--lowering=chunkwise", "--no-cubin"]
    subprocess.run([*command, f"--plan={plan}", "-o", str(out)], check=True)
    function = runtime.load(str(out))["gated_deltanet"]
    assert function.description["plan"]["name"].endswith(name), (plan, function.description["plan"])
    assert len(function.description["launches"]) == kernels, plan
    for got, want in zip(function(*inputs), wanted):
        error = np.linalg.norm(got - want) / np.linalg.norm(want)
        assert error <= 1e-5, (plan, error)
