"""Calls of compiled functions; no compiler inside."""



class Kernel:
    """A compiled function for the CPU."""

    def __init__(self, entry: int, sizes: int, arguments: list, results: list, symbols: int, keep: object) -> None:
        """
        Addresses of the function and of the one that gives the sizes of its results; `keep` holds their code.
        """

    def call(self, *args, make: object, finish: object | None) -> object:
        """
        Runs on arrays. NotImplemented if they are of other types or fixed sizes than the function was compiled for.
        """

def describe(array: object | None) -> tuple:
    """(shape, strides, dtype, device type, device number) of an array."""
