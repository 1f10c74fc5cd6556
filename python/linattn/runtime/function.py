"""Artifacts and their functions."""

import contextlib

import json
import os
import sys
from ctypes import byref, c_double, c_size_t, c_void_p

from . import tensors
from .library import LinattnError, Workspace, check, library


def load(path):
    """The functions of a folder that linattn-compile wrote, or of one NAME.json."""
    handle = c_void_p()
    check(library().linattn_load(os.fsencode(path), byref(handle)))
    return Artifact(handle)


def load_memory(description, cubin=None, ptx=None):
    """One function: its description (JSON text or a dict), its code as bytes."""
    if isinstance(description, dict):
        description = json.dumps(description)
    if isinstance(description, str):
        description = description.encode()
    handle = c_void_p()
    cubin, ptx = cubin or b"", ptx or b""
    check(
        library().linattn_load_memory(
            description, len(description), cubin, len(cubin), ptx, len(ptx), byref(handle)
        )
    )
    return Artifact(handle)


class Artifact:
    """A mapping from names to functions."""

    def __init__(self, handle):
        self._handle = handle
        lib = library()
        count = lib.linattn_num_functions(handle)
        functions = [Function(self, lib.linattn_function_at(handle, i)) for i in range(count)]
        self._functions = {f.name: f for f in functions}

    def __getitem__(self, name):
        if name not in self._functions:
            raise KeyError(f"the artifact has {', '.join(self._functions)}; got '{name}'")
        return self._functions[name]

    def __iter__(self):
        return iter(self._functions)

    def __len__(self):
        return len(self._functions)

    def __del__(self):
        if getattr(self, "_handle", None):
            library().linattn_release(self._handle)


