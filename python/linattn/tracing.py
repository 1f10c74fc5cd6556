"""Traced values: what a step's arguments are while the function runs once.

Operators and methods record operations of the dialect; text comes out when the
trace is over and every size is known (see emit)."""

import math
import numbers
import struct
import threading

from .errors import TraceError
from .shapes import WIDTHS, Shape, Size, wider
from .source import at_user_line, user_line

_active = threading.local()


def current():
    trace = getattr(_active, "trace", None)
    if trace is None:
        raise TraceError(
            at_user_line("this works inside a @linattn.recurrence only")
        )
    return trace


def fail(message):
    raise TraceError(at_user_line(message)) from None


class Trace:
    """The operations that one run of a step recorded."""

    def __init__(self):
        self.operations = []  # (result or None, function that writes it, place)
        self.count = 0
        self.place = None  # instead of the user's line

    def at(self, place):
        """For operations that no line of the step asked for."""
        file, _, line = place.rpartition(":")
        self.place = file, int(line)
        return self

    def __enter__(self):
        self.outer = getattr(_active, "trace", None)
        _active.trace = self
        return self

    def __exit__(self, *_):
        _active.trace = self.outer

    def fresh(self, hint="x"):
        self.count += 1
        return f"%{hint}{self.count}"

    def record(self, name, write):
        """`write` gives the operation's text, once all sizes are known."""
        self.operations.append((name, write, self.place or user_line()))

    def value(self, shape, element, write, hint="x"):
        result = Traced(self, self.fresh(hint), shape, element)
        self.record(result.name, write)
        return result

    def text(self, locations=True):
        lines = []
        for name, write, (file, line) in self.operations:
            place = f' loc("{escape(file)}":{line}:1)' if locations else ""
            lines.append(f"    {name} = {write()}{place}")
        return "\n".join(lines)


def escape(text):
    return text.replace("\\", "\\\\").replace('"', '\\"')


def number_text(value):
    """A float as MLIR reads it."""
    if math.isnan(value):
        return "0x7FC00000"
    if math.isinf(value):
        return "0x7F800000" if value > 0 else "0xFF800000"
    text = repr(float(value))
    mantissa, e, exponent = text.partition("e")
    if "." not in mantissa:
        mantissa += ".0"
    return mantissa + e + exponent


def is_f32(value):
    if math.isinf(value) or math.isnan(value):
        return True
    try:
        return struct.unpack("f", struct.pack("f", value))[0] == value
    except OverflowError:
        return False


def constant(trace, value, shape, element):
    value = float(value)
    if element != "f64" and is_f32(value):
        return trace.value(
            shape,
            element,
            lambda: "arith.constant "
            + (number_text(value) if not shape.dims else f"dense<{number_text(value)}>")
            + f" : {shape.type(element)}",
            "c",
        )
    # With all of its digits, so that the module in f64 has them too.
    exact = trace.value(
        Shape(()), "f64", lambda: f"arith.constant {number_text(value)} : f64", "c"
    )
    if element != "f64":
        exact = trace.value(
            Shape(()), element, lambda e=exact: f"arith.truncf {e.name} : f64 to {element}"
        )
    return broadcast(exact, shape)


def broadcast(value, shape):
    if shape.known and shape.rank == 0:
        return value
    return value.trace.value(
        shape,
        value.element,
        lambda: f"vector.broadcast {value.name} : {value.type} to "
        f"{shape.type(value.element)}",
    )


def convert(value, element):
    """To another element type."""
    if value.element == element:
        return value
    op = "extf" if WIDTHS[element] > WIDTHS[value.element] else "truncf"
    return value.trace.value(
        value.shape,
        element,
        lambda: f"arith.{op} {value.name} : {value.type} to {value.shape.type(element)}",
    )


def compute(value):
    """In the type of arithmetic."""
    return convert(value, wider(value.element, value.element))


