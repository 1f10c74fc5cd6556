"""Where in the user's program something happens."""

import os
import sys

PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


def user_frame():
    """The innermost frame that is not of this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and is_ours(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def is_ours(filename):
    return filename.startswith(PACKAGE)


def user_line():
    """(file, line) of the user's program."""
    frame = user_frame()
    return frame.f_code.co_filename, frame.f_lineno


def at_user_line(message):
    """The message behind its place; alone where no program of the user runs, as
    under `python -m linattn`."""
    file, line = user_line()
    return message if file.startswith("<frozen ") else f"{file}:{line}: {message}"
