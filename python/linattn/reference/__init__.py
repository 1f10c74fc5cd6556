"""The independent oracle: every operator as a plain fp64 loop over tokens.

Written from the equations alone and sharing nothing with the compiler, so that
each can check the other. Slow on purpose; only numpy is needed.

Layout: tokens [B, T, H, D], or [T, H, D] packed with `cu_seqlens`; states
[N, H, K, V]; a gate is a log decay. Heads of an operand divide the largest
head count: head h reads head h // (H / H_operand).
"""

from .attention import (
    diff_attention_v1,
    diff_attention_v2,
    diff_lambda,
    softmax_attention,
)
from .conv import short_conv
from .functions import (
    elu,
    exp,
    expand_heads,
    l2norm,
    relu,
    rms_norm,
    sigmoid,
    silu,
    softplus,
)
from .recurrences import (
    comba,
    deltanet,
    deltaproduct,
    gated_deltanet,
    gdn2,
    gla,
    kda,
    linear_attention,
    mamba2,
    normalized_linear_attention,
    retnet,
    rwkv7,
    simple_gla,
)
from .scan import scan, written_rows

__all__ = [
    "comba",
    "deltanet",
    "deltaproduct",
    "diff_attention_v1",
    "diff_attention_v2",
    "diff_lambda",
    "elu",
    "exp",
    "expand_heads",
    "gated_deltanet",
    "gdn2",
    "gla",
    "kda",
    "l2norm",
    "linear_attention",
    "mamba2",
    "normalized_linear_attention",
    "relu",
    "retnet",
    "rms_norm",
    "rwkv7",
    "scan",
    "short_conv",
    "sigmoid",
    "silu",
    "simple_gla",
    "softmax_attention",
    "softplus",
    "written_rows",
]
