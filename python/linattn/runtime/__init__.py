"""Runs what linattn-compile wrote, on NVIDIA GPUs, with liblinattn_runtime alone:
no LLVM, no CUDA toolkit.

    artifact = linattn.runtime.load("out")          # a folder, or a NAME.json
    o, s = artifact["gated_deltanet"](q, k, v, g, beta, s0)

Tensors are torch's or cupy's, or of anything that speaks DLPack, where they lie;
numpy arrays travel to the device and back. Every shape, stride, dtype, alignment
and limit is checked before a launch; LinattnError says which operand breaks which
rule."""

from .function import Artifact, Function, load, load_memory
from .library import LinattnError, device
from .tensors import from_bf16_bits, to_bf16_bits

__all__ = [
    "Artifact",
    "Function",
    "LinattnError",
    "device",
    "from_bf16_bits",
    "load",
    "load_memory",
    "to_bf16_bits",
]
