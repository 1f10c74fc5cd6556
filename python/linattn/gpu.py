"""Ops for a GPU: compiled here, launched by linattn.runtime."""

from . import arrays, code
from .source import at_user_line


class placed:
    """The runtime's errors, with the line of the user's program."""

    def __enter__(self):
        pass

    def __exit__(self, kind, error, trace):
        from .runtime import LinattnError

        if isinstance(error, LinattnError):
            raise LinattnError(at_user_line(str(error)), error.kind) from None


def target_of(number=0):
    """The target for the current device, such as sm_90a."""
    from .runtime import device

    with placed():
        major, minor = device()["capability"]
    # What is specific to an architecture is part of it from 9.0 on.
    return f"sm_{major}{minor}" + ("a" if major >= 9 else "")


def function(op, signature, options):
    """The loaded function for these types and sizes."""
    from . import runtime

    key = (signature, options)
    found = op._functions.get(key)
    if found is None:
        with op._lock:
            found = op._functions.get(key)
            if found is None:
                module = op.recurrence.module(signature)
                folder = code.entry(module, options)
                with placed():
                    loaded = runtime.load(str(folder / f"{module.name}.json"))
                found = op._functions[key] = (loaded[module.name], module)
    return found


def zeros_like(array, shape, dtype):
    """Zeros of the library and on the device of `array`."""
    package = type(array).__module__.partition(".")[0]
    if package == "torch":
        return array.new_zeros(shape, dtype=arrays.torch_type(dtype))
    if package == "cupy":
        import cupy

        return cupy.zeros(shape, dtype)
    return arrays.numpy_zeros(shape, dtype)


def to_runtime(array):
    """The runtime takes numpy's bfloat16 as its bits."""
    if getattr(getattr(array, "dtype", None), "name", "") == "bfloat16" and hasattr(
        array, "view"
    ) and type(array).__module__.startswith("numpy"):
        return array.view("uint16")
    return array


def call(op, signature, options, given, states, cu_seqlens, slots):
    from .runtime import LinattnError

    launch, module = function(op, signature, options)
    first = given[0]
    sequences = (
        len(cu_seqlens) - 1 if cu_seqlens is not None else arrays.describe("", first)[0][0]
    )
    filled = []
    shapes = [a for a in module.arguments if a["role"] == "state"]
    for state, argument in zip(states, shapes):
        if state is None:
            shape = (sequences, *argument["shape"][1:])
            state = zeros_like(first, shape, argument["dtype"])
        filled.append(state)
    everything = [*given, *filled, *(x for x in (cu_seqlens, slots) if x is not None)]
    numpy = type(first).__module__.startswith("numpy")
    try:
        with placed():
            results = launch(*(to_runtime(x) for x in everything))
    except LinattnError as error:
        if error.kind != "argument":
            raise
        message = str(error)
        for a in module.arguments:
            message = message.replace(f"'{a['name']}'", f"'{a['said']}'")
        op._refuse(message)
    results = results if isinstance(results, tuple) else (results,)
    if numpy:
        results = tuple(
            r.view(arrays.bfloat16()) if about["dtype"] == "bf16" else r
            for r, about in zip(results, module.results)
        )
    return results if len(results) > 1 else results[0]
