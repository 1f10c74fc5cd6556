"""What linattn raises. A message begins with the file and line of the user's
program that it is about."""

import re

from .source import at_user_line

PLACE = re.compile(r"[^\n:]*:\d+(:\d+)?: ")


class Error(Exception):
    """Any error of linattn's own."""

    def __init__(self, message=""):
        message = str(message)
        if not PLACE.match(message):
            message = at_user_line(message)
        super().__init__(message)


class TraceError(Error, ValueError):
    """A recurrence, or a part of one, breaks a rule of the language."""


class CompileError(Error, RuntimeError):
    """The compiler refused a module."""


class ArgumentError(Error, TypeError, ValueError):
    """A call's arrays do not fit the recurrence."""
