"""Tensors of other libraries as the runtime wants them: address, dtype, sizes,
strides. Nothing is imported for it: torch and cupy are recognised by what their
tensors can do."""

import ctypes
import struct
import sys
from ctypes import byref, c_int32, c_int64, c_uint8, c_uint16, c_uint64, c_void_p

from .library import DTYPES, MAX_RANK, NAMES, LinattnError, Tensor
from .library import check, library

TORCH = {
    "torch.float16": "f16",
    "torch.bfloat16": "bf16",
    "torch.float32": "f32",
    "torch.float64": "f64",
    "torch.int32": "i32",
    "torch.int64": "i64",
    "torch.int8": "i8",
    "torch.uint8": "u8",
}
NUMPY = {
    "float16": "f16",
    "bfloat16": "bf16",
    "float32": "f32",
    "float64": "f64",
    "int32": "i32",
    "int64": "i64",
    "int8": "i8",
    "uint8": "u8",
}
TO_TORCH = {ours: theirs.split(".")[1] for theirs, ours in TORCH.items()}
TO_NUMPY = {ours: theirs for theirs, ours in NUMPY.items()}


# ------------------------------------------------------------------ descriptions
def packer(rank):
    """Writes a linattn_tensor of that rank into memory."""
    rest = 8 * (MAX_RANK - rank)
    return struct.Struct(f"Pii{rank}q{rest}x{rank}q{rest}x").pack_into


PACKERS = [packer(rank) for rank in range(MAX_RANK + 1)]
BYTES = ctypes.sizeof(Tensor)


class TensorArray:
    """The operands of a call, absent until they are set."""

    def __init__(self, count):
        self.array = (Tensor * count)()
        self.alive = [None] * count

    def set(self, i, address, dtype, sizes, strides, keep):
        rank = len(sizes)
        if rank > MAX_RANK:
            raise LinattnError(f"a tensor has at most {MAX_RANK} dimensions, got {rank}")
        PACKERS[rank](self.array, i * BYTES, address, DTYPES[dtype], rank, *sizes, *strides)
        self.alive[i] = keep

    def __len__(self):
        return len(self.alive)

    def __getitem__(self, i):
        tensor = self.array[i]
        sizes = tuple(tensor.sizes[: tensor.rank])
        return NAMES[tensor.dtype], sizes


class DLDevice(ctypes.Structure):
    _fields_ = [("type", c_int32), ("id", c_int32)]


class DLDataType(ctypes.Structure):
    _fields_ = [("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16)]


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", c_void_p),
        ("device", DLDevice),
        ("ndim", c_int32),
        ("dtype", DLDataType),
        ("shape", ctypes.POINTER(c_int64)),
        ("strides", ctypes.POINTER(c_int64)),
        ("byte_offset", c_uint64),
    ]


# Of DLDataType.code; those from complex on are named for messages alone.
KIND = {0: "i", 1: "u", 2: "f", 4: "bf", 5: "complex", 6: "bool"}
GPU_DEVICES = (2, 3, 13)  # CUDA, its pinned host memory, its managed memory

_get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_get_pointer.restype, _get_pointer.argtypes = c_void_p, [ctypes.py_object, ctypes.c_char_p]


def from_dlpack(value, name, stream):
    """The capsule is not consumed: it frees itself with its last reference."""
    capsule = value.__dlpack__(stream=stream or 1)
    view = DLTensor.from_address(_get_pointer(capsule, b"dltensor"))
    if view.device.type not in GPU_DEVICES:
        raise LinattnError(f"'{name}' lies in device memory, got a tensor of the CPU")
    kind = f"{KIND.get(view.dtype.code, '?')}{view.dtype.bits}"
    if kind not in DTYPES or view.dtype.lanes != 1:
        raise LinattnError(f"'{name}' has a dtype of {', '.join(DTYPES)}, got {kind}")
    sizes = list(view.shape[: view.ndim])
    if view.strides:
        strides = list(view.strides[: view.ndim])
    else:
        strides = row_major(sizes)
    return (view.data or 0) + view.byte_offset, kind, sizes, strides, capsule


def row_major(sizes):
    strides = [1] * len(sizes)
    for i in range(len(sizes) - 1, 0, -1):
        strides[i - 1] = strides[i] * max(sizes[i], 1)
    return strides


_torch_types = {}  # types of tensors, torch's or not


def is_torch(value):
    kind = type(value)
    known = _torch_types.get(kind)
    if known is None:
        known = kind.__module__.split(".")[0] == "torch" or hasattr(value, "data_ptr")
        _torch_types[kind] = known
    return known


def is_numpy(value):
    return hasattr(value, "__array_interface__") and not is_torch(value)


_torch_dtypes = {}  # torch's objects to our names: their text is slow to make


def from_torch(value, name):
    dtype = _torch_dtypes.get(value.dtype)
    if dtype is None:
        dtype = TORCH.get(str(value.dtype))
        if dtype is None:
            raise LinattnError(
                f"'{name}' has a dtype of {', '.join(DTYPES)}, got {value.dtype}"
            )
        _torch_dtypes[value.dtype] = dtype
    if not value.is_cuda:
        raise LinattnError(f"'{name}' lies in device memory, got a tensor of {value.device}")
    return value.data_ptr(), dtype, value.shape, value.stride(), value


def current_stream(values):
    """The stream that the library of the tensors works on."""
    for value in values:
        if value is None:
            continue
        if is_torch(value):
            if not value.is_cuda:
                continue  # refused later, by name
            return sys.modules["torch"].cuda.current_stream(value.device).cuda_stream
        if type(value).__module__.split(".")[0] == "cupy":
            return sys.modules["cupy"].cuda.get_current_stream().ptr
    return 0


def stream_handle(stream):
    """An address, or a stream object of torch, cupy or cuda.core."""
    for name in ("cuda_stream", "ptr"):
        if hasattr(stream, name):
            return getattr(stream, name)
    if hasattr(stream, "__cuda_stream__"):
        protocol = stream.__cuda_stream__
        return (protocol() if callable(protocol) else protocol)[1]
    return int(stream)


# ------------------------------------------------------------------- numpy arrays
def to_bf16_bits(array):
    """float32 rounded to bf16, as uint16: for numpy without ml_dtypes."""
    import numpy as np

    array = np.ascontiguousarray(array, dtype=np.float32)
    bits = array.view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(array), 0x7FC0, rounded).astype(np.uint16)


