#!/usr/bin/env python3
"""The chunk form on the CPU beside torch: Gated DeltaNet and KDA in fp32.

    benchmarks/cpu.py [--threads N] [--rounds R] [--json FILE]

Compiles both recurrences with build/bin/linattn-compile, loads the object files
into this process, and runs them and torch in turn on the same inputs and as many
threads. Every output is checked against the token loop in fp64 first; a time is
printed only for what passed. The least time of all rounds counts: other load on
the machine only adds. Needs numpy and torch in the Python that runs it, and cc.
"""

import argparse
import ctypes
import json
import os
import platform
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
B, T, H, D = 1, 4096, 8, 128
LIMIT = 1e-4

OPERATORS = {"gated_deltanet": ("", "f32"), "kda": (str(D), f"vector<{D}xf32>")}


def module(name):
    """The recurrence of `name` at the benchmark's sizes."""
    width, gate = OPERATORS[name]
    tensor = lambda *dims: "tensor<" + "x".join(["?", "?", str(H), *dims]) + "xf32>"
    token, one = tensor(str(D)), tensor()
    decay = tensor(width) if width else one
    state = f"tensor<?x{H}x{D}x{D}xf32>"
    vector, s = f"vector<{D}xf32>", f"!linattn.state<{D}x{D}xf32>"
    return f"""
func.func @{name}(%q: {token}, %k: {token}, %v: {token}, %g: {decay}, %beta: {one},
    %s0: {state}) -> ({token}, {state}) {{
  %o, %sT = linattn.recurrence
      tokens(%q : {token}, %k : {token}, %v : {token}, %g : {decay}, %beta : {one})
      state(%s0 : {state}) -> ({token}, {state}) {{
  ^step(%qt: {vector}, %kt: {vector}, %vt: {vector}, %gt: {gate}, %bt: f32, %s: {s}):
    %s1 = linattn.decay %s, %gt : {s}, {gate}
    %s2 = linattn.delta_update %s1, %kt, %vt, %bt : {s}, {vector}, {vector}, f32
    %ot = linattn.read %s2, %qt scale {D**-0.5!r} : {s}, {vector}
    linattn.yield %ot, %s2 : {vector}, {s}
  }}
  return %o, %sT : {token}, {state}
}}
"""


