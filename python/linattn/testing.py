"""Holds what `linattn-run --save DIR` wrote against the numpy oracle.

A function in a .mlir file says what it computes in a comment above it:

    // reference: gated_deltanet(q, k, v, g, beta, s0) -> o, sT

The expression is Python over the saved inputs, by their names, and the functions
of `linattn.reference` (and `np`); it may go on over several comment lines. The
names after the arrow are the results in order. One that ends in T (sT) is per
sequence, [N, H, ..]; one that begins with snap is a set of snapshots; any other
is per token, [B, T, H, ..], or packed [T, H, ..].

    linattn-run x.mlir --precision=fp64 --seqlens=0,5,9 --save out
    python -m linattn.testing x.mlir out --seqlens=0,5,9

prints the relative errors of every result, and exits with 1 if one is over the
limit.
"""

import argparse
import importlib.util
import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from . import reference

LIMIT = 1e-12


@dataclass
class Function:
    """A function of a .mlir file, and what its comment says it computes."""

    path: Path
    name: str
    text: str
    expression: str | None
    outputs: tuple[str, ...]

    def evaluate(self, inputs):
        """The results of the oracle, in order."""
        names = {n: getattr(reference, n) for n in reference.__all__}
        names["__builtins__"] = {}
        # What the code of the reference modules computes, as `modules.NAME`.
        names.update(np=np, modules=ReferenceModules(self.path), **inputs)
        results = eval(self.expression, names)
        if not isinstance(results, (tuple, list)):
            results = (results,)
        if len(results) != len(self.outputs):
            raise ValueError(
                f"{self.path}: the reference of @{self.name} gives {len(results)} "
                f"results and names {len(self.outputs)}"
            )
        return [np.asarray(r) for r in results]


class ReferenceModules:
    """Attribute NAME is the Python file NAME.py beside the .mlir file."""

    def __init__(self, path):
        self._folder = path.parent

    def __getattr__(self, name):
        path = self._folder / f"{name}.py"
        if not path.exists():
            raise AttributeError(f"no {path}")
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module


def functions(path):
    """The public functions with a body of a .mlir file."""
    path = Path(path)
    found, comment = [], []
    for line in path.read_text().splitlines():
        stripped = line.strip()
        start = re.match(r"func\.func (?!private)(?:public )?@(\w+)", stripped)
        if start:
            expression, outputs = parse_reference(" ".join(comment), path)
            found.append(Function(path, start[1], "", expression, outputs))
        if stripped.startswith("//"):
            comment.append(stripped.lstrip("/").strip())
        else:
            comment = []
        if found:
            found[-1].text += line + "\n"
    return found


def parse_reference(comment, path):
    head, found, rest = comment.partition("reference:")
    if not found:
        return None, ()
    match = re.match(r"(.*?)->\s*(\w+(?:\s*,\s*\w+)*)", rest)
    if not match:
        raise ValueError(f"{path}: 'reference:' without '-> names'")
    return match[1].strip(), tuple(re.split(r"\s*,\s*", match[2]))