def from_bf16_bits(bits):
    import numpy as np

    return (np.asarray(bits).view(np.uint16).astype(np.uint32) << 16).view(np.float32)


def share_memory(a, b):
    """Of two numpy arrays; where the strides do not say so soon, they may."""
    import numpy as np

    try:
        return np.shares_memory(a, b, max_work=100_000)
    except np.exceptions.TooHardError if hasattr(np, "exceptions") else np.TooHardError:
        return True


def numpy_dtype(dtype):
    """bf16: ml_dtypes' if it is installed, else the bits."""
    import numpy as np

    if dtype != "bf16":
        return np.dtype(TO_NUMPY[dtype])
    try:
        import ml_dtypes
    except ImportError:
        return np.dtype(np.uint16)
    return np.dtype(ml_dtypes.bfloat16)


class DeviceCopy:
    """A numpy array, or room for one, on the device, with the same strides."""

    def __init__(self, array, dtype):
        import numpy as np

        if any(s < 0 for s in array.strides):
            array = np.ascontiguousarray(array)
        self.host, width = array, array.itemsize
        # All that lies between the first and the last element travels along.
        last = sum((n - 1) * s for n, s in zip(array.shape, array.strides))
        self.bytes = last + width if array.size else 0
        address = c_void_p()
        check(library().linattn_allocate(max(self.bytes, 1), byref(address)))
        self.address = address.value
        strides = [s // width for s in array.strides]
        self.operand = (self.address, dtype, array.shape, strides)

    def upload(self, stream):
        pointer = self.host.ctypes.data
        check(library().linattn_upload(self.address, pointer, self.bytes, stream))

    def download(self, stream):
        import numpy as np

        host = self.host
        # What lies between the elements may be another operand's by now.
        scattered = self.bytes != host.nbytes
        room = np.empty(self.bytes, np.uint8) if scattered else host
        pointer = room.ctypes.data
        check(library().linattn_download(pointer, self.address, self.bytes, stream))
        if scattered:
            host[...] = np.ndarray(host.shape, host.dtype, room, strides=host.strides)
        return host

    def __del__(self):
        if getattr(self, "address", None):
            library().linattn_free(self.address)


def from_numpy(value, name, wanted):
    dtype = NUMPY.get(value.dtype.name)
    if not value.dtype.isnative:
        raise LinattnError(
            f"'{name}' is in this machine's byte order, got {value.dtype}: "
            "x.astype(x.dtype.newbyteorder('=')) is"
        )
    if value.dtype.name == "uint16" and wanted == "bf16":
        dtype = "bf16"
    if dtype is None:
        raise LinattnError(f"'{name}' has a dtype of {', '.join(DTYPES)}, got {value.dtype}")
    if any(s % value.itemsize for s in value.strides):
        raise LinattnError(
            f"'{name}' has strides that are multiples of its elements of "
            f"{value.itemsize} bytes, got {list(value.strides)} bytes"
        )
    return DeviceCopy(value, dtype)
