#!/usr/bin/env python3
"""Holds linattn-opt to its promise never to crash, whatever the text.

    utils/fuzz/fuzz.py --minutes 30            mutates the seeds until time is up
    utils/fuzz/fuzz.py --replay                the corpus as it stands, once

Seeds are the examples, the tests and utils/fuzz/corpus. Each batch of mutated
modules goes through one pipeline: parsing and printing, every pass and pipeline of
the project, and upstream passes that meet our operations. A crash (a signal, an
assertion, memory beyond --memory or a module that takes longer than --seconds) is
reduced, written to --out and named with its stack. Exit code 1 if there was one
that known-crashes.txt does not list.
"""

import argparse
import hashlib
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from generate import recurrence
from mutate import mutate, shrink

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SPLIT = "// -----\n"

UPSTREAM = [
    ["--verify-roundtrip"],
    ["--mlir-print-op-generic"],
    ["--emit-bytecode", "--mlir-print-op-generic"],
    ["--canonicalize", "--cse"],
    ["--canonicalize=test-convergence", "--sccp", "--canonicalize"],
    ["--resolve-ranked-shaped-type-result-dims", "--canonicalize"],
    ["--loop-invariant-code-motion", "--control-flow-sink", "--topological-sort"],
    ["--inline", "--symbol-dce", "--remove-dead-values"],
    ["--int-range-optimizations", "--generate-runtime-verification"],
    ["--one-shot-bufferize=bufferize-function-boundaries allow-unknown-ops"],
    ["--allow-unregistered-dialect", "--canonicalize"],
]


# Prefixes of our passes.
OURS = "linattn|lower-chunked|tile|convert-tile"


def pipelines_of(opt):
    """Upstream ones, and each pass and pipeline that the tool has of ours."""
    text = subprocess.run([opt, "--help"], capture_output=True, text=True).stdout
    own = sorted(set(re.findall(rf"^\s+--((?:{OURS})[\w-]*)", text, re.M)))
    own = [name for name in own if not re.search(r"tile-size|linattn-opt", name)]
    made = [[f"--{name}"] for name in own]
    if "linattn-widen" in own:
        made += [
            ["--linattn-widen", f"--{n}"] for n in own if re.search(r"-to-|normal|chunkwise", n)
        ]
    made += [["--canonicalize", f"--{name}", "--canonicalize"] for name in own]
    if "lower-chunked-to-loops" in own:
        made.append(["--linattn-chunkwise", "--lower-chunked-to-loops"])
    return UPSTREAM + made


