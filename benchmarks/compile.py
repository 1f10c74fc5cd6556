#!/usr/bin/env python3
"""How long the chunk form of each recurrence example compiles for the CPU.

    benchmarks/compile.py [--rounds R] [--json FILE] [EXAMPLE.mlir ..]

The whole of linattn-compile, from text to an object file with its header: the
least wall time and the least processor time of all rounds, and the lines of the
LLVM dialect that the pipeline leaves. Several functions in one file are timed
each.
"""

import argparse
import json
import os
import re
import resource
import subprocess
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TOOLS = os.path.join(ROOT, "build/bin")


def functions(path):
    """The functions of a file that hold a recurrence."""
    with open(path) as f:
        parts = re.split(r"^func\.func @(\w+)", f.read(), flags=re.M)[1:]
    return [name for name, body in zip(parts[::2], parts[1::2])
            if "linattn.recurrence" in body]


def compile_once(path, function, folder):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter()
    done = subprocess.run(
        [os.path.join(TOOLS, "linattn-compile"), path, "--target=cpu",
         "--lowering=chunkwise", "--function=" + function, "-o", folder],
        capture_output=True, text=True)
    wall = time.perf_counter() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done, wall, cpu


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json")
    parser.add_argument("examples", nargs="*")
    options = parser.parse_args()
    examples = os.path.join(ROOT, "examples")
    paths = options.examples or sorted(
        os.path.join(examples, f) for f in os.listdir(examples) if f.endswith(".mlir"))
    rows = {}
    print(f"{'function':32}{'wall s':>8}{'CPU s':>8}{'lines':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for path in paths:
            for function in functions(path):
                times = []
                for _ in range(options.rounds):
                    done, *spent = compile_once(path, function, folder)
                    times.append(spent)
                    if done.returncode != 0:
                        break
                if done.returncode != 0:
                    print(f"{function:32}  no chunk form")
                    continue
                text = subprocess.run(
                    [os.path.join(TOOLS, "linattn-opt"), path, "--linattn-to-cpu"],
                    capture_output=True, text=True, check=True).stdout
                wall, cpu = (min(t) for t in zip(*times))
                rows[function] = {"wall_s": round(wall, 3), "cpu_s": round(cpu, 3),
                                  "lines": text.count("\n")}
                print(f"{function:32}{wall:8.2f}{cpu:8.2f}{text.count(chr(10)):8}",
                      flush=True)
    if options.json:
        report = {"cores": os.cpu_count(), "load": round(os.getloadavg()[0], 2),
                  "functions": rows}
        with open(options.json, "w") as f:
            json.dump(report, f, indent=2)
            f.write("\n")


if __name__ == "__main__":
    main()