class Function:
    """Called with tensors in the order of the arguments, or by their names; None
    is an optional one that is not given. Gives the results: new tensors of the
    same library, and arguments that were updated in place."""

    def __init__(self, artifact, handle):
        lib = library()
        self._artifact, self._handle = artifact, handle
        self.name = lib.linattn_function_name(handle).decode()
        self.description = json.loads(lib.linattn_function_json(handle))
        self.arguments = [
            lib.linattn_argument_info(handle, i)
            for i in range(lib.linattn_num_arguments(handle))
        ]
        self.results = [
            lib.linattn_result_info(handle, i) for i in range(lib.linattn_num_results(handle))
        ]
        self._infos, self._result_infos = (
            [(i.name.decode(), tensors.NAMES[i.dtype]) for i in infos]
            for infos in (self.arguments, self.results)
        )
        self._names = [name for name, _ in self._infos]

    def __repr__(self):
        def show(infos):
            return ", ".join(
                f"{i.name.decode()}: {tensors.NAMES[i.dtype]}{i.shape.decode()}" for i in infos
            )

        return f"{self.name}({show(self.arguments)}) -> ({show(self.results)})"

    def prepare(self):
        """Loads the code, so that a first call may be captured in a graph."""
        check(library().linattn_prepare(self._handle))

    def workspace_bytes(self, *args, **kwargs):
        values = self._values(args, kwargs)
        given, size = self._arguments(values, 0), c_size_t()
        check(
            library().linattn_workspace_bytes(
                self._handle, given.array, len(given), byref(size)
            )
        )
        return size.value

    def result_shapes(self, *args, **kwargs):
        """Name, dtype and shape of each result for these arguments."""
        made = self._infer(self._arguments(self._values(args, kwargs), 0))
        return [(r[0], *made[i]) for i, r in enumerate(self._result_infos)]

    def __call__(self, *args, out=None, workspace=None, stream=None, **kwargs):
        """`out`: a tensor, or None, per result, none of which shares memory with
        another operand; `workspace`: a tensor whose memory is used; `stream`: of
        any library, default: the current one."""
        values = self._values(args, kwargs)
        if stream is None:
            handle = tensors.current_stream(values)
        else:
            handle = tensors.stream_handle(stream)
        with device_of(values):
            return self._call(values, out, workspace, handle)

    def time(self, *args, repeat=20, warmup=3, **kwargs):
        """Milliseconds of each of `repeat` calls between two events."""
        lib, timer = library(), c_void_p()
        values = self._values(args, {k: v for k, v in kwargs.items() if k in self._names})
        options = {k: v for k, v in kwargs.items() if k not in self._names}
        handle = tensors.current_stream(values)
        for _ in range(warmup):
            results = self(*values, **options)
        options["out"] = results if isinstance(results, tuple) else (results,)
        check(lib.linattn_timer_create(byref(timer)))
        times = []
        try:
            for _ in range(repeat):
                check(lib.linattn_timer_start(timer, handle))
                self(*values, **options)
                check(lib.linattn_timer_stop(timer, handle))
                elapsed = c_double()
                check(lib.linattn_timer_elapsed(timer, byref(elapsed)))
                times.append(elapsed.value)
        finally:
            lib.linattn_timer_destroy(timer)
        return times

    # ---------------------------------------------------------------- inside
    def _values(self, args, kwargs):
        if len(args) > len(self._names):
            raise LinattnError(
                f"{self.name}: takes {len(self._names)} arguments, got {len(args)}"
            )
        values = list(args) + [None] * (len(self._names) - len(args))
        for name, value in kwargs.items():
            if name not in self._names:
                raise LinattnError(
                    f"{self.name}: has the arguments {', '.join(self._names)}; got '{name}'"
                )
            i = self._names.index(name)
            if i < len(args):
                raise LinattnError(f"{self.name}: '{name}' is given once, got it twice")
            values[i] = value
        return values

    def _set(self, operands, i, value, info, stream):
        """Operand `i`: a tensor of one of the libraries; None is an absent one."""
        name, dtype = info
        if value is None:
            return
        try:
            if tensors.is_torch(value):
                operands.set(i, *tensors.from_torch(value, name))
            elif tensors.is_numpy(value):
                copy = tensors.from_numpy(value, name, dtype)
                copy.upload(stream)
                operands.set(i, *copy.operand, copy)
            elif hasattr(value, "__dlpack__"):
                operands.set(i, *tensors.from_dlpack(value, name, stream))
            else:
                raise LinattnError(
                    f"'{name}' is a tensor of torch, cupy, numpy or DLPack, "
                    f"got {type(value).__name__}"
                )
        except LinattnError as error:
            raise LinattnError(f"{self.name}: {error}", error.kind) from None

    def _arguments(self, values, stream):
        given = tensors.TensorArray(len(self.arguments))
        for i, (value, info) in enumerate(zip(values, self._infos)):
            self._set(given, i, value, info, stream)
        return given

    def _infer(self, given):
        made = tensors.TensorArray(len(self.results))
        check(
            library().linattn_infer_results(
                self._handle, given.array, len(given), made.array, len(made)
            )
        )
        return made

    def _call(self, values, out, workspace, stream):
        given = self._arguments(values, stream)
        shapes = None
        made = tensors.TensorArray(len(self.results))
        returned = []
        for i, info in enumerate(self._result_infos):
            holder = self.results[i].in_place
            if holder >= 0:
                returned.append(values[holder])
                continue
            value = out[i] if out is not None else None
            if value is None:
                shapes = shapes or self._infer(given)
                prototype = next((v for v in values if v is not None), None)
                value = make_like(prototype, shapes[i][1], info[1])
            self._set(made, i, value, info, stream)
            returned.append(value)
        if any(type(each) is tensors.DeviceCopy for each in given.alive + made.alive):
            self._check_numpy(values, returned)
        scratch = None
        if workspace is not None:
            is_torch = tensors.is_torch(workspace)
            address = workspace.data_ptr() if is_torch else workspace.data.ptr
            scratch = byref(Workspace(address, workspace.nbytes))
        check(
            library().linattn_call(
                self._handle, given.array, len(given), made.array, len(made), scratch, stream
            )
        )
        self._fetch(returned, given, made, stream)
        return tuple(returned) if len(returned) != 1 else returned[0]

    def _check_numpy(self, values, returned):
        """What is written shares no memory, as the runtime asks of the device's:
        numpy arrays are copies there, which do not show it."""
        held = {result.in_place for result in self.results}
        given = zip(self._names, values, (i in held for i in range(len(values))))
        made = [
            (name, value, True)
            for (name, _), value, info in zip(self._result_infos, returned, self.results)
            if info.in_place < 0
        ]
        known = [x for x in [*given, *made] if x[1] is not None and tensors.is_numpy(x[1])]
        for i, (name, value, is_written) in enumerate(known):
            for other, its, _ in (x for x in known[:i] if is_written or x[2]):
                if tensors.share_memory(value, its):
                    first, second = (name, other) if is_written else (other, name)
                    raise LinattnError(
                        f"{self.name}: '{first}' is written, so it has memory of its own, "
                        f"got that of '{second}'"
                    )

    def _fetch(self, returned, given, made, stream):
        """Brings what was written back into numpy arrays."""
        for i, info in enumerate(self.results):
            copy = made.alive[i] if info.in_place < 0 else given.alive[info.in_place]
            if isinstance(copy, tensors.DeviceCopy):
                host = copy.download(stream)
                if host is not returned[i]:
                    returned[i][...] = host


def make_like(prototype, sizes, dtype):
    if tensors.is_torch(prototype):
        torch = sys.modules["torch"]
        kind = getattr(torch, tensors.TO_TORCH[dtype])
        return torch.empty(sizes, dtype=kind, device=prototype.device)
    if tensors.is_numpy(prototype):
        import numpy as np

        return np.empty(sizes, tensors.numpy_dtype(dtype))
    module = sys.modules[type(prototype).__module__.split(".")[0]]
    if module.__name__ != "cupy":
        raise LinattnError(
            f"results beside tensors of {module.__name__} lie in memory that `out` gives"
        )
    if dtype == "bf16":
        import ml_dtypes

        return module.empty(sizes, ml_dtypes.bfloat16)
    return module.empty(sizes, tensors.TO_NUMPY[dtype])


def device_of(values):
    """Makes the device of torch's tensors current."""
    first = next((v for v in values if v is not None), None)
    if first is None or not tensors.is_torch(first) or not first.is_cuda:
        return contextlib.nullcontext()
    cuda = sys.modules["torch"].cuda
    if cuda.current_device() == first.device.index:
        return contextlib.nullcontext()
    return cuda.device(first.device)



