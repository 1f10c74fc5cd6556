"""Functions of a step: on numbers and vectors of one token."""

from . import tracing
from .shapes import Shape, wider
from .tracing import Boolean, align, compute, constant, fail, is_number, lift, unary

_MATH = {
    "exp": "e^x",
    "exp2": "2^x",
    "log": "the natural logarithm",
    "log1p": "log(1 + x)",
    "sqrt": "the square root",
    "rsqrt": "1 / sqrt(x)",
    "tanh": "the hyperbolic tangent",
    "sin": "the sine",
    "cos": "the cosine",
    "erf": "the error function",
}
_SUGAR = {
    "sigmoid": "1 / (1 + e^-x)",
    "softplus": "log(1 + e^x)",
    "silu": "x sigmoid(x)",
}


def _define(name, operation, text):
    def function(x):
        return unary(operation, x, name)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = text + ", of each element"
    globals()[name] = function


for _name, _text in _MATH.items():
    _define(_name, f"math.{_name}", _text)
for _name, _text in _SUGAR.items():
    _define(_name, f"linattn.{_name}", _text)


def abs(x):
    """|x|, of each element"""
    return unary("math.absf", x, "abs")


def maximum(a, b):
    """The larger of each pair; NaN if one is."""
    return tracing.binary("maximumf", a, b, "maximum")


def minimum(a, b):
    """The smaller of each pair; NaN if one is."""
    return tracing.binary("minimumf", a, b, "minimum")


def relu(x):
    """max(x, 0)"""
    return maximum(x, 0.0)


def elu(x):
    """x where positive, else e^x - 1"""
    return maximum(x, 0.0) + exp(minimum(x, 0.0)) - 1.0  # noqa: F821


def where(condition, a, b):
    """a where the condition holds, else b"""
    if not isinstance(condition, Boolean):
        fail(f"where: the condition is a comparison, got {type(condition).__name__}")
    if is_number(a) and is_number(b):
        a = constant(condition.trace, a, condition.shape, "f32")
    a, b = align(a, b, "where")
    if not a.shape.unify(condition.shape):
        fail(
            f"where: the condition is {condition.shape.words()}, the values are "
            f"{a.described()}"
        )
    return a.trace.value(
        a.shape,
        a.element,
        lambda: f"arith.select {condition.name}, {a.name}, {b.name} : "
        f"{condition.shape.type('i1')}, {a.type}",
    )


def _vector(x, what):
    x = lift(x, what)
    if not x.shape.known:
        x.shape.unify(Shape((None,)))
    if x.shape.rank != 1:
        fail(f"{what}: takes a vector, got {x.described()}")
    return x


def _reduce(kind, x, what):
    x = compute(_vector(x, what))
    return x.trace.value(
        Shape(()),
        x.element,
        lambda: f"vector.reduction <{kind}>, {x.name} : {x.type} into {x.element}",
    )


def sum(x):
    """The sum of a vector."""
    return _reduce("add", x, "sum")


def max(x):
    """The largest element of a vector."""
    return _reduce("maximumf", x, "max")


def min(x):
    """The smallest element of a vector."""
    return _reduce("minimumf", x, "min")


def mean(x):
    """The mean of a vector."""
    x = _vector(x, "mean")
    return sum(x) * (1.0 / len(x))


def dot(a, b):
    """sum_i a_i b_i"""
    return sum(_vector(a, "dot") * _vector(b, "dot"))


def l2norm(x, eps=1e-6):
    """x / sqrt(sum x^2 + eps)"""
    x = _vector(x, "l2norm")
    if not is_number(eps) or not eps >= 0:
        fail(f"l2norm: eps is a number >= 0, got {eps!r}")
    element = wider(x.element, x.element)
    return x.trace.value(
        x.shape,
        element,
        lambda: f"linattn.l2norm {x.name} eps {tracing.number_text(eps)} : {x.type} "
        f"-> {x.shape.type(element)}",
    )


def rms_norm(x, weight=None, eps=1e-6):
    """x / sqrt(mean x^2 + eps), times weight"""
    x = compute(_vector(x, "rms_norm"))
    y = x * rsqrt(mean(x * x) + eps)  # noqa: F821
    return y if weight is None else y * weight


NAMES = [
    *_MATH, *_SUGAR, "abs", "dot", "elu", "l2norm", "max", "maximum", "mean", "min",
    "minimum", "relu", "rms_norm", "sum", "where",
]
__all__ = list(NAMES)
