"""Object files of compiled functions to shared libraries, which load without a
compiler."""

import os
import shutil
import subprocess
import tempfile
from functools import lru_cache
from pathlib import Path


@lru_cache(maxsize=1)
def find_linker():
    """LINATTN_LD, or the first of the usual ones; None if there is none."""
    given = os.environ.get("LINATTN_LD")
    if given is not None:
        return given or None
    for name in ("ld.lld", "ld.lld-22", "ld"):
        if path := shutil.which(name):
            return path
    return None


@lru_cache(maxsize=1)
def find_openmp():
    """LLVM's OpenMP runtime, which parallel loops call."""
    folders = []
    if given := os.environ.get("LINATTN_LIBOMP"):
        return given
    try:
        from ._config import LLVM_LIBRARY_DIR

        folders.append(Path(LLVM_LIBRARY_DIR))
    except ImportError:
        pass
    folders += [Path("/usr/lib/llvm-22/lib"), Path("/usr/lib")]
    for folder in folders:
        for name in ("libomp.so.5", "libomp.so"):
            if (folder / name).exists():
                return str(folder / name)
    return None


def link_bytes(code, name):
    """The shared library of an object file; None where that is not possible."""
    linker = find_linker()
    if linker is None:
        return None
    with tempfile.TemporaryDirectory(prefix="linattn-") as folder:
        (Path(folder) / f"{name}.o").write_bytes(code)
        command = [linker, "-shared", "-o", f"{name}.so", f"{name}.o"]
        if openmp := find_openmp():
            command += [openmp, "-rpath", os.path.dirname(openmp)]
        if libm := find_libm():
            command.append(libm)
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, timeout=60)
        except (OSError, subprocess.TimeoutExpired):
            return None
        if done.returncode:
            return None
        return (Path(folder) / f"{name}.so").read_bytes()


@lru_cache(maxsize=1)
def find_libm():
    import ctypes.util

    name = ctypes.util.find_library("m")
    if not name:
        return None
    for folder in ("/lib", "/usr/lib", "/lib64", "/usr/lib64"):
        for path in (Path(folder) / name, *Path(folder).glob(f"*-linux-gnu/{name}")):
            if path.exists():
                return str(path)
    return None