def is_number(value):
    return isinstance(value, numbers.Real) or (
        hasattr(value, "__float__") and not isinstance(value, (Traced, State))
    )


def lift(value, what):
    """A traced value of what the user gave."""
    if isinstance(value, Traced):
        return value
    if isinstance(value, State):
        fail(f"{what}: a state takes part in read, write and decay only")
    if is_number(value):
        return constant(current(), value, Shape(()), "f32")
    fail(
        f"{what}: takes numbers and values of the step, got "
        f"{type(value).__name__}"
    )


def align(a, b, what, scales=False):
    """Both of one shape and type. Where the trace does not know one's shape yet,
    a term of a sum is like the other; a factor of a vector is a number."""
    for value in (a, b):
        if isinstance(value, Boolean):
            fail(f"{what}: a comparison is for linattn.where")
    numbers_ = [is_number(a), is_number(b)]
    if all(numbers_):
        return lift(a, what), lift(b, what)
    if any(numbers_):
        number, value = (a, lift(b, what)) if numbers_[0] else (b, lift(a, what))
        value = compute(value)
        if value.shape.known:
            other = constant(value.trace, number, value.shape, value.element)
        else:
            other = Late(value, number)
        return (other, value) if numbers_[0] else (value, other)
    a, b = lift(a, what), lift(b, what)
    element = wider(a.element, b.element)
    a, b = convert(a, element), convert(b, element)
    if a.shape.root() is b.shape.root():
        return a, b
    for x, y in ((a, b), (b, a)):
        if not x.shape.known and y.shape.known:
            x.shape.unify(Shape(()) if scales else y.shape)
    if not a.shape.known and not b.shape.known:
        if scales:
            fail(
                f"{what}: cannot tell from their use whether {a.origin} and "
                f"{b.origin} are numbers or vectors; say kinds={{'NAME': 'V'}} "
                "(or 'K', 'number')"
            )
        a.shape.unify(b.shape)
        return a, b
    for x, y in ((a, b), (b, a)):
        if x.shape.rank < y.shape.rank and x.shape.rank == 0:
            spread = broadcast(x, y.shape)
            return (spread, y) if x is a else (y, spread)
    if a.shape.rank == b.shape.rank == 1:
        for x, y in ((a, b), (b, a)):
            if x.shape.dims[0].value == 1 and y.shape.dims[0].value not in (1, None):
                spread = broadcast(x[0], y.shape)
                return (spread, y) if x is a else (y, spread)
    if a.shape.unify(b.shape):
        return a, b
    fail(f"{what}: {a.described()} and {b.described()} do not go together")


def Late(value, number):
    """A constant of the shape that `value` turns out to have."""

    def write():
        text = number_text(float(number))
        if value.shape.dims:
            text = f"dense<{text}>"
        return f"arith.constant {text} : {value.type}"

    return value.trace.value(value.shape, value.element, write, "c")


def binary(op, a, b, symbol, scales=False):
    a, b = align(a, b, symbol, scales)
    return a.trace.value(
        a.shape, a.element, lambda: f"arith.{op} {a.name}, {b.name} : {a.type}"
    )


def unary(op, value, what):
    value = compute(lift(value, what))
    return value.trace.value(
        value.shape, value.element, lambda: f"{op} {value.name} : {value.type}"
    )


def compare(predicate, a, b, symbol):
    a, b = align(a, b, symbol)
    name = a.trace.fresh("m")
    a.trace.record(
        name, lambda: f"arith.cmpf {predicate}, {a.name}, {b.name} : {a.type}"
    )
    return Boolean(a.trace, name, a.shape)


class Boolean:
    """What a comparison gives, for `where`."""

    def __init__(self, trace, name, shape):
        self.trace, self.name, self.shape = trace, name, shape

    def __bool__(self):
        fail(
            "a comparison of values of the step has no truth while it is traced; "
            "linattn.where(condition, a, b) chooses"
        )


