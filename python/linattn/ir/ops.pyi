from collections.abc import Callable, Sequence

from . import Context, Operation, Type, Value

def decay(state: Value, gate: Value, linear: bool = False) -> Value: ...
def read(state: Value, key: Value, scale: float | None = None) -> Value: ...
def write(state: Value, key: Value, value: Value) -> Value: ...
def delta_update(state: Value, key: Value, value: Value, rate: Value) -> Value: ...
def sigmoid(x: Value) -> Value: ...
def softplus(x: Value) -> Value: ...
def silu(x: Value) -> Value: ...
def l2norm(x: Value, eps: float = 1e-6) -> Value: ...
def yield_(values: Sequence[Value], context: Context | None = None) -> Operation: ...
def recurrence(
    tokens: Sequence[Value],
    params: Sequence[Value],
    states: Sequence[Value],
    step: Callable[..., Sequence[Value]],
    results: Sequence[Type],
    *,
    seqlens: Value | None = None,
    slots: Value | None = None,
    padding: int | None = None,
    snapshots: int | None = None,
    precision: str | None = None,
) -> list[Value]: ...
def short_conv(
    input: Value,
    weight: Value,
    *,
    bias: Value | None = None,
    window: Value | None = None,
    seqlens: Value | None = None,
    activation: str = "none",
) -> list[Value]: ...
def softmax_attention(
    query: Value,
    key: Value,
    value: Value,
    results: Sequence[Type],
    *,
    scale: float | None = None,
    causal: bool = False,
    window: int | None = None,
    seqlens: Value | None = None,
    kv_seqlens: Value | None = None,
    score: Callable[..., Value] | None = None,
) -> list[Value]: ...
def diff_attention(
    version: str,
    query: Value,
    key: Value,
    value: Value,
    lambda_: Value,
    result: Type,
    *,
    norm: Value | None = None,
    eps: float = 1e-5,
    output_scale: float | None = None,
    scale: float | None = None,
    causal: bool = False,
    window: int | None = None,
    seqlens: Value | None = None,
    kv_seqlens: Value | None = None,
    score: Callable[..., Value] | None = None,
) -> Value: ...
