"""Compiled functions: from the cache or the compiler, ready to be called."""

import ctypes
import json
import threading
from dataclasses import dataclass

from . import cache, linker
from .emit import Sym


@dataclass(frozen=True)
class Options:
    """How to compile; part of what a cache entry is found by."""

    target: str = "cpu"
    lowering: str | None = None
    chunk: int = 64
    mma: str | None = None
    plan: str | None = None
    keep_rounding: bool = False
    cpu: str = "native"
    sizes: tuple = (0, 0)  # sequences, tokens of each, as far as they are known

    @property
    def is_cpu(self):
        return self.target == "cpu"

    @property
    def form(self):
        """The lowering that is meant where none is named."""
        return self.lowering or ("serial" if self.is_cpu else "auto")


_lock = threading.Lock()
_busy = {}
compiled = 0  # functions that this process compiled


def entry(module, options):
    """The folder with the code of a module, compiled if there is none yet."""
    native = options.is_cpu and options.cpu == "native"
    name = cache.key(module.text_key, options, cache.processor() if native else "")
    found = cache.find(name)
    if found is not None:
        return found
    with _lock:
        mine = _busy.setdefault(name, threading.Lock())
    with mine:  # Of several threads one compiles.
        found = cache.find(name)
        if found is None:
            found = _compile(name, module, options)
    with _lock:
        _busy.pop(name, None)
    return found


def _compile(name, module, options):
    global compiled
    from . import native

    artifact = native.compile_text(
        module.text, module.name, target=options.target, lowering=options.form,
        chunk=options.chunk, mma=options.mma, plan=options.plan, keep_rounding=options.keep_rounding,
        cpu=options.cpu, sizes=options.sizes,
    )
    compiled += 1
    files = files_of(artifact, module.name)
    if options.is_cpu:
        library = linker.link_bytes(files[f"{module.name}.o"], module.name)
        if library:
            files[f"{module.name}.so"] = library
    return cache.store(name, files)


def files_of(artifact, name):
    parts = {
        "json": artifact.description, "o": artifact.object, "h": artifact.header,
        "ptx": artifact.ptx, "cubin": artifact.cubin,
    }
    return {f"{name}.{suffix}": part for suffix, part in parts.items() if part}


def load(folder, module):
    """A function that can be called, from an entry for the CPU."""
    from . import _call

    keep, start, sizes = load_code(folder, module.name)
    symbols = {name: i for i, name in enumerate(module.symbols)}

    def dim(d):
        return (symbols[d.name], d.plus) if isinstance(d, Sym) else d

    arguments = [
        dict(a, name=a["said"], shape=[dim(d) for d in a["shape"]],
             counted=-1 if a["counted"] is None else symbols.get(a["counted"], -1))
        for a in module.arguments
    ]
    return _call.Kernel(start, sizes, arguments, module.results, len(symbols), keep)


def load_code(folder, name):
    """(what holds the code, address of the function, address of its sizes)"""
    path = folder / f"{name}.so"
    if path.exists():
        try:
            library = ctypes.CDLL(str(path))
        except OSError:
            pass  # Its OpenMP is gone; the object file still works.
        else:
            return library, *(
                ctypes.cast(getattr(library, symbol), ctypes.c_void_p).value
                for symbol in (f"_mlir_ciface_{name}", f"_mlir_ciface_{name}_result_shapes")
            )
    from . import native

    kernel = native.compiler().load_object((folder / f"{name}.o").read_bytes(), name)
    return kernel, kernel.entry, kernel.sizes


def description(folder, name):
    return json.loads((folder / f"{name}.json").read_text())