@dataclass
class Sequences:
    """How tokens fall into sequences, which of them exist, and the tokens between
    two snapshots."""

    cu_seqlens: tuple[int, ...] | None = None
    slots: tuple[int, ...] | None = None
    period: int = 1

    def pieces(self, name, array):
        """(label, piece, axis of heads) for all that a result must hold. Rows that
        no sequence covers are not written, and so not compared."""
        if name.endswith("T"):
            # A pool is compared whole: what no sequence owns must not change.
            return [(f"row {n}", array[n], 0) for n in range(len(array))]
        packed = self.cu_seqlens is not None
        count = len(self.cu_seqlens) - 1 if packed else len(array)
        rows = range(count) if self.slots is None else self.slots
        found = []
        for n in (n for n in range(count) if rows[n] != -1):
            piece = array[self.rows(n, name)] if packed else array[n]
            found.append((f"sequence {n}", piece, 1))
        return found

    def rows(self, n, name):
        """Rows of packed sequence n."""
        first, last = self.cu_seqlens[n : n + 2]
        if not name.startswith("snap") or self.period == 1:
            return slice(first, last)
        start = first // self.period + n
        return slice(start, start + -(-(last - first) // self.period))


def relative_rms(actual, expected):
    """RMS(actual - expected) / RMS(expected). Where the oracle is inf or NaN the
    result must be the same there; where all of it is 0, so must be the result."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    if actual.shape != expected.shape:
        raise ValueError(f"shape {actual.shape}, expected {expected.shape}")
    finite = np.isfinite(expected)
    if not np.array_equal(actual[~finite], expected[~finite], equal_nan=True):
        return np.inf
    actual, expected = actual[finite], expected[finite]
    if not np.all(np.isfinite(actual)):
        return np.inf
    # Scaled, so that squares neither overflow nor vanish.
    top = np.max(np.abs(expected), initial=0.0)
    if top == 0.0:
        return 0.0 if not np.any(actual) else np.inf
    difference = (actual - expected) / top
    return float(np.sqrt(np.mean(difference**2) / np.mean((expected / top) ** 2)))


@dataclass
class Error:
    """Relative RMS of one result: of all of it, and of the worst part."""

    name: str
    whole: float
    worst: float
    where: str

    def ok(self, limit):
        return self.whole <= limit and self.worst <= limit

    def __str__(self):
        return f"{self.name}: {self.whole:.2e}, worst {self.worst:.2e} ({self.where})"


def compare(name, actual, expected, sequences=Sequences()):
    if actual.shape != expected.shape:
        raise ValueError(f"{name}: shape {actual.shape}, expected {expected.shape}")
    error = Error(name, 0.0, 0.0, "nothing to compare")
    ours, theirs = (sequences.pieces(name, x) for x in (actual, expected))
    if not ours:
        return error
    flat = [np.concatenate([p.ravel() for _, p, _ in x]) for x in (ours, theirs)]
    error.whole = relative_rms(*flat)
    for (label, a, axis), (_, e, _) in zip(ours, theirs):
        for h in range(e.shape[axis]):
            rms = relative_rms(a.take(h, axis), e.take(h, axis))
            if rms >= error.worst:
                error.worst, error.where = rms, f"{label}, head {h}"
    return error


def load_inputs(folder):
    """in_NAME.npy by name, floats as fp64."""
    arrays = {p.stem[3:]: np.load(p) for p in sorted(Path(folder).glob("in_*.npy"))}
    return {
        name: a.astype(np.float64) if a.dtype.kind == "f" else a
        for name, a in arrays.items()
    }


def check_saved(function, folder, sequences=Sequences()):
    """Errors of what a run of `function` saved in `folder`."""
    period = re.search(r"snapshots\s*=\s*(\d+)", function.expression)
    if period:
        sequences = replace(sequences, period=int(period[1]))
    expected = function.evaluate(load_inputs(folder))
    actual = [
        np.load(Path(folder) / f"out_{i}.npy") for i in range(len(function.outputs))
    ]
    return [
        compare(name, a, e, sequences)
        for name, a, e in zip(function.outputs, actual, expected)
    ]


def offsets(text):
    return tuple(int(n) for n in text.split(","))


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="python -m linattn.testing",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", help="the .mlir file")
    parser.add_argument("folder", help="what linattn-run --save wrote")
    parser.add_argument("--function", help="default: the first with a reference")
    parser.add_argument("--seqlens", type=offsets, help="as given to linattn-run")
    parser.add_argument("--slots", type=offsets, help="as given to linattn-run")
    parser.add_argument("--limit", type=float, default=LIMIT)
    args = parser.parse_args(arguments)
    known = [f for f in functions(args.file) if f.expression]
    chosen = [f for f in known if args.function in (None, f.name)]
    if not chosen:
        parser.error(f"{args.file}: no function with a reference comment")
    sequences = Sequences(args.seqlens, args.slots)
    errors = check_saved(chosen[0], args.folder, sequences)
    for error in errors:
        print(error)
    return 0 if all(e.ok(args.limit) for e in errors) else 1


if __name__ == "__main__":
    sys.exit(main())