def descriptor(array):
    """A memref descriptor of a contiguous numpy array."""
    words = [array.ctypes.data, array.ctypes.data, 0, *array.shape]
    words += [stride // array.itemsize for stride in array.strides]
    return (ctypes.c_int64 * len(words))(*words)


def compile_operator(name, folder):
    """The function in this process, and what its compilation took in seconds."""
    path = os.path.join(folder, name + ".mlir")
    with open(path, "w") as f:
        f.write(module(name))
    tool = os.path.join(ROOT, "build/bin/linattn-compile")
    begin = time.perf_counter()
    subprocess.run([tool, path, "--target=cpu", "-o", folder], check=True)
    seconds = time.perf_counter() - begin
    library = os.path.join(folder, name + ".so")
    # libomp has this name where it has no link for compilers.
    command = ["cc", "-shared", "-o", library, os.path.join(folder, name + ".o"),
               "-L/usr/lib/llvm-22/lib", "-l:libomp.so.5", "-lm",
               "-Wl,-rpath,/usr/lib/llvm-22/lib"]
    subprocess.run(command, check=True)
    with open(os.path.join(folder, name + ".json")) as f:
        assert json.load(f)["lowering"] == "chunkwise"
    return getattr(ctypes.CDLL(library), "_mlir_ciface_" + name), seconds


def draw(name, rng):
    """q, k of unit length, v, log decays, rates, a state; float32."""
    import numpy as np

    def unit():
        x = rng.standard_normal((B, T, H, D))
        return x / np.linalg.norm(x, axis=-1, keepdims=True)

    width = [D] if OPERATORS[name][0] else []
    raw = rng.standard_normal((B, T, H, *width))
    gate = -np.logaddexp(0, raw) / 16
    beta = 1 / (1 + np.exp(-rng.standard_normal((B, T, H))))
    arrays = [unit(), unit(), rng.standard_normal((B, T, H, D)), gate, beta,
              rng.standard_normal((B, H, D, D)) * 0.1]
    return [np.ascontiguousarray(x, np.float32) for x in arrays]


def oracle(q, k, v, g, beta, s0):
    """The token loop in fp64."""
    import numpy as np

    q, k, v, g, beta, s = (x.astype(np.float64) for x in (q, k, v, g, beta, s0))
    decay = np.exp(g)[..., None] if g.ndim == 4 else np.exp(g)[..., None, None]
    out = np.empty_like(v)
    for t in range(T):
        s = s * decay[:, t]
        error = v[:, t] - np.einsum("bhkv,bhk->bhv", s, k[:, t])
        s += k[:, t, :, :, None] * (beta[:, t, :, None] * error)[:, :, None]
        out[:, t] = np.einsum("bhkv,bhk->bhv", s, q[:, t]) * D**-0.5
    return out, s


def relative_rms(got, want):
    import numpy as np

    return float(np.sqrt(np.mean((got - want) ** 2) / np.mean(want**2)))


def machine(threads):
    model = "unknown"
    with open("/proc/cpuinfo") as f:
        for line in f:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
    import torch

    return {
        "processor": model,
        "cores": os.cpu_count(),
        "vectors": torch.backends.cpu.get_cpu_capability(),
        "system": platform.system() + " " + platform.machine(),
        "threads": threads,
        "torch": torch.__version__,
        "load_before": round(os.getloadavg()[0], 2),
    }


def bench(name, rounds, folder):
    import numpy as np
    import torch
    from torch_peers import PEERS

    function, seconds = compile_operator(name, folder)
    inputs = draw(name, np.random.default_rng(1))
    want = oracle(*inputs)
    out, final = np.empty_like(inputs[2]), np.empty_like(inputs[5])
    arguments = [descriptor(x) for x in (*inputs, out, final)]
    tensors = [torch.from_numpy(x) for x in inputs]

    def ours():
        function(*arguments)
        return out, final

    def peer(run):
        with torch.inference_mode():
            return [x.numpy() for x in run(*tensors, D**-0.5)]

    runs = {"linattn": ours}
    for peer_name, run in PEERS[name].items():
        runs[peer_name] = lambda run=run: peer(run)

    results = {}
    for run_name, run in runs.items():
        errors = [relative_rms(a, b) for a, b in zip(run(), want)]
        if not max(errors) <= LIMIT:
            sys.exit(f"{name}, {run_name}: relative RMS {errors}, limit {LIMIT}")
        results[run_name] = {"rms": errors, "ms": float("inf"), "cpu_ms": float("inf")}
    for round_number in range(rounds):
        for run_name, run in runs.items():
            # The slow ones need not run as often as what they are compared with.
            if round_number > 0 and round_number * results[run_name]["ms"] > 1e4:
                continue
            begin, cpu = time.perf_counter(), time.process_time()
            run()
            result = results[run_name]
            result["cpu_ms"] = min(result["cpu_ms"], (time.process_time() - cpu) * 1e3)
            result["ms"] = min(result["ms"], (time.perf_counter() - begin) * 1e3)
    for result in results.values():
        result["times_linattn"] = result["ms"] / results["linattn"]["ms"]
        result["cpu_times_linattn"] = result["cpu_ms"] / results["linattn"]["cpu_ms"]
    return {"compile_seconds": seconds, "runs": results}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--json")
    options = parser.parse_args()
    # Before OpenMP is loaded. Waiting threads must not take the peers' cores.
    os.environ["OMP_NUM_THREADS"] = str(options.threads)
    os.environ["OMP_WAIT_POLICY"] = "passive"
    os.environ["KMP_BLOCKTIME"] = "0"
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import torch

    torch.set_num_threads(options.threads)
    report = {
        "what": f"B={B}, T={T}, H={H}, K=V={D}, fp32; least time of {options.rounds} rounds",
        "limit_rms": LIMIT,
        "machine": machine(options.threads),
        "operators": {},
    }
    with tempfile.TemporaryDirectory() as folder:
        for name in OPERATORS:
            report["operators"][name] = result = bench(name, options.rounds, folder)
            print(f"\n{name}: compiled in {result['compile_seconds']:.2f} s")
            print(f"{'':10}{'ms':>10}{'x linattn':>12}{'CPU ms':>10}{'x linattn':>12}"
                  f"{'rel. RMS of o, S':>24}")
            for run_name, run in result["runs"].items():
                rms = "  ".join(f"{e:.1e}" for e in run["rms"])
                print(f"{run_name:10}{run['ms']:10.1f}{run['times_linattn']:12.2f}"
                      f"{run['cpu_ms']:10.1f}{run['cpu_times_linattn']:12.2f}{rms:>24}",
                      flush=True)
    report["machine"]["load_after"] = round(os.getloadavg()[0], 2)
    if options.json:
        with open(options.json, "w") as f:
            json.dump(report, f, indent=2)
            f.write("\n")


if __name__ == "__main__":
    main()
