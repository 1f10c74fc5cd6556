#!/usr/bin/env python3
"""Times linattn-compile on the example recurrences: cold, and from its cache.

    benchmarks/compile-time.py [--target sm_90a] [--lowering serial] [--json F]

`cold` is one process from text to cubin; `cached` is what compiling a function
takes that the cache has (key, lookup, checks, writing the files); `process` is a
whole process that finds everything there. Milliseconds, medians of five.
"""

import argparse
import json
import re
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def run(command):
    start = time.perf_counter()
    done = subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True)
    return (time.perf_counter() - start) * 1e3, done.stderr


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tool", default=ROOT / "build" / "bin" / "linattn-compile")
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--lowering", default="serial")
    parser.add_argument("--json", type=Path)
    parser.add_argument("examples", nargs="*", type=Path)
    args = parser.parse_args()
    paths = args.examples or [
        p for p in sorted((ROOT / "examples").glob("*.mlir"))
        if "linattn.recurrence" in p.read_text()
    ]  # fmt: skip
    rows = []
    for path in paths:
        with tempfile.TemporaryDirectory() as folder:
            command = [args.tool, path, f"--target={args.target}"]
            command += [f"--lowering={args.lowering}", "-o", f"{folder}/out"]
            command.append(f"--cache={folder}/cache")
            cold, _ = run(command)
            again = [run(command) for _ in range(5)]
        cached = [float(re.search(r"cache in ([\d.]+) ms", said)[1]) for _, said in again]
        row = {
            "example": path.stem,
            "cold": round(cold, 1),
            "cached": statistics.median(cached),
            "process": round(statistics.median(ms for ms, _ in again), 1),
        }
        rows.append(row)
        print("{example:32} {cold:9.1f} {cached:6.1f} {process:8.1f}".format(**row), flush=True)
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
