"""What a recurrence moves and computes, counted from its trace, and how fast a
machine can do that at best."""

from dataclasses import dataclass

from .emit import Sym

SIZES = {"bf16": 2, "f16": 2, "f32": 4, "f64": 8, "i32": 4, "i64": 8}


@dataclass(frozen=True)
class Machine:
    """Peaks: bytes per second, and floating-point operations per second of vector
    arithmetic in f32 and of matrix products in bf16."""

    name: str
    bandwidth: float
    vector: float
    matrix: float
    source: str = "NVIDIA's data sheet, dense"


MACHINES = {
    "sm_80": Machine("A100 SXM 80 GB", 2.039e12, 19.5e12, 312e12),
    "sm_90a": Machine("H200 SXM", 4.8e12, 67e12, 989e12),
    "sm_100a": Machine("B200", 8e12, 80e12, 2250e12),
    "sm_120a": Machine("RTX 5090", 1.792e12, 104.8e12, 209.5e12),
}


def machine_of(target):
    """The machine that a target's bound is stated for; the CPU's is measured."""
    if target == "cpu":
        return measure_cpu()
    for name in (target, target + "a"):
        if name in MACHINES:
            return MACHINES[name]
    return None


def measure_cpu():
    """A copy larger than the caches, and numpy's product of matrices."""
    import time

    import numpy as np

    def best(function, repeat=3):
        times = []
        for _ in range(repeat):
            start = time.perf_counter()
            function()
            times.append(time.perf_counter() - start)
        return min(times)

    source = np.ones(2**25, np.float32)
    target = np.empty_like(source)
    copy = best(lambda: np.copyto(target, source))
    a = np.ones((1024, 1024), np.float32)
    product = best(lambda: a @ a)
    peak = 2 * 1024**3 / product
    return Machine("this CPU", 2 * source.nbytes / copy, peak, peak,
                   "a copy and numpy's matrix product, measured now")


@dataclass
class Costs:
    """Of B sequences of T tokens."""

    bytes: dict  # by what moves
    serial_flops: float
    chunk_flops: float | None

    @property
    def total_bytes(self):
        return sum(self.bytes.values())


def elements(dims, sizes):
    count = 1
    for d in dims:
        count *= sizes[d.name] + d.plus if isinstance(d, Sym) else d
    return count


def costs(op, B, T, chunk=64):
    """Of an op that was told heads, K, V and dtype."""
    module = op.module()
    signature = op.signature()
    sizes = {"B": B, "T": B * T if op.packed else T, "N": B, "P": B, "R": -(-T // (op.snapshots or T or 1))}
    moved = {}
    for a in module.arguments:
        name = "states in" if a["role"] == "state" else "tokens in"
        if a["role"] == "param":
            name = "parameters"
        moved[name] = moved.get(name, 0) + elements(a["shape"], sizes) * SIZES[a["dtype"]]
    for r in module.results:
        name = {"state": "states out", "output": "outputs"}.get(r["role"], "snapshots")
        moved[name] = moved.get(name, 0) + elements(r["dims"], sizes) * SIZES[r["dtype"]]
    serial, chunked = flops(op.recurrence, signature, chunk)
    times = B * T * signature.heads
    return Costs(moved, serial * times, chunked * times)


def flops(recurrence, signature, chunk):
    """Per token and head, token by token and in chunks."""
    trace, values, states, outputs, finals = recurrence.trace(signature)
    sizes = {s.name: (s.keys.value, s.values.value) for s in states}
    serial = chunked = 0.0
    writes = []
    for result, write, _ in trace.operations:
        text = write()
        name, _, rest = text.partition(" ")
        operand = rest.split(",")[0].split()[0]
        if name in ("linattn.decay", "linattn.read", "linattn.write", "linattn.delta_update"):
            K, V = sizes[operand]
            if name != "linattn.read":
                sizes[result] = (K, V)
            if name == "linattn.decay":
                serial += K * V
                continue
            reads = name in ("linattn.read", "linattn.delta_update")
            updates = name in ("linattn.write", "linattn.delta_update")
            serial += 2 * K * V * (reads + updates)
            # Against the state, and half of a chunk's earlier writes.
            chunked += 2 * K * V * (reads + updates)
            if reads:
                chunked += len(writes or [0]) * chunk * (K + V)
            if name == "linattn.delta_update":
                chunked += chunk * chunk / 3 + chunk * V  # the inverse, and applying it
            if updates:
                writes.append(result)
        elif not name.startswith("arith.constant"):
            shape = text.rpartition("vector<")[2].split("x") if "vector<" in text else []
            width = 1
            for part in shape[:-1]:
                width *= int(part)
            serial += width
            chunked += width
    return serial, chunked


def bound(machine, found, form):
    """(seconds, what bounds) at best: bytes, or arithmetic."""
    memory = found.total_bytes / machine.bandwidth
    work = found.serial_flops / machine.vector
    if form == "chunk":
        work = found.chunk_flops / machine.matrix
    return (memory, "memory") if memory >= work else (work, "arithmetic")