class Runner:
    def __init__(self, args):
        self.opt, self.seconds, self.memory = args.opt, args.seconds, args.memory
        self.dir = tempfile.TemporaryDirectory(prefix="linattn-fuzz-")
        self.input = Path(self.dir.name) / "in.mlir"
        self.errors = Path(self.dir.name) / "stderr"
        # A sanitizer's finding is not the 1 of refused input.
        self.environment = dict(os.environ)
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS"):
            given = self.environment.get(name)
            self.environment[name] = f"{given + ':' if given else ''}exitcode=86"

    def limits(self):
        if self.memory:
            resource.setrlimit(resource.RLIMIT_AS, (self.memory << 20,) * 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def run(self, modules, pipeline):
        """None, or what went wrong: (kind, stack as text)."""
        self.input.write_text(SPLIT.join(modules), errors="surrogateescape")
        command = [self.opt, str(self.input), "--split-input-file", *pipeline]
        command += ["--mlir-disable-threading", "-o", os.devnull]
        with open(self.errors, "wb") as errors:
            process = subprocess.Popen(
                command, stdout=subprocess.DEVNULL, stderr=errors, preexec_fn=self.limits,
                env=self.environment,
            )
            try:
                code = process.wait(self.seconds * (1 + 0.1 * len(modules)))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                return "timeout", ""
        if code in (0, 1):
            return None
        text = self.errors.read_bytes()[-60000:].decode(errors="replace")
        kind = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        if "out of memory" in text or "bad_alloc" in text:
            kind = "out of memory"
        return kind, text


def signature(failure):
    """The kind and the innermost named frames: one for each fault."""
    kind, text = failure
    frames = []
    for line in re.findall(r"^\s*#\d+ 0x\w+ (.*)$", text, re.M):
        name = re.sub(r"\s*\(?/?\S*(?:\.so|\.cpp|\+0x)\S*\)?$", "", line).strip()
        name = re.sub(r"\(.*", "", name.replace("(anonymous namespace)", "anon"))
        if re.search(r"PrintStackTrace|RunSignalHandlers|SignalHandler|^$", name):
            continue
        if re.match(r"(__|gsignal|abort|raise|std::|operator)", name):
            continue
        frames.append(name.strip())
    assertion = re.search(r"Assertion `.*", text)
    return " | ".join([kind] + ([assertion[0]] if assertion else []) + frames[:4])


def reduce(runner, module, pipeline, wanted, seconds):
    """Drops lines, then tokens, while the fault stays the same."""
    end = time.time() + seconds

    def still(text):
        failure = runner.run([text], pipeline)
        return failure is not None and signature(failure) == wanted

    for split, join in ((str.splitlines, "\n"), (lambda t: re.split(r"( )", t), "")):
        parts = split(module)
        size = max(1, len(parts) // 2)
        while time.time() < end:
            i = 0
            while i < len(parts) and time.time() < end:
                shorter = parts[:i] + parts[i + size :]
                if still(join.join(shorter)):
                    parts = shorter
                else:
                    i += size
            if size == 1:
                break
            size //= 2
        module = join.join(parts)
    return module


def isolate(runner, modules, pipeline):
    """The one module of a batch that fails, and how."""
    for module in modules:
        failure = runner.run([module], pipeline)
        if failure:
            return module, failure
    return None, None


def seeds(extra):
    found = []
    for folder in [ROOT / "examples", ROOT / "test", HERE / "corpus", *extra]:
        for path in sorted(Path(folder).rglob("*.mlir")):
            # What belongs to no level of ours finds faults of upstream only.
            text = path.read_text(errors="surrogateescape")
            for module in re.split(r"^// ?-----.*\n", text, flags=re.M):
                module = re.sub(r"^\s*//[^\n]*\n", "", module, flags=re.M)
                if "linattn." in module or "tile." in module:
                    found.append(shrink(module).strip() + "\n")
    return sorted(set(found))


def valid_forms(runner, modules):
    """The seeds that verify, and their generic form."""
    made = []
    for module in modules:
        runner.input.write_text(module, errors="surrogateescape")
        done = subprocess.run(
            [runner.opt, str(runner.input), "--mlir-print-op-generic"],
            capture_output=True,
        )
        if done.returncode == 0:
            made += [module, done.stdout.decode()]
    return made


class Report:
    def __init__(self, args, runner):
        self.args, self.runner = args, runner
        self.known = []
        listed = HERE / "known-crashes.txt"
        if listed.exists():
            rows = [x.strip() for x in listed.read_text().splitlines()]
            self.known = [x for x in rows if x and not x.startswith("#")]
        self.seen, self.new = {}, 0

    def add(self, module, pipeline, failure):
        name = signature(failure)
        self.seen[name] = self.seen.get(name, 0) + 1
        if self.seen[name] > 1 or any(k in name for k in self.known):
            return
        self.new += 1
        small = reduce(self.runner, module, pipeline, name, self.args.reduce)
        digest = hashlib.sha1(name.encode()).hexdigest()[:10]
        out = Path(self.args.out)
        out.mkdir(parents=True, exist_ok=True)
        path = out / f"crash-{digest}.mlir"
        heading = f"// {name}\n// RUN: linattn-opt %s {' '.join(pipeline)}\n\n"
        path.write_text(heading + small + "\n", errors="surrogateescape")
        print(f"\n{path}\n  {name}\n  {' '.join(pipeline)}", flush=True)


def replay(args, runner, report):
    """Each file of the corpus through each pipeline."""
    files = sorted((HERE / "corpus").glob("*.mlir"))
    modules = [f.read_text(errors="surrogateescape") for f in files]
    for pipeline in pipelines_of(args.opt):
        if runner.run(modules, pipeline):
            module, failure = isolate(runner, modules, pipeline)
            if module:
                report.add(module, pipeline, failure)
    return len(modules)


def another(rng, pool, valid):
    """A generated module, one mutated from a valid seed, or from any."""
    kind = rng.random()
    if kind < 0.3:
        return recurrence(rng)
    if kind < 0.45:
        return mutate(rng, recurrence(rng), pool)
    return mutate(rng, rng.choice(valid if kind < 0.9 else pool), pool)


def fuzz(args, runner, report):
    rng = random.Random(args.seed)
    pool = seeds(args.seeds)
    valid = valid_forms(runner, pool)
    pipelines = pipelines_of(args.opt)
    if args.only:
        pipelines = [p for p in pipelines if any(args.only in x for x in p)]
    print(
        f"{len(pool)} seeds, {len(pipelines)} pipelines, --seed {args.seed}", flush=True
    )
    end, count, told = time.time() + 60 * args.minutes, 0, time.time()
    while time.time() < end:
        pipeline = rng.choice(pipelines)
        modules = [another(rng, pool, valid) for _ in range(args.batch)]
        count += len(modules)
        while modules and runner.run(modules, pipeline):
            module, failure = isolate(runner, modules, pipeline)
            if not module:
                break  # only the batch as a whole is slow
            report.add(module, pipeline, failure)
            modules = modules[modules.index(module) + 1 :]
        if time.time() - told > 60:
            told = time.time()
            print(f"{count} modules, {report.new} new crashes", flush=True)
    return count


def main():
    build = os.environ.get("LINATTN_BIN", ROOT / "build" / "bin")
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--opt", default=str(Path(build) / "linattn-opt"))
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 2**32)
    parser.add_argument("--batch", type=int, default=40, help="modules in one process")
    parser.add_argument("--seconds", type=float, default=20, help="the most for a module")
    parser.add_argument("--memory", type=int, default=6144, help="MiB of addresses; 0: "
                        "no limit, which a sanitizer's shadow needs")
    parser.add_argument("--reduce", type=float, default=30, help="seconds to reduce")
    parser.add_argument("--only", help="pipelines with this in their name")
    parser.add_argument("--out", default=str(ROOT / "build" / "fuzz"))
    parser.add_argument("--seeds", nargs="*", default=[], help="more folders of seeds")
    parser.add_argument("--replay", action="store_true")
    args = parser.parse_args()
    runner = Runner(args)
    report = Report(args, runner)
    count = (replay if args.replay else fuzz)(args, runner, report)
    for name, times in sorted(report.seen.items(), key=lambda x: -x[1]):
        print(f"{times:6} {name}")
    print(f"{count} modules, {report.new} new crashes")
    sys.exit(1 if report.new else 0)


if __name__ == "__main__":
    main()
