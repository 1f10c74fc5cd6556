"""Sizes and shapes that tracing may learn only later.

A recurrence is traced before it is known how wide every vector is: a read of S
has V elements whatever V is. Sizes and shapes are variables that unify; their
types are printed when the trace is over."""

WIDTHS = {"bf16": 16, "f16": 16, "f32": 32, "f64": 64}


class Size:
    """A number of elements, perhaps not known yet."""

    def __init__(self, value=None):
        self._value, self._same = value, None

    def root(self):
        return self if self._same is None else self._same.root()

    @property
    def value(self):
        return self.root()._value

    def unify(self, other):
        """Makes both the same; False where they are different numbers."""
        a, b = self.root(), other.root()
        if a is b:
            return True
        if a._value is not None and b._value is not None:
            return a._value == b._value
        if a._value is None:
            a, b = b, a
        b._same = a
        return True

    def __str__(self):
        return "?" if self.value is None else str(self.value)


class Shape:
    """() of a number, (n,) of a vector, (m, n) of several vectors; or unknown."""

    def __init__(self, dims=None):
        self._same = None
        self._dims = (
            None
            if dims is None
            else tuple(d if isinstance(d, Size) else Size(d) for d in dims)
        )

    def root(self):
        return self if self._same is None else self._same.root()

    @property
    def dims(self):
        return self.root()._dims

    @property
    def known(self):
        return self.dims is not None

    @property
    def rank(self):
        return len(self.dims)

    def unify(self, other):
        a, b = self.root(), other.root()
        if a is b:
            return True
        if a._dims is not None and b._dims is not None:
            return len(a._dims) == len(b._dims) and all(
                x.unify(y) for x, y in zip(a._dims, b._dims)
            )
        if a._dims is None:
            a, b = b, a
        b._same = a
        return True

    def type(self, element):
        """As MLIR writes it."""
        if not self.dims:
            return element
        return "vector<" + "".join(f"{d}x" for d in self.dims) + element + ">"

    def words(self):
        """As messages write it."""
        if not self.known:
            return "a value of unknown shape"
        if self.rank == 0:
            return "a number"
        if self.rank == 1:
            return f"a vector of {self.dims[0]}"
        return f"{self.dims[0]} vectors of {self.dims[1]}"


def wider(a, b):
    """The element type of arithmetic: 16-bit floats are computed in f32."""
    return "f64" if "f64" in (a, b) else "f32"
