"""liblinattn_runtime through ctypes: its structures, its functions, its errors."""

import ctypes
import os
from ctypes import POINTER, byref, c_char, c_char_p, c_double, c_int32, c_int64
from ctypes import c_size_t, c_void_p
from pathlib import Path

from ..errors import Error

MAX_RANK = 8
ABSENT = 0
DTYPES = {"f16": 1, "bf16": 2, "f32": 3, "f64": 4, "i32": 5, "i64": 6, "i8": 7, "u8": 8}
NAMES = {number: name for name, number in DTYPES.items()}

STATUS = {1: "artifact", 2: "argument", 3: "no device", 4: "unsupported", 5: "driver"}


class LinattnError(Error, RuntimeError):
    """`kind`: artifact, argument, no device, unsupported, driver or internal."""

    def __init__(self, message, kind="argument"):
        # Without a line of the user's: the runtime speaks of its own call.
        Exception.__init__(self, message)
        self.kind = kind


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", c_void_p),
        ("dtype", ctypes.c_int),
        ("rank", c_int32),
        ("sizes", c_int64 * MAX_RANK),
        ("strides", c_int64 * MAX_RANK),
    ]


class TensorInfo(ctypes.Structure):
    _fields_ = [
        ("name", c_char_p),
        ("role", c_char_p),
        ("shape", c_char_p),
        ("dtype", ctypes.c_int),
        ("rank", c_int32),
        ("alignment", c_int32),
        ("optional", c_int32),
        ("in_place", c_int32),
    ]


class Workspace(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("bytes", c_size_t)]


class DeviceInfo(ctypes.Structure):
    _fields_ = [
        ("name", c_char * 128),
        ("major", c_int32),
        ("minor", c_int32),
        ("multiprocessors", c_int32),
        ("shared_bytes", c_int32),
        ("driver_version", c_int32),
    ]


SIGNATURES = {
    "linattn_last_error": (c_char_p, []),
    "linattn_load": (ctypes.c_int, [c_char_p, POINTER(c_void_p)]),
    "linattn_load_memory": (
        ctypes.c_int,
        [c_char_p, c_size_t, c_char_p, c_size_t, c_char_p, c_size_t, POINTER(c_void_p)],
    ),
    "linattn_release": (None, [c_void_p]),
    "linattn_num_functions": (c_int32, [c_void_p]),
    "linattn_function_at": (c_void_p, [c_void_p, c_int32]),
    "linattn_function_name": (c_char_p, [c_void_p]),
    "linattn_function_json": (c_char_p, [c_void_p]),
    "linattn_num_arguments": (c_int32, [c_void_p]),
    "linattn_num_results": (c_int32, [c_void_p]),
    "linattn_argument_info": (TensorInfo, [c_void_p, c_int32]),
    "linattn_result_info": (TensorInfo, [c_void_p, c_int32]),
    "linattn_infer_results": (
        ctypes.c_int,
        [c_void_p, POINTER(Tensor), c_int32, POINTER(Tensor), c_int32],
    ),
    "linattn_workspace_bytes": (
        ctypes.c_int,
        [c_void_p, POINTER(Tensor), c_int32, POINTER(c_size_t)],
    ),
    "linattn_call": (
        ctypes.c_int,
        [c_void_p, POINTER(Tensor), c_int32, POINTER(Tensor), c_int32]
        + [POINTER(Workspace), c_void_p],
    ),
    "linattn_prepare": (ctypes.c_int, [c_void_p]),
    "linattn_get_device": (ctypes.c_int, [POINTER(DeviceInfo)]),
    "linattn_allocate": (ctypes.c_int, [c_size_t, POINTER(c_void_p)]),
    "linattn_free": (ctypes.c_int, [c_void_p]),
    "linattn_upload": (ctypes.c_int, [c_void_p, c_void_p, c_size_t, c_void_p]),
    "linattn_download": (ctypes.c_int, [c_void_p, c_void_p, c_size_t, c_void_p]),
    "linattn_timer_create": (ctypes.c_int, [POINTER(c_void_p)]),
    "linattn_timer_start": (ctypes.c_int, [c_void_p, c_void_p]),
    "linattn_timer_stop": (ctypes.c_int, [c_void_p, c_void_p]),
    "linattn_timer_elapsed": (ctypes.c_int, [c_void_p, POINTER(c_double)]),
    "linattn_timer_destroy": (None, [c_void_p]),
}

LIBRARY = "liblinattn_runtime.so"


def find():
    """LINATTN_RUNTIME; beside the package; a build of the sources; the system."""
    if named := os.environ.get("LINATTN_RUNTIME"):
        return named
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "lib", package.parent.parent / "build" / "lib"):
        if (folder / LIBRARY).exists():
            return str(folder / LIBRARY)
    return LIBRARY


_library = None


def library():
    """Loaded at the first use, so that importing needs nothing."""
    global _library
    if _library is None:
        path = find()
        try:
            loaded = ctypes.CDLL(path)
        except OSError as error:
            raise LinattnError(
                f"{error}; LINATTN_RUNTIME names {LIBRARY} where it is elsewhere",
                "no device",
            ) from None
        for name, (result, arguments) in SIGNATURES.items():
            function = getattr(loaded, name)
            function.restype, function.argtypes = result, arguments
        _library = loaded
    return _library


def check(status):
    if status:
        message = library().linattn_last_error().decode()
        raise LinattnError(message, STATUS.get(status, "internal"))


def device():
    """Name, compute capability, multiprocessors, .. of the current device."""
    info = DeviceInfo()
    check(library().linattn_get_device(byref(info)))
    return {
        "name": info.name.decode(),
        "capability": (info.major, info.minor),
        "multiprocessors": info.multiprocessors,
        "shared_bytes": info.shared_bytes,
        "driver": info.driver_version,
    }
