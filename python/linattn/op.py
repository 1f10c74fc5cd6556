"""`linattn.compile`: a recurrence to something that can be called."""

import threading
from dataclasses import replace
from os import PathLike
from pathlib import Path

from . import arrays, code
from .emit import Argument, Signature
from .errors import PLACE, ArgumentError, Error, TraceError
from .kinds import parse_kind
from .levels import PARTS, pipeline_of
from .options import (
    check_as_compiled, check_by_argument, check_compiling, check_heads, check_sizes, check_text,
    check_widths,
)
from .shapes import WIDTHS
from .step import Recurrence

FLOATS = ("bf16", "f16", "f32", "f64")
INTEGERS = ("i32", "i64")
ALIASES = {
    "bfloat16": "bf16", "float16": "f16", "half": "f16", "float32": "f32",
    "float": "f32", "float64": "f64", "double": "f64",
}


def dtype_name(dtype):
    """bf16, f16, f32 or f64 of text or a library's type; None stays."""
    if dtype is None:
        return None
    name = getattr(dtype, "__name__", None) or getattr(dtype, "name", None) or str(dtype)
    name = name.rpartition(".")[2]
    name = ALIASES.get(name, name)
    if name not in FLOATS:
        raise Error(f"dtype is one of {', '.join(FLOATS)}, got {dtype!r}")
    return name


