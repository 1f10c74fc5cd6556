"""What linattn raises. A message begins with the file and line of the user's
program that it is about, where there is one."""


class Error(Exception):
    """Any error of linattn's own."""


class TraceError(Error, ValueError):
    """A recurrence, or a part of one, breaks a rule of the language."""


class CompileError(Error, RuntimeError):
    """The compiler refused a module."""


class ArgumentError(Error, TypeError, ValueError):
    """A call's arrays do not fit the recurrence."""
