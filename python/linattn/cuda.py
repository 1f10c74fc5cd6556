"""Runs a kernel that linattn-compile wrote on an NVIDIA GPU, with nothing but the
driver's libcuda.so.1 and numpy:

    linattn-run x.mlir --save data
    linattn-compile x.mlir --target=sm_90a -o out
    python -m linattn.cuda out/x.json data --save results

reads data/in_NAME.npy for each argument (16-bit floats as <f4) and writes
results/out_0.npy .., and a pool of states that was updated in place as its
result."""

import argparse
import ctypes
import sys
from pathlib import Path

import numpy as np

from .kernels import Array, Kernel

WIDTHS = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8, "i32": 4, "i64": 8}
NUMPY = {"f16": "<f2", "f32": "<f4", "f64": "<f8", "i32": "<i4", "i64": "<i8"}


class CudaError(RuntimeError):
    pass


class Driver:
    """The calls of libcuda that a launch needs."""

    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")
        self("cuInit", 0)

    def __call__(self, function, *arguments):
        code = getattr(self.library, function)(*arguments)
        if code:
            text = ctypes.c_char_p()
            self.library.cuGetErrorString(code, ctypes.byref(text))
            raise CudaError(f"{function}: {(text.value or b'').decode()} ({code})")

    def use_device(self, number=0):
        """Makes the primary context of a device current."""
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self("cuDeviceGet", ctypes.byref(device), number)
        self("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self("cuCtxSetCurrent", context)

    def allocate(self, size):
        address = ctypes.c_uint64()
        self("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(size, 1)))
        return address.value

    def upload(self, address, data):
        if data.nbytes:
            pointer = data.ctypes.data_as(ctypes.c_void_p)
            size = ctypes.c_size_t(data.nbytes)
            self("cuMemcpyHtoD_v2", ctypes.c_uint64(address), pointer, size)

    def download(self, data, address):
        if data.nbytes:
            pointer = data.ctypes.data_as(ctypes.c_void_p)
            size = ctypes.c_size_t(data.nbytes)
            self("cuMemcpyDtoH_v2", pointer, ctypes.c_uint64(address), size)

    def load(self, code, name):
        """The function `name` of a cubin or of PTX text."""
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self("cuModuleLoadData", ctypes.byref(module), ctypes.c_char_p(code))
        self(
            "cuModuleGetFunction",
            ctypes.byref(function),
            module,
            ctypes.c_char_p(name.encode()),
        )
        return function

    def launch(self, function, grid, block, parameters, stream=0):
        """`parameters`: 64 bits each."""
        if grid == 0:
            return
        numbers = [ctypes.c_int64(p) for p in parameters]
        pointers = (ctypes.c_void_p * len(numbers))(
            *(ctypes.addressof(n) for n in numbers)
        )
        one, zero = ctypes.c_uint(1), ctypes.c_uint(0)
        self(
            "cuLaunchKernel", function, ctypes.c_uint(grid), one, one,
            ctypes.c_uint(block), one, one, zero, ctypes.c_void_p(stream), pointers,
            None,
        )  # fmt: skip

    def synchronize(self):
        self("cuCtxSynchronize")


def encode(array, dtype):
    """As the bytes that the kernel reads."""
    if dtype != "bf16":
        return np.ascontiguousarray(array, dtype=NUMPY[dtype])
    bits = np.ascontiguousarray(array, dtype="<f4").view("<u4")
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(array), 0x7FC0, rounded).astype("<u2")


def decode(array, dtype):
    if dtype == "bf16":
        return (array.astype("<u4") << 16).view("<f4")
    return array.astype("<f4") if dtype == "f16" else array


def run(driver, kernel, inputs):
    """Runs once on numpy arrays by name; returns the results in order."""
    arrays, hosts = {}, {}

    def place(name, dtype, host):
        width = WIDTHS[dtype]
        hosts[name] = (host, dtype)
        address = driver.allocate(host.nbytes)
        driver.upload(address, host)
        strides = tuple(s // width for s in host.strides)
        arrays[name] = Array(address, host.shape, strides, dtype)

    for item in kernel.arguments:
        if item["name"] in inputs or item["role"] != "unused":
            place(item["name"], item["dtype"], encode(inputs[item["name"]], item["dtype"]))
    for name, dtype, shape in kernel.result_shapes(arrays):
        place(name, dtype, np.zeros(shape, NUMPY.get(dtype, "<u2")))
    function = driver.load(kernel.code(), kernel.name)
    parameters = kernel.parameters(arrays)
    driver.launch(function, kernel.grid(arrays), kernel.block(), parameters)
    driver.synchronize()
    results = []
    for item in kernel.results:
        name = item.get("in_place", item["name"])
        host, dtype = hosts[name]
        driver.download(host, arrays[name].address)
        results.append(decode(host, dtype))
    return results


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="python -m linattn.cuda",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("kernel", help="NAME.json")
    parser.add_argument("inputs", type=Path, help="folder of in_NAME.npy")
    parser.add_argument("--save", type=Path, required=True, help="folder for results")
    args = parser.parse_args(arguments)
    kernel = Kernel(args.kernel)
    inputs = {p.stem[3:]: np.load(p) for p in args.inputs.glob("in_*.npy")}
    driver = Driver()
    driver.use_device()
    args.save.mkdir(parents=True, exist_ok=True)
    for i, result in enumerate(run(driver, kernel, inputs)):
        np.save(args.save / f"out_{i}.npy", result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