class Op:
    """A compiled recurrence. A call compiles for the arrays' types and fixed sizes
    once; other B and T, other strides and other values never compile again."""

    def __init__(self, recurrence, options, *, K=None, V=None, dtype=None, heads=None,
                 kinds=None, dtypes=None, packed=False, slots=False, padding=-1,
                 snapshots=None, precision=None):
        self.recurrence, self.options = recurrence, options
        self.name = recurrence.name
        self.names = tuple(recurrence.arguments)
        check_widths(K, V)
        check_heads(heads)
        by_name = heads if isinstance(heads, dict) else None
        for what, given in (("heads", by_name), ("kinds", kinds), ("dtypes", dtypes)):
            check_by_argument(what, given, self.name, self.names)
        self.K, self.V, self.dtype = K, V, dtype_name(dtype)
        self.heads, self.kinds = heads, dict(kinds or {})
        self.dtypes = {n: dtype_name(t) for n, t in (dtypes or {}).items()}
        self.packed, self.slots, self.padding = packed, slots, padding
        self.snapshots, self.precision = snapshots, precision
        self.states = len(recurrence.states)
        self._functions = {}
        self._lock = threading.Lock()
        self._last = None

    # The path of every call.
    def __call__(self, /, *given, initial_state=None, cu_seqlens=None, slots=None, **named):
        """Token operands and parameters in the order of the function, or by name.

        initial_state: [N, H, K, V] (a tuple for several states); zeros if left out.
        cu_seqlens: offsets of packed sequences, [N + 1]; tokens are then [T, H, ..].
        slots: rows of `initial_state`, a pool updated in place, one per sequence.
        Returns the outputs, the final states, then snapshots. Rows of no sequence are
        zero."""
        if named:
            given = self._order(given, named)
        states = initial_state
        if self.states == 0:
            states = ()
        elif self.states != 1:
            states = self._state_list(initial_state)
        elif type(states) in (tuple, list):
            states = self._state_list(states)
        else:
            states = (states,)
        last = self._last
        if (
            last is not None
            and len(given) == len(self.names)
            and type(given[0]) is last[3]
            and (cu_seqlens is None) is last[4]
            and (slots is None) is last[5]
        ):
            if cu_seqlens is not None:
                states += (cu_seqlens,)
            if slots is not None:
                states += (slots,)
            try:
                result = last[0].call(*given, *states, make=last[1], finish=last[2])
            except (ValueError, TypeError) as error:
                self._refuse(error)
            if result is not NotImplemented:
                return result
            states = states[: self.states]
        return self._first_call(given, states, cu_seqlens, slots)

    def _order(self, given, named):
        missing = []
        rest = list(given)
        if len(given) > len(self.names):
            self._refuse(f"takes {len(self.names)} arrays, got {len(given)}")
        for name in self.names[len(given) :]:
            if name in named:
                rest.append(named.pop(name))
            else:
                missing.append(name)
        for name in named:
            if name in self.names:
                self._refuse(f"got argument '{name}' twice")
            self._refuse(
                f"has no argument '{name}'; it has {', '.join(self.names)}, "
                "initial_state, cu_seqlens and slots"
            )
        if missing:
            self._refuse(f"needs argument '{missing[0]}'")
        return tuple(rest)

    def _state_list(self, states):
        if states is None:
            return (None,) * self.states
        if not isinstance(states, (tuple, list)) or len(states) != self.states:
            got = len(states) if isinstance(states, (tuple, list)) else 1
            self._refuse(
                f"initial_state has {self.states} state(s) "
                f"({', '.join(self.recurrence.states)}), got {got}"
            )
        return tuple(states)

    def _refuse(self, error):
        """Says where the call is, and whose error it is."""
        message = PLACE.sub("", str(error), count=1)
        if not message.startswith(f"{self.name}: "):
            message = f"{self.name}: {message}"
        raise ArgumentError(message) from None

    def _first_call(self, given, states, cu_seqlens, slots):
        """Of these types and sizes; or a wrong one."""
        if len(given) != len(self.names):
            if len(given) < len(self.names):
                self._refuse(f"needs argument '{self.names[len(given)]}'")
            self._refuse(f"takes {len(self.names)} arrays, got {len(given)}")
        try:
            signature, device = self._signature_of(given, states, cu_seqlens, slots)
        except ArgumentError as error:
            self._refuse(error)
        options = self._options_for(device)
        if not options.is_cpu:
            from . import gpu

            return self._traced(
                lambda: gpu.call(
                    self, signature, options, given, states, cu_seqlens, slots
                ),
                given, cu_seqlens,
            )
        function = self._traced(
            lambda: self._function(signature, options), given, cu_seqlens
        )
        make, finish = arrays.library_of(
            given[0], zeros=cu_seqlens is not None or slots is not None
        )
        self._last = (
            function, make, finish, type(given[0]), cu_seqlens is None, slots is None,
        )
        extra = [x for x in (cu_seqlens, slots) if x is not None]
        try:
            result = function.call(*given, *states, *extra, make=make, finish=finish)
        except (ValueError, TypeError) as error:
            self._refuse(error)
        assert result is not NotImplemented, "compiled for other arrays than these"
        return result

    def _traced(self, compiled, given, cu_seqlens):
        """What `compiled` gives. Where the step does not go with packed sequences, a
        batch dimension may have been read as one of the heads: says so."""
        try:
            return compiled()
        except (ArgumentError, TraceError) as error:
            wide = next(
                (n for n, a in zip(self.names, given) if getattr(a, "ndim", 0) > 3), None
            )
            if cu_seqlens is not None and wide is not None:
                shape = list(arrays.describe(wide, given[self.names.index(wide)])[0])
                error = type(error)(
                    f"{error}; with cu_seqlens tokens are packed, [T, H, ..] without a "
                    f"batch: argument '{wide}' is {shape}"
                )
            if isinstance(error, TraceError):
                raise error from None
            self._refuse(error)

    def _options_for(self, device):
        kind, number = device
        target = self.options.target
        if target == "auto":
            if kind == 1:
                return replace(self.options, target="cpu")
            from . import gpu

            return replace(self.options, target=gpu.target_of(number))
        if target == "cpu" and kind != 1:
            self._refuse(
                f"was compiled for the cpu, got arrays on {arrays.DEVICES.get(kind, kind)}"
            )
        # A GPU's function takes numpy's arrays too: they travel.
        return self.options

    def _function(self, signature, options):
        key = (signature, options)
        found = self._functions.get(key)
        if found is None:
            with self._lock:
                found = self._functions.get(key)
                if found is None:
                    module = self.recurrence.module(signature)
                    found = code.load(code.entry(module, options), module)
                    self._functions[key] = found
        return found

    # What a call's arrays say.
    def _signature_of(self, given, states, cu_seqlens, slots):
        described = [arrays.describe(n, a) for n, a in zip(self.names, given)]
        if hasattr(self.recurrence, "signature_of"):
            signature = self.recurrence.signature_of(
                dict(zip(self.names, described)), self._index("cu_seqlens", cu_seqlens)
            )
            return signature, self._device(given, described)
        packed = cu_seqlens is not None
        lead = 1 if packed else 2
        most = max(len(d[0]) for d in described)
        if most <= lead:
            raise ArgumentError(
                f"no argument has the rank of tokens, {token_form(lead)}"
            )
        tokens = next(d[0] for d in described if len(d[0]) == most)[lead - 1]
        arguments = tuple(
            self._argument(name, d, lead, tokens)
            for name, d in zip(self.names, described)
        )
        roles = [a.role for a in arguments]
        if "token" not in roles:
            raise ArgumentError(
                f"no argument has the rank of tokens, {token_form(lead)}"
            )
        check_as_compiled(arguments, self.heads, self.dtypes)
        vector = next(
            (a for a in arguments if a.role == "token" and a.shape), arguments[0]
        )
        if self.dtype and vector.dtype != self.dtype:
            raise ArgumentError(
                f"argument '{vector.name}' is {self.dtype}, as compiled, got {vector.dtype}"
            )
        out = self.dtype or vector.dtype
        heads = max(a.heads for a in arguments)
        shapes, dtypes = [], []
        for name, state in zip(self.recurrence.states, states):
            if state is None:
                shapes.append(None)
                dtypes.append("f64" if out == "f64" else "f32")
                continue
            shape, _, dtype, *_ = arrays.describe(
                "initial_state" if self.states == 1 else f"initial_state ({name})", state
            )
            if len(shape) != 4 or shape[1] != heads:
                raise ArgumentError(
                    f"initial state '{name}' is [N, {heads}, K, V], got {list(shape)}"
                )
            self._check_float(f"initial state '{name}'", dtype)
            shapes.append(tuple(shape[2:]))
            dtypes.append(dtype)
        if slots is not None and any(s is None for s in states):
            raise ArgumentError("slots name rows of initial_state, which is not given")
        signature = Signature(
            arguments, tuple(shapes), tuple(dtypes), self.K, self.V, out,
            self._index("cu_seqlens", cu_seqlens), self._index("slots", slots),
            self.padding, self.snapshots, self.precision,
        )
        return signature, self._device(given, described)

    def _device(self, given, described):
        first = described[0][3:]
        for name, d in zip(self.names, described):
            if d[3:] != first:
                raise ArgumentError(
                    f"argument '{name}' is on {arrays.DEVICES.get(d[3], d[3])}:{d[4]}, "
                    f"'{self.names[0]}' on {arrays.DEVICES.get(first[0], first[0])}:"
                    f"{first[1]}"
                )
        return first

    def _index(self, name, array):
        if array is None:
            return None
        shape, _, dtype, *_ = arrays.describe(name, array)
        if dtype not in INTEGERS or len(shape) != 1:
            raise ArgumentError(
                f"{name} is a vector of int32 or int64, got {dtype} {list(shape)}"
            )
        if name == "cu_seqlens" and shape[0] < 1:
            raise ArgumentError("cu_seqlens has N + 1 offsets, got none")
        return dtype

    def _check_float(self, what, dtype):
        if dtype not in FLOATS:
            raise ArgumentError(f"{what} is {', '.join(FLOATS[:-1])} or f64, got {dtype}")

    def _kind(self, name):
        if name in self.kinds:
            return parse_kind(self.kinds[name])
        return self.recurrence.kinds[name]

    def _argument(self, name, described, lead, tokens):
        shape, _, dtype, *_ = described
        self._check_float(f"argument '{name}'", dtype)
        kind, rank = self._kind(name), len(shape)
        role = kind.role
        if role == "token" and kind.shape is None and rank <= lead:
            # One value per head, or a vector of it.
            if lead == 2 or rank == 1 or shape[0] != tokens:
                role = "param"
        outer = lead if role == "token" else 0
        if rank < outer + 1 or rank > outer + 3 - (role == "param"):
            form = token_form(lead) if role == "token" else "[H] or [H, D]"
            raise ArgumentError(f"argument '{name}' is {form}, got {list(shape)}")
        if kind.shape is not None and rank != outer + 1 + len(kind.shape):
            per = "x".join(map(str, kind.shape)) or "a number"
            raise ArgumentError(
                f"argument '{name}' has {per} per token and head, got {list(shape)}"
            )
        inner = tuple(shape[outer + 1 :])
        if shape[outer] < 1 or any(size < 1 for size in inner):
            raise ArgumentError(
                f"argument '{name}' has at least one head and element, got {list(shape)}"
            )
        return Argument(name, role, dtype, shape[outer], inner)

    # Without arrays.
    def signature(self):
        """From what compile was told: heads, K, V, dtype and kinds."""
        dtype = self.dtype or "f32"
        if self.heads is None:
            raise Error(
                f"{self.name}: without arrays, heads= says how many heads there are"
            )
        arguments = []
        for name in self.names:
            kind = self._kind(name)
            arguments.append(
                Argument(name, kind.role, self.dtypes.get(name, "f32"),
                         self._head_count(name), kind.shape)
            )
        signature = Signature(
            tuple(arguments), (None,) * self.states,
            ("f64" if dtype == "f64" else "f32",) * self.states, self.K, self.V, dtype,
            "i32" if self.packed else None, "i32" if self.slots else None, self.padding,
            self.snapshots, self.precision,
        )
        # Vectors are of the type, numbers and parameters in f32: which is which
        # comes out of the trace.
        kinds = self.recurrence.module(signature).kinds
        arguments = tuple(
            replace(a, shape=kinds[a.name][1],
                    dtype=self.dtypes.get(a.name) or default_dtype(dtype, *kinds[a.name]))
            for a in arguments
        )
        return replace(signature, arguments=arguments)

    def _heads_by_name(self):
        return self.heads if isinstance(self.heads, dict) else {}

    def _head_count(self, name):
        if not isinstance(self.heads, dict):
            return self.heads
        return self.heads.get(name, max(self.heads.values()))

    def module(self, *given, initial_state=None, cu_seqlens=None, slots=None):
        """The module of level 0: for such arrays, or for what compile was told."""
        if not given:
            return self.recurrence.module(self.signature())
        states = self._state_list(
            (initial_state,) if self.states == 1 and initial_state is not None
            else initial_state
        )
        return self.recurrence.module(
            self._signature_of(given, states, cu_seqlens, slots)[0]
        )

    def show(self, level="recurrence", *given, **states):
        """The text at a level: see linattn.levels.LEVELS, or a pipeline."""
        if not isinstance(level, str):
            raise Error(f"show: the level is text such as 'chunk', got {level!r}")
        module = self.module(*given, **states)
        if level in PARTS:
            options = self._export_options("sm_90a" if level == "ptx" else "cpu")
            folder = code.entry(module, options)
            suffix = dict(ptx="ptx", header="h", json="json")[level]
            return (folder / f"{self.name}.{suffix}").read_text()
        from . import native

        parsed = native.parse(module.text)
        pipeline = pipeline_of(level, self.options.chunk)
        if pipeline:
            parsed.run(pipeline)
        return str(parsed.operation)

    def _export_options(self, otherwise):
        target = self.options.target
        if target == "auto" or (otherwise != "cpu" and target == "cpu"):
            return replace(self.options, target=otherwise)
        return self.options

    def export(self, folder, *given, **states):
        """Writes what compiling gives: NAME.o, .h, .json, or .ptx, .cubin, .json.

        For such arrays, or for what compile was told."""
        module = self.module(*given, **states)
        source = code.entry(module, self._export_options("cpu"))
        if not isinstance(folder, (str, PathLike)):
            raise Error(f"export: the folder is text or a path, got {folder!r}")
        written = []
        try:
            Path(folder).mkdir(parents=True, exist_ok=True)
            for path in sorted(source.iterdir()):
                target = Path(folder) / path.name
                target.write_bytes(path.read_bytes())
                written.append(target)
        except OSError as error:
            raise Error(
                f"export: cannot write to '{folder}': {error.strerror}"
            ) from None
        return written

    def __repr__(self):
        return f"<op {self.name} for {self.options.target}>"


