"""What `compile` and the functions beside it are told: refused by name, rule and
value before anything is traced."""

from .errors import ArgumentError, Error

MOST_HEADS = 65535  # of a launch's grid


def is_count(value, least, most=None):
    """A whole number in a range; not True, which is one to Python."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    return whole and value >= least and (most is None or value <= most)


def check_text(name, value):
    if value is not None and not isinstance(value, str):
        raise Error(f"{name} is text, got {value!r}")


def check_widths(K, V):
    for letter, size in (("K", K), ("V", V)):
        if size is not None and not is_count(size, 1, 1024):
            raise Error(f"{letter} is from 1 to 1024, got {size!r}")


def check_heads(heads):
    if isinstance(heads, dict):
        if not heads:
            raise Error("heads by argument names at least one, got {}")
        for name, count in heads.items():
            check_head_count(f"heads of '{name}'", count)
    elif heads is not None:
        check_head_count("heads", heads)


def check_head_count(what, count):
    if not is_count(count, 1, MOST_HEADS):
        raise Error(f"{what} is a number from 1 to {MOST_HEADS}, got {count!r}")


def check_by_argument(what, given, owner, names):
    """A dictionary by the names of arguments."""
    if given is None:
        return
    if not isinstance(given, dict):
        raise Error(f"{what} is a dictionary by argument, got {given!r}")
    for name in given:
        if name not in names:
            raise Error(
                f"{owner}: {what} names '{name}', which is none of the arguments "
                f"{', '.join(names)}"
            )


def check_sizes(sizes):
    """(sequences, tokens of each) that a plan is made for, 0 where not known."""
    if sizes is None:
        return 0, 0
    if not isinstance(sizes, dict):
        raise Error(f"sizes is a dictionary such as {{'B': 1, 'T': 8192}}, got {sizes!r}")
    for name, size in sizes.items():
        if name not in ("B", "N", "T"):
            raise Error(f"sizes names B or N (sequences) or T (tokens of each), got {name!r}")
        if not is_count(size, 1, 2**31 - 1):
            raise Error(f"size {name} is a number from 1 to 2147483647, got {size!r}")
    if "B" in sizes and "N" in sizes:
        raise Error("sizes names B or N, which are the same, got both")
    return sizes.get("B", sizes.get("N", 0)), sizes.get("T", 0)


def check_compiling(lowering, chunk, snapshots, padding):
    if lowering not in (None, "auto", "chunkwise", "serial"):
        raise Error(f"lowering is 'auto', 'chunkwise' or 'serial', got {lowering!r}")
    if chunk not in (16, 32, 64, 128):
        raise Error(f"chunk is 16, 32, 64 or 128, got {chunk!r}")
    if snapshots is not None and not is_count(snapshots, 1, 2**31 - 1):
        raise Error(f"snapshots is a positive number of tokens, got {snapshots!r}")
    if not is_count(padding, -(2**63), 2**63 - 1):
        raise Error(f"padding is a number of 64 bits, got {padding!r}")


def check_as_compiled(arguments, heads, dtypes):
    """A call's arguments against the head counts and types that compile was told."""
    most = max(arguments, key=lambda a: a.heads)
    for a in arguments:
        if isinstance(heads, dict):
            wanted = heads.get(a.name, a.heads)
        else:
            # Fewer may share: the largest count is the recurrence's.
            wanted = heads if heads is not None and a is most else a.heads
        if a.heads != wanted:
            raise ArgumentError(
                f"argument '{a.name}' has {wanted} heads, as compiled, got {a.heads}"
            )
        dtype = dtypes.get(a.name, a.dtype)
        if a.dtype != dtype:
            raise ArgumentError(
                f"argument '{a.name}' is {dtype}, as compiled, got {a.dtype}"
            )
