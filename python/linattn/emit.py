"""The text of a module with one recurrence."""

from dataclasses import dataclass, field

from .errors import ArgumentError
from .tracing import convert, escape


@dataclass(frozen=True)
class Argument:
    """A token operand or parameter as a call or the user gives it."""

    name: str
    role: str  # token, param
    dtype: str
    heads: int
    shape: tuple | None  # of one token and head; None: from its use


@dataclass(frozen=True)
class Signature:
    """What a recurrence is compiled for: all but B and T."""

    arguments: tuple[Argument, ...]
    state_shapes: tuple  # (K, V) or None per state
    state_dtypes: tuple[str, ...]
    K: int | None = None
    V: int | None = None
    out: str = "f32"
    seqlens: str | None = None  # i32 or i64
    slots: str | None = None
    padding: int = -1
    snapshots: int | None = None
    precision: str | None = None

    def __getitem__(self, name):
        return next(a for a in self.arguments if a.name == name)

    @property
    def heads(self):
        return max(a.heads for a in self.arguments)

    @property
    def packed(self):
        return self.seqlens is not None


@dataclass
class Module:
    """A module's text, and what a caller must know of its function."""

    name: str
    text: str
    arguments: list = field(default_factory=list)
    results: list = field(default_factory=list)
    symbols: list = field(default_factory=list)
    kinds: dict = field(default_factory=dict)
    text_key: str = ""  # the text without places in files


def tensor(dims, element):
    return "tensor<" + "".join(f"{'?' if isinstance(d, Sym) else d}x" for d in dims) + (
        element + ">"
    )


@dataclass(frozen=True)
class Sym:
    """A size that a call brings: a symbol plus a constant."""

    name: str
    plus: int = 0


def emit(recurrence, signature):
    module = write(recurrence, signature, locations=True)
    module.text_key = write(recurrence, signature, locations=False).text
    return module


def write(recurrence, signature, locations):
    trace, values, states, outputs, finals = recurrence.trace(signature)
    with trace.at(recurrence.place):
        outputs = [convert(o, signature.out) for o in outputs]
    for argument in signature.arguments:
        shape = values[argument.name].shape
        if not shape.known:
            shape.unify(type(shape)(()))
    check(recurrence, signature, values, states)

    packed, H = signature.packed, signature.heads
    lead = (Sym("T"),) if packed else (Sym("B"), Sym("T"))
    rows = Sym("P") if signature.slots else Sym("N") if packed else Sym("B")
    file, _, line = recurrence.place.rpartition(":")
    place = f' loc("{escape(file)}":{line}:1)' if locations else ""

    arguments, step, kinds = [], [], {}
    groups = {"token": [], "param": []}
    for a in signature.arguments:
        value = values[a.name]
        inner = tuple(d.value for d in value.shape.dims)
        dims = ((*lead, a.heads) if a.role == "token" else (a.heads,)) + inner
        attributes = [f'linattn.name = "{a.name}"']
        if a.name in recurrence.samples:
            attributes.append(f'linattn.sample = "{recurrence.samples[a.name]}"')
        kinds[a.name] = (a.role, inner)
        groups[a.role].append((f"%{a.name}", dims, a.dtype, value.name, value.type))
        arguments.append(
            dict(name=a.name, ssa=f"%{a.name}", dims=dims, dtype=a.dtype,
                 role=a.role, inner=bool(inner), attributes=attributes)
        )
    state_operands = []
    for state, name in zip(states, recurrence.states):
        ssa = state_argument(name, signature, len(states))
        dims = (rows, H, state.keys.value, state.values.value)
        state_operands.append((f"%{ssa}", dims, state.element, state.name, state.type))
        attributes = [f'linattn.name = "{ssa}"']
        if name in recurrence.samples or len(states) == 1 or state.values.value > 1:
            kind = recurrence.samples.get(name, "state")
            attributes.append(f'linattn.sample = "{kind}"')
        arguments.append(
            dict(name=ssa, ssa=f"%{ssa}", dims=dims, dtype=state.element,
                 role="state", inner=True, attributes=attributes)
        )
    clauses = ""
    if packed:
        arguments.append(integers("cu", "seqlens", Sym("N", 1), signature.seqlens))
        clauses += f" seqlens(%cu : tensor<?x{signature.seqlens}>)"
    if signature.slots:
        count = Sym("N") if packed else Sym("B")
        arguments.append(integers("slots", "slots", count, signature.slots))
        clauses += (
            f" slots(%slots : tensor<?x{signature.slots}>, "
            f"padding = {signature.padding})"
        )
    if signature.snapshots:
        clauses += f" snapshots(every = {signature.snapshots})"
    if signature.precision:
        clauses += f" precision({signature.precision})"

    results = []
    for value in outputs:
        dims = (*lead, H, *(d.value for d in value.shape.dims))
        results.append((dims, value.element, "output", None))
    for (ssa, dims, element, _, _) in state_operands:
        results.append(
            (dims, element, "state", ssa[1:] if signature.slots else None)
        )
    if signature.snapshots:
        for (_, dims, element, _, _) in state_operands:
            chunk = (Sym("R"),) if packed else (Sym("B"), Sym("R"))
            results.append(((*chunk, *dims[1:]), element, "snapshots", None))
    types = [tensor(dims, element) for dims, element, _, _ in results]

    def operands(group):
        return ", ".join(f"{ssa} : {tensor(dims, e)}" for ssa, dims, e, _, _ in group)

    for group in (groups["token"], groups["param"], state_operands):
        step += [f"{name}: {kind}{place}" for _, _, _, name, kind in group]
    lines = [f"func.func @{recurrence.name}("]
    lines.append(
        ",\n".join(
            f"    {a['ssa']}: {tensor(a['dims'], a['dtype'])}"
            + (f" {{{', '.join(a['attributes'])}}}" if a["attributes"] else "")
            + place
            for a in arguments
        )
        + ")"
    )
    lines.append(f"    -> ({', '.join(types)}) {{")
    many = f":{len(types)}" if len(types) != 1 else ""
    params = f"\n      params({operands(groups['param'])})" if groups["param"] else ""
    lines.append(
        f"  %results{many} = linattn.recurrence\n      tokens({operands(groups['token'])})"
        f"{params}\n      state({operands(state_operands)}){clauses}\n      -> "
        f"({', '.join(types)}) {{"
    )
    lines.append("  ^step(" + ", ".join(step) + "):")
    body = trace.text(locations)
    if body:
        lines.append(body)
    ends = [*outputs, *finals]
    lines.append(
        "    linattn.yield "
        + ", ".join(v.name for v in ends)
        + " : "
        + ", ".join(v.type for v in ends)
        + place
    )
    lines.append(f"  }}{place}")
    names = [f"%results#{i}" if many else "%results" for i in range(len(types))]
    lines.append(f"  return {', '.join(names)} : {', '.join(types)}{place}")
    lines.append(f"}}{place}")

    names = [a["name"] for a in arguments]
    for name in names:
        if names.count(name) > 1:
            raise ArgumentError(
                f"{recurrence.name}: parameter '{name}' has the name that linattn gives "
                "an argument of its own: call it otherwise"
            )
    symbols = sorted({d.name for a in arguments for d in a["dims"] if isinstance(d, Sym)})
    return Module(
        recurrence.name, "\n".join(lines) + "\n",
        call_arguments(arguments, signature, recurrence.states),
        call_results(results, arguments), symbols, kinds,
    )