def token_form(lead):
    return "[B, T, H, ..]" if lead == 2 else "[T, H, ..]"


def default_dtype(dtype, role, shape):
    if dtype == "f64":
        return "f64"
    return dtype if role == "token" and shape and WIDTHS[dtype] else "f32"


def compile(recurrence, *, target="auto", K=None, V=None, dtype=None, chunk=64,
            lowering=None, heads=None, kinds=None, dtypes=None, packed=False,
            slots=False, padding=-1, snapshots=None, mma=None, keep_rounding=False,
            plan=None, sizes=None, cpu="native"):
    """Makes a recurrence callable.

    target: "auto" (the arrays' device), "cpu", or a GPU such as "sm_90a".
    lowering: "serial" (token by token; any recurrence), "chunkwise" (matrix products
      over chunks; refused where there is no such form) or "auto" (chunkwise where there
      is). Left out: auto on a GPU, serial on the CPU, where it compiles faster.
    K, V, dtype: of the state's keys and values, of the outputs; from the arrays if
      left out.
    snapshots: also return the states after every so many tokens.
    chunk, mma, keep_rounding, plan: of the chunk form.
    sizes: what the calls on a GPU will be like, as far as it is known, such as
      {"B": 1, "T": 32768}: B (or N) sequences of T tokens each. The plan is chosen for
      them (docs/Plans.md); calls of other sizes run all the same.
    For show and export without arrays: heads (a number, or by argument), kinds and
      dtypes by argument, packed, slots."""
    if callable(recurrence) and not hasattr(recurrence, "module"):
        recurrence = Recurrence(recurrence)
    if not hasattr(recurrence, "module"):
        raise Error(f"compile takes a recurrence, got {recurrence!r}")
    if not isinstance(target, str):
        raise Error(f"target is text such as 'cpu' or 'sm_90a', got {target!r}")
    if target not in ("auto", "cpu") and not target.startswith("sm_"):
        raise Error(f"target is 'auto', 'cpu' or a GPU such as 'sm_90a', got {target!r}")
    check_compiling(lowering, chunk, snapshots, padding)
    for name, value in (("mma", mma), ("plan", plan), ("cpu", cpu)):
        check_text(name, value)
    options = code.Options(target, lowering, chunk, mma, plan, keep_rounding, cpu,
                           check_sizes(sizes))
    return Op(recurrence, options, K=K, V=V, dtype=dtype, heads=heads, kinds=kinds,
              dtypes=dtypes, packed=packed, slots=slots, padding=padding,
              snapshots=snapshots)
