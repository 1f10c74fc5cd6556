"""`@linattn.recurrence`: one token's step, written as a Python function."""

import functools
import inspect
import re

from .emit import Signature, emit
from .errors import ArgumentError, TraceError
from .kinds import Kind, parse_kind
from .shapes import Shape, Size
from .source import is_ours
from .tracing import State, Trace, Traced, is_number, lift


# What a call takes by these names is not the step's: an op's, and the runtime's.
KEYWORDS = ("initial_state", "cu_seqlens", "slots", "out", "workspace", "stream")


class Recurrence:
    """A step, and what is said of its parameters."""

    def __init__(self, function, samples=None, kinds=None):
        if not inspect.isfunction(function):
            raise TraceError(f"a recurrence is a function, got {function!r}")
        functools.update_wrapper(self, function)
        self.function = function
        self.name = re.sub(r"\W", "_", function.__name__)
        if self.name == "_lambda_":
            self.name = "step"
        code = function.__code__
        self.place = f"{code.co_filename}:{code.co_firstlineno}"
        self.kinds = self._read_kinds(kinds or {})
        self.states = [n for n, k in self.kinds.items() if k.role == "state"]
        self.arguments = [n for n, k in self.kinds.items() if k.role != "state"]
        if not isinstance(samples or {}, dict):
            raise self._error(f"samples is a dictionary by parameter, got {samples!r}")
        self.samples = dict(samples or {})
        self._check(self.samples, "samples", list(self.kinds))

    def _error(self, message):
        return TraceError(f"{self.place}: {self.name}: {message}")

    def _check(self, names, what, known):
        for name in names:
            if name not in known:
                raise self._error(
                    f"{what} names '{name}', which is none of {', '.join(known)}"
                )

    def _read_kinds(self, given):
        signature = inspect.signature(self.function)
        annotations = inspect.get_annotations(self.function, eval_str=True)
        kinds = {}
        for parameter in signature.parameters.values():
            if parameter.kind not in (
                parameter.POSITIONAL_ONLY,
                parameter.POSITIONAL_OR_KEYWORD,
            ):
                raise self._error(
                    f"parameter '{parameter.name}' cannot be *args, **kwargs or "
                    "keyword-only"
                )
            if parameter.name in KEYWORDS:
                raise self._error(
                    f"parameter '{parameter.name}' has the name of a call's keyword: "
                    "call it otherwise"
                )
            if parameter.default is not parameter.empty:
                raise self._error(
                    f"parameter '{parameter.name}' has a default: constants belong "
                    "into the function"
                )
            annotation = annotations.get(parameter.name)
            kinds[parameter.name] = (
                annotation if isinstance(annotation, Kind) else None
            )
        if not kinds:
            raise self._error("takes a state and at least one operand of a token")
        if not isinstance(given, dict):
            raise self._error(f"kinds is a dictionary by parameter, got {given!r}")
        self._check(given, "kinds", list(kinds))
        for name, kind in given.items():
            kinds[name] = parse_kind(kind)
        first = next(iter(kinds))
        if not any(k and k.role == "state" for k in kinds.values()):
            if kinds[first] is not None:
                raise self._error("has no state: the first parameter, or State")
            kinds[first] = Kind("state")
        kinds = {n: k or Kind("token") for n, k in kinds.items()}
        if all(k.role != "token" for k in kinds.values()):
            raise self._error("has no operand of a token")
        return kinds

    def __call__(self, *arguments):
        # Inside another recurrence: a part of its step.
        if any(isinstance(a, (Traced, State)) for a in arguments):
            return self.function(*arguments)
        raise ArgumentError(
            f"{self.name} is a recurrence: linattn.compile({self.name}, ..) makes "
            "what can be called"
        )

    def __repr__(self):
        return f"<recurrence {self.name}({', '.join(self.kinds)})>"

    def trace(self, signature: Signature):
        """Runs the function once on traced values."""
        trace = Trace()
        sizes = {"K": Size(signature.K), "V": Size(signature.V)}
        values, states = {}, []
        for name in self.arguments:
            argument = signature[name]
            shape = argument.shape
            if shape is not None:
                shape = tuple(sizes.get(s, s) if isinstance(s, str) else s for s in shape)
            values[name] = Traced(
                trace, f"%{name}_t", Shape(shape), argument.dtype, origin=name
            )
            self._declare(values[name], sizes)
        for index, name in enumerate(self.states):
            dims = self.kinds[name].shape or ("K", "V")
            given = signature.state_shapes[index] or (None, None)
            pair = []
            for size, known in zip(dims, given):
                size = sizes[size] if isinstance(size, str) else Size(size)
                if known is not None and not size.unify(Size(known)):
                    raise ArgumentError(
                        f"{self.name}: initial state '{name}' has size {size}, got "
                        f"{known}"
                    )
                pair.append(size)
            state = State(
                trace, f"%{name}_s", name, index, *pair, signature.state_dtypes[index]
            )
            values[name] = state
            states.append(state)
        with trace:
            returned = self._run([values[name] for name in self.kinds])
            outputs, finals = self._sort(returned, states)
        return trace, values, states, outputs, finals

    def _declare(self, value, sizes):
        """What the parameter's kind says about its shape."""
        declared = self.kinds[value._origin].shape
        if declared is None:
            return
        shape = Shape([sizes[s] if isinstance(s, str) else s for s in declared])
        if not value.shape.unify(shape):
            raise ArgumentError(
                f"{self.name}: argument '{value._origin}' is {shape.words()} per token "
                f"and head, got {value.shape.words()}"
            )

    def _run(self, values):
        try:
            return self.function(*values)
        except (AttributeError, TypeError) as error:
            # Say where in the user's function: what is not in the language fails
            # in Python itself.
            frames = []
            traceback = error.__traceback__
            while traceback:
                frames.append((traceback.tb_frame.f_code.co_filename, traceback.tb_lineno))
                traceback = traceback.tb_next
            ours = [f for f in frames if not is_ours(f[0])]
            if not ours:
                raise self._error(str(error)) from error
            raise TraceError(f"{ours[-1][0]}:{ours[-1][1]}: {error}") from error

    def _sort(self, returned, states):
        """Outputs, and the last version of each state, in order."""
        if isinstance(returned, (Traced, State)) or is_number(returned):
            returned = (returned,)
        if not isinstance(returned, (tuple, list)):
            raise self._error(
                "returns its states and outputs as a tuple, got "
                f"{type(returned).__name__}"
            )
        outputs, finals = [], [None] * len(states)
        for item in returned:
            if isinstance(item, State):
                if finals[item.index] is not None:
                    raise self._error(f"returns state '{item.param}' twice")
                finals[item.index] = item
            elif isinstance(item, Traced) or is_number(item):
                outputs.append(lift(item, "an output"))
            else:
                raise self._error(
                    "returns states, numbers and vectors of the step, got "
                    f"{type(item).__name__}"
                )
        for final, state in zip(finals, states):
            if final is None:
                raise self._error(
                    f"does not return state '{state.param}': return the last version "
                    "of every state"
                )
        return outputs, finals

    def module(self, signature):
        """The module with this recurrence (level 0)."""
        return emit(self, signature)

    def show(self, level="recurrence", **options):
        """Its text at a level (see linattn.levels); options as for compile."""
        from .op import compile

        return compile(self, **options).show(level)


def recurrence(function=None, *, samples=None, kinds=None):
    """Makes a recurrence of one token's step.

    The function takes its states and the token's operands, and returns the last
    version of each state and the outputs:

        @linattn.recurrence
        def gated_delta(S, q, k, v, g, beta):
            S = S.decay(g)
            S = S.write(k, beta * (v - S.read(k)))
            return S, S.read(q)

    samples: how to draw arguments for `python -m linattn run`, such as
      {"g": "log_gate"}. kinds: as in linattn.kinds, instead of annotations."""
    if function is None:
        return functools.partial(recurrence, samples=samples, kinds=kinds)
    return Recurrence(function, samples, kinds)
