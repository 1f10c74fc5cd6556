"""Compiled code on disk, by its content.

The folder is LINATTN_CACHE_DIR (empty: no cache), or linattn in the user's cache
folder. An entry is a folder of files that appears whole or not at all, so that
processes and threads may share it."""

import hashlib
import os
import platform
import shutil
import tempfile
from functools import lru_cache
from pathlib import Path

from . import __version__


def folder():
    """None: nothing is kept."""
    given = os.environ.get("LINATTN_CACHE_DIR")
    if given is not None:
        return Path(given) if given else None
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "linattn" / "python"


@lru_cache(maxsize=1)
def compiler():
    """Names this build of the compiler, without loading it."""
    import importlib.util

    spec = importlib.util.find_spec("linattn._compiler")
    if spec is None or not spec.origin:
        return "none"
    status = os.stat(spec.origin)
    return f"{status.st_size}-{status.st_mtime_ns}"


@lru_cache(maxsize=1)
def processor():
    """Names this machine's processor and what it can do."""
    try:
        with open("/proc/cpuinfo") as file:
            lines = [
                line
                for line in file.read().split("\n\n")[0].splitlines()
                if line.split(":")[0].strip()
                in ("model name", "flags", "Features", "CPU part", "model")
            ]
    except OSError:
        lines = [platform.processor()]
    return platform.machine() + "\n" + "\n".join(lines)


def key(*parts):
    digest = hashlib.sha256()
    for part in (__version__, compiler(), *parts):
        digest.update(repr(part).encode())
        digest.update(b"\0")
    return digest.hexdigest()[:40]


def find(name):
    """The folder of an entry, or None."""
    base = folder()
    if base is None:
        return None
    path = base / name[:2] / name
    return path if path.is_dir() else None


def store(name, files):
    """Writes an entry, and gives its folder; a folder of its own that goes away
    with the process where nothing is kept or nothing can be written."""
    base = folder()
    try:
        if base is None:
            raise OSError
        parent = base / name[:2]
        parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=".new-", dir=parent))
    except OSError:
        return fill(Path(temporary()) / name, files)
    fill(made, files)
    final = parent / name
    try:
        os.rename(made, final)
    except OSError:  # Somebody else was faster.
        shutil.rmtree(made, ignore_errors=True)
    return final


def fill(path, files):
    path.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (path / name).write_bytes(content)
    return path


@lru_cache(maxsize=1)
def temporary():
    import atexit

    path = tempfile.mkdtemp(prefix="linattn-")
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path
