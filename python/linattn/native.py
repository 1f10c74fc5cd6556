"""The compiler, loaded when it is needed: text in, code out."""

import sys
import threading
from functools import lru_cache
from pathlib import Path

from .errors import CompileError

_local = threading.local()


def compiler():
    """The native module with MLIR in it."""
    try:
        from . import _compiler
    except ImportError as error:
        raise CompileError(
            f"the compiler is not part of this installation: {error}"
        ) from None
    return _compiler


def context():
    """One for each thread."""
    found = getattr(_local, "context", None)
    if found is None:
        found = _local.context = compiler().Context()
    return found


def parse(text, file_name="recurrence.mlir"):
    return compiler().Module.parse(text, context(), file_name)


def compile_text(text, function, *, target, lowering, chunk, mma, plan, keep_rounding,
                 cpu, sizes=(0, 0), assemble=True):
    return parse(text).compile(
        target, lowering, function, cpu, mma, plan, chunk, keep_rounding, False, assemble,
        in_environment(), *sizes,
    )


@lru_cache(maxsize=1)
def in_environment():
    """A file in bin/ of this Python's environment: ptxas is looked for from there.
    Not the interpreter, which may be a link to somewhere else."""
    folder = Path(sys.prefix) / "bin"
    files = (p for p in sorted(folder.glob("*")) if p.is_file() and not p.is_symlink())
    return str(next(files, sys.executable))
