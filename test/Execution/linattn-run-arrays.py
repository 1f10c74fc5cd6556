# Arrays in and out: what is read is rounded once to the argument's type, what
# is written is exact; a seed gives the same data in every type, in every run
# and whatever the number of threads.
#
# REQUIRES: numpy, linattn-run
# RUN: %python %s linattn-run %t

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
from harness import *
from operators import module

# A function that gives back what it takes, through one f32 state and a read of
# it would round; so the arguments are read back from in_x.npy.
def identity(dtype):
    t = f"tensor<?x?x1x64x{dtype}>"
    return write_module(
        "identity_" + dtype,
        f"""
func.func @identity(%x: {t} {{linattn.name = "x"}}) -> {t} {{
  %o = linattn.recurrence tokens(%x : {t}) -> ({t}) {{
  ^step(%xt: vector<64x{dtype}>):
    linattn.yield %xt : vector<64x{dtype}>
  }}
  return %o : {t}
}}
""",
    )


def to_bf16(x):
    """Nearest even, in integers: an independent reading of the rule."""
    bits = x.astype(np.float32).view(np.uint32).astype(np.uint64)
    low, bits = bits & 0xFFFF, bits & ~np.uint64(0xFFFF)
    up = (low > 0x8000) | ((low == 0x8000) & ((bits >> 16) & 1 == 1))
    return (bits + (up.astype(np.uint64) << 16)).astype(np.uint32).view(np.float32)


rng = np.random.default_rng(1)
x = (rng.standard_normal((2, 16, 1, 64)) * 10.0 ** rng.integers(-6, 4, (2, 16, 1, 64)))
x32 = x.astype(np.float32)
for dtype, want in {
    "f64": x,
    "f32": x32,
    "f16": x.astype(np.float16).astype(np.float32),
    "bf16": to_bf16(x32),
}.items():
    given = x32 if dtype == "bf16" else x  # two roundings would not be one
    got = run(identity(dtype), "--round-inputs", inputs={"x": given})
    assert same_bits(got["in_x"], want), dtype
    assert same_bits(got["out_0"], want), dtype

# f16 files.
got = run(identity("f32"), inputs={"x": x.astype(np.float16)})
assert same_bits(got["out_0"], x.astype(np.float16).astype(np.float32))

# Double to bf16 is one rounding: this one is above a tie that f32 cannot tell.
tie = np.full((1, 1, 1, 64), 1 + 2.0**-8 + 2.0**-40)
assert (run(identity("bf16"), "--round-inputs", inputs={"x": tie})["out_0"] == 1 + 2.0**-7).all()

# Samples.
size = "--size=B=2,T=40"
wide = run(identity("f64"), size, "--seed=3")["in_x"]
assert same_bits(run(identity("f64"), size, "--seed=3")["in_x"], wide)
assert not same_bits(run(identity("f64"), size, "--seed=4")["in_x"], wide)
assert same_bits(run(identity("f32"), size, "--seed=3")["in_x"], wide.astype(np.float32))
half = wide.astype(np.float16).astype(np.float32)
assert same_bits(run(identity("f16"), size, "--seed=3")["in_x"], half)
assert abs(wide.mean()) < 0.1 and abs(wide.std() - 1) < 0.1

# Results do not depend on threads or on the run; fp64 agrees with the oracle.
path = write_module("kda", module("kda"))
args = ["--seqlens=0,100,130,130,300", "--gates=mixed"]
one = run(path, *args, "--threads=1")
two = run(path, *args, "--threads=2", "--time", "--repeat=2")
fp64 = run(path, *args, "--precision=fp64")
for name in ("out_0", "out_1"):
    assert same_bits(one[name], two[name])
    assert same_bits(fp64[name], one["oracle" + name[3:]])
    assert relative_rms(one[name], fp64[name]) < 1e-5

# The report.
report_path = os.path.join(WORK, "report.json")
done = call(path, *args, "--verify", "--time", "--repeat=3", "--json", report_path)
assert done.returncode == 0 and "verdict" in done.stdout
report = json.load(open(report_path))
assert report["ok"] and report["function"] == "kda" and report["seed"] == 0
assert report["sizes"] == {"N": 4, "T": 300}
assert [i["name"] for i in report["inputs"]] == ["q", "k", "v", "g", "beta", "s0", "cu"]
assert report["inputs"][0] == {"name": "q", "type": "f32", "shape": [300, 2, 8], "source": "unit_key"}
assert report["inputs"][6]["source"] == "given"
assert report["time"]["tokens"] == 300 and len(report["time"]["runs_ms"]) == 3
assert report["time"]["min_ms"] <= report["time"]["median_ms"] <= report["time"]["max_ms"]
for result in report["verify"]:
    assert result["ok"] and 0 < result["relative_rms"] < result["limit"] == 1e-4
done = call(path, *args, "--json", "-")
assert json.loads(done.stdout)["ok"] and "verify" not in json.loads(done.stdout)

# Gates outside their domain are computed, and named.
g = np.full((1, 2, 8), 0.25, np.float32)
np.save(os.path.join(WORK, "g.npy"), g)
done = call(path, "--seqlens=0,1", "--verify", "--input=g=" + os.path.join(WORK, "g.npy"))
assert done.returncode == 0, done.stderr
assert (
    "note: argument 'g' has 16 log decay(s) above 0, the first one 0.25 at "
    "element 0: computed as they stand, outside the promises" in done.stdout
)
