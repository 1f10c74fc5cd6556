"""Arrays of other libraries: what they are, and how to make results like them."""

from .errors import ArgumentError

DEVICES = {1: "cpu", 2: "cuda", 3: "cuda host memory", 10: "rocm", 13: "cuda"}


def describe(name, array):
    """(shape, strides, dtype, device type, device number)"""
    from ._call import describe as native

    try:
        return native(array)
    except AttributeError:
        raise ArgumentError(
            f"argument '{name}' is an array, got {type(array).__name__}"
        ) from None
    except (ValueError, TypeError, BufferError, RuntimeError) as error:
        raise ArgumentError(f"argument '{name}': {error}") from None


def numpy_make(shape, dtype):
    import numpy as np

    return np.empty(shape, _numpy_types()[dtype])


def _numpy_types():
    if not _NUMPY:
        import numpy as np

        _NUMPY.update(
            f16=np.float16, bf16=np.int16, f32=np.float32, f64=np.float64,
            i32=np.int32, i64=np.int64,
        )
    return _NUMPY


_NUMPY = {}


def numpy_make_bf16(shape, dtype):
    """Memory for bfloat16, which numpy gets from ml_dtypes."""
    import numpy as np

    if dtype != "bf16":
        return numpy_make(shape, dtype)
    return np.empty(shape, bfloat16())


def bfloat16():
    try:
        import ml_dtypes
    except ImportError:
        raise ArgumentError(
            "numpy has no bfloat16 of its own: install ml_dtypes"
        ) from None
    return ml_dtypes.bfloat16


def torch_make(shape, dtype):
    import torch

    types = dict(
        f16=torch.float16, bf16=torch.bfloat16, f32=torch.float32, f64=torch.float64,
        i32=torch.int32, i64=torch.int64,
    )
    return torch.empty(shape, dtype=types[dtype])


def jax_finish(array, dtype):
    import jax.numpy as jnp

    # A copy on the CPU at most: jax owns its memory.
    return jnp.asarray(array)


def library_of(array):
    """(make, finish) of the library that `array` is from; numpy for others."""
    package = type(array).__module__.partition(".")[0]
    if package == "torch":
        return torch_make, None
    if package in ("jax", "jaxlib"):
        return numpy_make_bf16, jax_finish
    return numpy_make_bf16, None