def call_arguments(arguments, signature, state_names):
    """For the native call. `said` is the argument in the words of the call."""
    states = [a for a in arguments if a["role"] == "state"]
    words = {"cu": "cu_seqlens"} if signature.packed else {}
    for a, name in zip(states, state_names):
        words[a["name"]] = "initial_state" if len(states) == 1 else f"initial_state ({name})"
    return [
        dict(
            name=a["name"],
            said=words.get(a["name"], a["name"]),
            dtype=a["dtype"],
            shape=list(a["dims"]),
            role=a["role"],
            inner_contiguous=a["inner"],
            written=a["role"] == "state" and signature.slots is not None,
            counted={"seqlens": "T", "slots": "P"}.get(a["role"]),
            padding=signature.padding,
        )
        for a in arguments
    ]


def call_results(results, arguments):
    order = [a["name"] for a in arguments]
    return [
        dict(dtype=element, rank=len(dims), role=role, dims=dims,
             in_place=order.index(pool) if pool else -1)
        for dims, element, role, pool in results
    ]


def integers(name, role, size, dtype):
    return dict(
        name=name, ssa=f"%{name}", dims=(size,), dtype=dtype, role=role, inner=False,
        attributes=[f'linattn.name = "{name}"'],
    )


def state_argument(name, signature, count):
    """The function's argument that holds a state's first value."""
    if signature.slots and count == 1:
        return "pool"
    return f"{name.lower()}0"


def check(recurrence, signature, values, states):
    """What must be known by now."""
    H = signature.heads
    for a in signature.arguments:
        if H % a.heads:
            raise ArgumentError(
                f"{recurrence.name}: {a.heads} heads of '{a.name}' do not divide the "
                f"largest head count {H}"
            )
        for size in values[a.name].shape.dims:
            if size.value is None:
                raise ArgumentError(
                    f"{recurrence.name}: the size of '{a.name}' is not known: give "
                    "K= and V=, or arrays"
                )
    for state in states:
        for letter, size in (("K", state.keys), ("V", state.values)):
            if size.value is None:
                raise ArgumentError(
                    f"{recurrence.name}: {letter} of state '{state.param}' is not "
                    f"known: give {letter}="
                )
            if not 1 <= size.value <= 1024:
                raise ArgumentError(
                    f"{recurrence.name}: {letter} of state '{state.param}' is from 1 "
                    f"to 1024, got {size.value}"
                )
