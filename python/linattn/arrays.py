"""Arrays of other libraries: what they are, and how to make results like them."""

from .errors import ArgumentError

DEVICES = {1: "cpu", 2: "cuda", 3: "cuda host memory", 10: "rocm", 13: "cuda"}


def describe(name, array):
    """(shape, strides, dtype, device type, device number)"""
    from ._call import describe as native

    try:
        found = native(array)
    except AttributeError:
        raise ArgumentError(
            f"argument '{name}' is an array, got {type(array).__name__}"
        ) from None
    except (ValueError, TypeError, BufferError, RuntimeError) as error:
        raise ArgumentError(f"argument '{name}': {error}") from None
    if "-endian" in found[2]:
        raise ArgumentError(
            f"argument '{name}' is in this machine's byte order, got {found[2]}: "
            "x.astype(x.dtype.newbyteorder('=')) is"
        )
    return found


def numpy_make(shape, dtype):
    import numpy as np

    return np.empty(shape, numpy_type(dtype))


def numpy_zeros(shape, dtype):
    import numpy as np

    return np.zeros(shape, numpy_type(dtype))


def numpy_type(dtype):
    if not _NUMPY:
        import numpy as np

        _NUMPY.update(
            f16=np.float16, f32=np.float32, f64=np.float64, i32=np.int32, i64=np.int64
        )
    return _NUMPY[dtype] if dtype != "bf16" else bfloat16()


_NUMPY = {}


def bfloat16():
    try:
        import ml_dtypes
    except ImportError:
        raise ArgumentError(
            "numpy has no bfloat16 of its own: install ml_dtypes"
        ) from None
    return ml_dtypes.bfloat16


def torch_type(dtype):
    import torch

    return getattr(
        torch,
        dict(f16="float16", bf16="bfloat16", f32="float32", f64="float64", i32="int32",
             i64="int64")[dtype],
    )


def torch_make(shape, dtype):
    import torch

    return torch.empty(shape, dtype=torch_type(dtype))


def torch_zeros(shape, dtype):
    import torch

    return torch.zeros(shape, dtype=torch_type(dtype))


def jax_finish(array, dtype):
    import jax.numpy as jnp

    return jnp.asarray(array)


def library_of(array, zeros):
    """(make, finish) of the library that `array` is from; numpy for others. `zeros`:
    the function does not write every row of its results."""
    package = type(array).__module__.partition(".")[0]
    if package == "torch":
        return (torch_zeros if zeros else torch_make), None
    finish = jax_finish if package in ("jax", "jaxlib") else None
    return (numpy_zeros if zeros else numpy_make), finish