class Traced:
    """A number or vector of one token."""

    __array_priority__ = 1000  # numpy's numbers leave operators to us.

    def __init__(self, trace, name, shape, element, origin=None):
        self.trace, self.name, self.shape, self.element = trace, name, shape, element
        self._origin = origin

    @property
    def type(self):
        return self.shape.type(self.element)

    @property
    def origin(self):
        return f"'{self._origin}'" if self._origin else "a value"

    def described(self):
        name = f"'{self._origin}', " if self._origin else ""
        return name + self.shape.words()

    def __add__(self, other):
        return binary("addf", self, other, "+")

    def __radd__(self, other):
        return binary("addf", other, self, "+")

    def __sub__(self, other):
        return binary("subf", self, other, "-")

    def __rsub__(self, other):
        return binary("subf", other, self, "-")

    def __mul__(self, other):
        return binary("mulf", self, other, "*", scales=True)

    def __rmul__(self, other):
        return binary("mulf", other, self, "*", scales=True)

    def __truediv__(self, other):
        return binary("divf", self, other, "/", scales=True)

    def __rtruediv__(self, other):
        return binary("divf", other, self, "/", scales=True)

    def __neg__(self):
        return unary("arith.negf", self, "-")

    def __pos__(self):
        return self

    def __abs__(self):
        return unary("math.absf", self, "abs")

    def __pow__(self, exponent):
        if exponent == 2:
            return self * self
        if exponent == 0.5:
            return unary("math.sqrt", self, "**")
        if exponent == -0.5:
            return unary("math.rsqrt", self, "**")
        fail(f"**: the exponent is 2, 0.5 or -0.5, got {exponent!r}")

    def __lt__(self, other):
        return compare("olt", self, other, "<")

    def __le__(self, other):
        return compare("ole", self, other, "<=")

    def __gt__(self, other):
        return compare("ogt", self, other, ">")

    def __ge__(self, other):
        return compare("oge", self, other, ">=")

    __hash__ = object.__hash__

    def __eq__(self, other):
        return compare("oeq", self, other, "==")

    def __bool__(self):
        fail(
            "a value of the step has no truth while it is traced; "
            "linattn.where(condition, a, b) chooses"
        )

    def __float__(self):
        fail("a value of the step is no number while it is traced")

    def __matmul__(self, other):
        from .functions import dot

        return dot(self, other)

    def __len__(self):
        if not self.shape.known or self.shape.rank == 0:
            fail(f"{self.described()} has no length")
        size = self.shape.dims[0].value
        if size is None:
            fail("the length is not known while K and V are not: give K= and V=")
        return size

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index):
        size = len(self)
        if isinstance(index, slice):
            return self._slice(*index.indices(size))
        if not isinstance(index, numbers.Integral):
            fail(f"an index is an integer or a slice, got {type(index).__name__}")
        at = int(index) + (size if index < 0 else 0)
        if not 0 <= at < size:
            fail(f"index {index} of {self.described()}")
        inner = Shape(self.shape.dims[1:])
        return self.trace.value(
            inner,
            self.element,
            lambda: f"vector.extract {self.name}[{at}] : "
            f"{inner.type(self.element)} from {self.type}",
        )

    def _slice(self, start, stop, step):
        count = len(range(start, stop, step))
        if step != 1 or count < 1:
            fail(f"a slice has step 1 and an element, got {start}:{stop}:{step}")
        shape = Shape((count, *self.shape.dims[1:]))
        return self.trace.value(
            shape,
            self.element,
            lambda: f"vector.extract_strided_slice {self.name} "
            f"{{offsets = [{start}], sizes = [{count}], strides = [1]}} : "
            f"{self.type} to {shape.type(self.element)}",
        )

    def __repr__(self):
        return f"<{self.described()} of a step>"


