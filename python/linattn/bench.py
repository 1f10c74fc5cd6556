"""Times an op over lengths, after its results passed a check."""

import time

import numpy as np

from .costs import bound, costs
from .sampling import inputs
from .testing import relative_rms


def in_f64(op):
    """The same recurrence, computed in f64 throughout: the oracle."""
    from .op import compile

    return compile(
        op.recurrence, target="cpu", K=op.K, V=op.V, kinds=op.kinds,
        padding=op.padding, snapshots=op.snapshots,
    )


def wide(array):
    return np.asarray(array).astype(np.float64)


def arguments(op, B, T, seed=0, gates="usual"):
    """Token operands and parameters, and keywords of a call."""
    given, states = inputs(op, B=B, T=B * T if op.packed else T, seed=seed, gates=gates)
    calls = {}
    if states:
        calls["initial_state"] = states[0] if len(states) == 1 else tuple(states)
    if op.packed:
        calls["cu_seqlens"] = np.arange(B + 1, dtype=np.int32) * T
    if op.slots:
        calls["slots"] = np.arange(B, dtype=np.int32)
    return given, calls


def check(op, given, calls):
    """Relative RMS per result against f64."""
    states = calls.get("initial_state")
    others = dict(calls)
    if states is not None:
        many = isinstance(states, tuple)
        others["initial_state"] = (
            tuple(map(wide, states)) if many else wide(states)
        )
    expected = in_f64(op)(*map(wide, given.values()), **others)
    actual = op(*given.values(), **calls)
    pair = (actual, expected) if isinstance(actual, tuple) else ((actual,), (expected,))
    return [relative_rms(wide(a), e) for a, e in zip(*pair)], pair[0]


def measure(function, budget=1.0, least=3):
    """Seconds per call: the median of as many as fit the budget."""
    function()
    times, start = [], time.perf_counter()
    while len(times) < least or time.perf_counter() - start < budget:
        begin = time.perf_counter()
        function()
        times.append(time.perf_counter() - begin)
        if len(times) >= 100:
            break
    return float(np.median(times))


def run(op, lengths, B, machine, step=lambda text="": None, budget=1.0):
    """Rows: T, seconds, tokens per second, bytes, flops, seconds of the bound."""
    rows = []
    form = "chunk" if op.options.form == "chunkwise" else "serial"
    for T in lengths:
        step(f"T={T}")
        given, calls = arguments(op, B, T)
        values = tuple(given.values())
        found = costs(op, B, T, op.options.chunk)
        seconds = measure(lambda: op(*values, **calls), budget)
        best, by = bound(machine, found, form)
        flops = found.chunk_flops if form == "chunk" else found.serial_flops
        rows.append(
            dict(T=T, B=B, seconds=seconds, tokens_per_second=B * T / seconds,
                 bytes=found.total_bytes, flops=flops, bound_seconds=best, bound_by=by)
        )
    return rows


def draw(rows, machine, title, path):
    """Time against length, and the roofline, as a picture."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2))
    T = [r["T"] for r in rows]
    left.loglog(T, [r["seconds"] * 1e3 for r in rows], "o-", label="measured")
    left.loglog(T, [r["bound_seconds"] * 1e3 for r in rows], "--", label="bound")
    left.set_xlabel("tokens per sequence")
    left.set_ylabel("time (ms)")
    left.set_title(title)
    left.legend()
    left.grid(True, which="both", alpha=0.3)

    x = np.logspace(-2, 4, 200)
    right.loglog(x, np.minimum(machine.bandwidth * x, machine.vector) / 1e9, "-",
                 label=f"{machine.name}, vector")
    if machine.matrix != machine.vector:
        right.loglog(x, np.minimum(machine.bandwidth * x, machine.matrix) / 1e9, "-",
                     label=f"{machine.name}, matrix")
    right.loglog([r["flops"] / r["bytes"] for r in rows],
                 [r["flops"] / r["seconds"] / 1e9 for r in rows], "o", label="measured")
    right.set_xlabel("operations per byte")
    right.set_ylabel("Gflop/s")
    right.set_title("roofline")
    right.legend()
    right.grid(True, which="both", alpha=0.3)
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)
