"""The levels that a recurrence goes through, by name: each is a pipeline of
passes from level 0, or a part of what comes out at the end."""

from .errors import Error

# Name: (what it is, pipeline of passes). `{chunk}` is the tokens per chunk.
LEVELS = {
    "recurrence": ("level 0, as traced", None),
    "normal": ("level 0 in normal form", "linattn-normalize"),
    "chunk": ("level 1, one chunk", "linattn-chunkwise{{chunk={chunk}}}"),
    "tile": ("level 2, kernels on tiles", "linattn-to-tile{{chunk={chunk}}}"),
    "kernel": ("a token-serial GPU kernel", "linattn-recurrence-to-simt"),
    "loops": ("token-serial loops for the CPU", "linattn-to-cpu-serial"),
    "llvm": ("the chunk form in the LLVM dialect", "linattn-to-cpu{{chunk={chunk}}}"),
}
# What compiling for a target gives: (target or None for the op's, part).
PARTS = {"ptx": "ptx", "header": "header", "json": "description"}


def add_level(name, description, pipeline):
    """Another level: `pipeline` goes from level 0 to it."""
    LEVELS[name] = (description, pipeline)


def pipeline_of(level, chunk):
    """None where the level is the text itself. A pipeline may be given as such."""
    if level in LEVELS:
        passes = LEVELS[level][1]
        return None if passes is None else f"builtin.module({passes.format(chunk=chunk)})"
    if "(" in level:
        return level
    names = ", ".join([*LEVELS, *PARTS])
    raise Error(f"level '{level}' is none of {names}, and no pipeline in builtin.module(..)")
