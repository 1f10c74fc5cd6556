"""Holds compiled recurrences against a numpy oracle: for examples and tests."""

import argparse
import sys

import numpy as np

from .testing import relative_rms

# Relative RMS: results in f32, and those rounded to 16 bits once more.
LIMITS = {"f64": 1e-11, "f32": 1e-4, "bf16": 5e-3, "f16": 1e-3}


def widen(x):
    return np.asarray(x).astype(np.float64)


def errors(op, oracle, found, states=(), *, cu_seqlens=None, slots=None):
    """Per result (relative RMS, its limit) of a run on these arrays."""
    extra, calls = {}, {}
    if cu_seqlens is not None:
        calls["cu_seqlens"] = cu_seqlens
        extra["cu_seqlens"] = np.asarray(cu_seqlens).tolist()
    if slots is not None:
        calls["slots"] = slots
        extra.update(slots=np.asarray(slots).tolist(), padding=op.padding)
    if op.snapshots:
        extra["snapshots"] = "token" if op.snapshots == 1 else op.snapshots
    expected = oracle(
        *(widen(a) for a in found.values()), *(widen(s) for s in states), **extra
    )
    if states:
        calls["initial_state"] = states[0] if len(states) == 1 else tuple(states)
    actual = op(*found.values(), **calls)
    actual = actual if isinstance(actual, tuple) else (actual,)
    expected = expected if isinstance(expected, tuple) else (expected,)
    if len(actual) != len(expected):
        raise ValueError(f"{len(actual)} results, the oracle gives {len(expected)}")
    rows = []
    for a, e in zip(actual, expected):
        if cu_seqlens is not None and len(a) == len(found[next(iter(found))]):
            # Rows beyond the last offset are not written.
            a, e = a[: cu_seqlens[-1]], e[: cu_seqlens[-1]]
        name = np.asarray(a).dtype.name
        limit = LIMITS[{"bfloat16": "bf16", "float16": "f16", "float64": "f64"}.get(name, "f32")]
        rows.append((relative_rms(widen(a), e), limit))
    return rows


def main(ops, oracle, **sequences):
    """What an example does when it is run: draws inputs, checks every op of `ops`
    (by name), and says how far it is off."""
    from .sampling import inputs

    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    parser.add_argument("--B", type=int, default=2, help="sequences (default 2)")
    parser.add_argument("--T", type=int, default=100, help="tokens (default 100)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", metavar="LEVEL", help="print this level instead")
    args = parser.parse_args()
    bad = False
    for name, op in ops.items():
        if args.show:
            print(op.show(args.show))
            continue
        given, states = inputs(op, B=args.B, T=args.T, seed=args.seed)
        calls = {}
        if op.packed:
            # As many sequences as states, one of them empty, one token left over.
            cut = np.linspace(0, max(args.T - 1, 0), args.B).astype(np.int32)
            calls["cu_seqlens"] = np.concatenate([[0], cut]).astype(np.int32)
        if op.slots:
            calls["slots"] = np.arange(args.B)[::-1].astype(np.int32)
        rows = errors(op, oracle, given, states, **calls, **sequences)
        good = all(error <= limit for error, limit in rows)
        bad |= not good
        figures = ", ".join(f"{error:.1e}" for error, _ in rows)
        print(f"{name}: relative RMS {figures}: {'ok' if good else 'WRONG'}")
    raise SystemExit(int(bad))


def check(ops):
    """The same for functions that are no recurrence: by name (op, oracle, arrays of
    B and T)."""
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    parser.add_argument("--B", type=int, default=2, help="sequences (default 2)")
    parser.add_argument("--T", type=int, default=100, help="tokens (default 100)")
    args = parser.parse_args()
    bad = False
    for name, (op, oracle, arrays) in ops.items():
        found = dict(enumerate(arrays(args.B, args.T)))
        rows = errors(op, oracle, found)
        good = all(error <= limit for error, limit in rows)
        bad |= not good
        figures = ", ".join(f"{error:.1e}" for error, _ in rows)
        print(f"{name}: relative RMS {figures}: {'ok' if good else 'WRONG'}")
    raise SystemExit(int(bad))