class State:
    """A version of a state; updates give new ones."""

    def __init__(self, trace, name, param, index, keys, values, element):
        self.trace, self.name, self.param, self.index = trace, name, param, index
        self.keys, self.values, self.element = keys, values, element

    @property
    def type(self):
        return f"!linattn.state<{self.keys}x{self.values}x{self.element}>"

    def _size(self, size, letter):
        if size.value is None:
            fail(f"{letter} is not known yet while tracing: give {letter}= to compile")
        return size.value

    @property
    def K(self):
        """The number of key channels, such as in scale=S.K ** -0.5."""
        return self._size(self.keys, "K")

    @property
    def V(self):
        """The number of value channels."""
        return self._size(self.values, "V")

    @property
    def compute(self):
        return "f64" if self.element == "f64" else "f32"

    def _next(self, write):
        result = State(
            self.trace, self.trace.fresh("s"), self.param, self.index,
            self.keys, self.values, self.element,
        )
        self.trace.record(result.name, write)
        return result

    def _vector(self, value, size, letter, what):
        """`value` as a vector over K or V."""
        value = lift(value, what)
        if not value.shape.known:
            value.shape.unify(Shape((size,)))
        if value.shape.rank != 1 or not value.shape.dims[0].unify(size):
            fail(f"{what} is a vector over {letter} = {size}, got {value.described()}")
        return value

    def decay(self, gate, linear=False):
        """S e^gate, of a number or over K; `linear`: gate itself is the factor."""
        gate = lift(gate, "decay: the gate")
        if gate.shape.known and gate.shape.rank:
            self._vector(gate, self.keys, "K", "decay: the gate")
        mark = " linear" if linear else ""
        return self._next(
            lambda: f"linattn.decay {self.name}, {gate.name}{mark} : "
            f"{self.type}, {gate.type}"
        )

    def read(self, key, scale=None):
        """scale S^T key, over V; the scale is 1 unless given."""
        key = self._vector(key, self.keys, "K", "read: the key")
        if scale is not None:
            if not is_number(scale) or not math.isfinite(scale):
                fail(f"read: the scale is a finite number, got {scale!r}")
        part = "" if scale is None else f" scale {number_text(scale)}"
        return self.trace.value(
            Shape((self.values,)),
            self.compute,
            lambda: f"linattn.read {self.name}, {key.name}{part} : "
            f"{self.type}, {key.type}",
            "r",
        )

    def write(self, key, value):
        """S + key value^T"""
        key = self._vector(key, self.keys, "K", "write: the key")
        value = lift(value, "write: the value")
        if value.shape.known and value.shape.rank == 0:
            value = broadcast(value, Shape((self.values,)))
        value = self._vector(value, self.values, "V", "write: the value")
        return self._next(
            lambda: f"linattn.write {self.name}, {key.name}, {value.name} : "
            f"{self.type}, {key.type}, {value.type}"
        )

    def delta_update(self, key, value, rate):
        """S + key (rate (value - S^T key))^T; the rate is a number or over V."""
        key = self._vector(key, self.keys, "K", "delta_update: the key")
        value = self._vector(value, self.values, "V", "delta_update: the value")
        rate = lift(rate, "delta_update: the rate")
        if rate.shape.known and rate.shape.rank:
            self._vector(rate, self.values, "V", "delta_update: the rate")
        return self._next(
            lambda: f"linattn.delta_update {self.name}, {key.name}, {value.name}, "
            f"{rate.name} : {self.type}, {key.type}, {value.type}, {rate.type}"
        )

    def _refuse(self, *_):
        fail(f"state '{self.param}' takes part in read, write and decay only")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _refuse
    __truediv__ = __rtruediv__ = __matmul__ = __getitem__ = __neg__ = _refuse
    __iter__ = __bool__ = _refuse

    def __repr__(self):
        return f"<state '{self.param}', {self.keys}x{self.values}>"


__all__ = ["Boolean", "Size", "State", "Trace", "Traced", "current", "fail"]
