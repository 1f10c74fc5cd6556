"""What is refused, with its message and the line of the user's program."""

import re

import numpy as np
import pytest

pytest.importorskip("linattn._compiler", reason="the native parts are not built")

import linattn  # noqa: E402
from linattn import Token  # noqa: E402

B, T, H, K, V = 2, 5, 4, 8, 6
rng = np.random.default_rng(0)


def f32(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def arrays(**changed):
    found = dict(
        q=f32(B, T, H, K), k=f32(B, T, H, K), v=f32(B, T, H, V), g=-abs(f32(B, T, H)),
        beta=f32(B, T, H),
    )
    found.update(changed)
    return found


@linattn.recurrence
def delta(S, q, k, v, g, beta):
    S = S.decay(g)
    S = S.write(k, beta * (v - S.read(k)))  # the step
    return S, S.read(q)


def trace(function, **options):
    """Traces with q, k over K, v over V, g and b numbers; parameters by name."""
    options = {"K": K, "V": V, "heads": H, **options}
    return linattn.compile(linattn.recurrence(function), **options).module()


# Each row: what is wrong, what the message says; `# here` marks the line it names.
def key_over_v():
    def f(S, q, k, v: Token["V"]):
        return S.write(v, v), S.read(q)  # here
    trace(f, V=6)


def value_over_k():
    def f(S, q: Token["K"], v):
        S = S.write(q, q)  # here
        return S, S.read(q)
    trace(f)


def gate_over_v():
    def f(S, q, g: Token["V"]):
        return S.decay(g), S.read(q)  # here
    trace(f)


def rate_over_k():
    def f(S, q: Token["K"], v, b: Token["K"]):
        S = S.delta_update(q, v, b)  # here
        return S, S.read(q)
    trace(f)


def sum_of_k_and_v():
    def f(S, q: Token["K"], v: Token["V"]):
        return S, q + v  # here
    trace(f)


def state_in_arithmetic():
    def f(S, q):
        return S * 2.0, S.read(q)  # here
    trace(f)


def truth_of_a_value():
    def f(S, q, g: Token()):
        if g > 0:  # here
            S = S.decay(g)
        return S, S.read(q)
    trace(f)


def state_not_returned():
    def f(S, q):  # here
        return S.read(q)
    trace(f)


def state_returned_twice():
    def f(S, q):  # here
        return S, S, S.read(q)
    trace(f)


def returns_text():
    def f(S, q):  # here
        return S, "o"
    trace(f)


def scale_is_no_number():
    def f(S, q):
        return S, S.read(q, scale="1/8")  # here
    trace(f)


def unknown_method():
    def f(S, q):
        return S.scale(0.5), S.read(q)  # here
    trace(f)


def unknown_exponent():
    def f(S, q: Token["K"]):
        return S, S.read(q**3)  # here
    trace(f)


def index_outside():
    def f(S, q: Token["K"]):
        return S, q[8]  # here
    trace(f)


def ambiguous_product():
    def f(S, q, a, b):
        u = a * b  # here
        return S.write(q, u), S.read(q)
    trace(f)


def numpy_function():
    def f(S, q: Token["K"]):
        return S, S.read(np.tanh(q))  # here
    trace(f)


def negative_eps():
    def f(S, q):
        return S, S.read(linattn.l2norm(q, eps=-1.0))  # here
    trace(f)


def function_outside_a_step():
    linattn.exp(1.0)  # here


def default_value():
    def f(S, q, scale=1.0):  # here
        return S, S.read(q)
    trace(f)


def no_state():
    def f(S: Token["K"], q: Token["K"]):  # here
        return q
    trace(f)


def misspelt_sample():
    @linattn.recurrence(samples={"gate": "log_gate"})  # here
    def f(S, q, g):
        return S.decay(g), S.read(q)


def unknown_kind():
    linattn.compile(delta, K=K, V=V, heads=H, kinds={"g": "W"}).module()  # here


def unknown_dtype():
    linattn.compile(delta, dtype="int8")  # here


def unknown_target():
    linattn.compile(delta, target="tpu")  # here


def unknown_gpu():
    linattn.compile(delta, K=8, V=8, heads=1, target="sm_10").export("/tmp/never")  # here


def unknown_lowering():
    linattn.compile(delta, lowering="fast")  # here


def chunk_of_48():
    linattn.compile(delta, chunk=48)  # here


def k_too_large():
    linattn.compile(delta, K=2048)  # here


def no_heads():
    linattn.compile(delta, K=8, V=8).show()  # here


def unknown_level():
    linattn.compile(delta, K=8, V=8, heads=1).show("assembly")  # here


def unknown_pass():
    linattn.compile(delta, K=8, V=8, heads=1).show("builtin.module(nothing)")  # here


def not_a_chunk_form():
    @linattn.recurrence
    def f(S, q: Token["K"], v):
        r = S.read(q)
        S = S.write(q, r * r)  # here
        return S, r
    linattn.compile(f, K=K, V=V, heads=H).show("chunk")


def missing_argument():
    op = linattn.compile(delta)
    a = arrays()
    op(a["q"], a["k"], a["v"], a["g"])  # here


def too_many_arguments():
    op, a = linattn.compile(delta), arrays()
    op(*a.values(), a["q"])  # here


def unknown_argument():
    op, a = linattn.compile(delta), arrays()
    op(**a, mask=a["q"])  # here


def argument_twice():
    op, a = linattn.compile(delta), arrays()
    op(a["q"], **a)  # here


def a_list():
    op, a = linattn.compile(delta), arrays(q=[1.0])
    op(*a.values())  # here


def integers():
    op, a = linattn.compile(delta), arrays(q=np.ones((B, T, H, K), np.int64))
    op(*a.values())  # here


def wrong_rank():
    op, a = linattn.compile(delta), arrays(q=f32(B, T, H, 2, 2, K))
    op(*a.values())  # here


def wrong_key_size():
    op, a = linattn.compile(delta, K=16), arrays()
    op(*a.values())  # here


def wrong_dtype():
    op, a = linattn.compile(delta, dtype="f64"), arrays()
    op(*a.values())  # here


def heads_do_not_divide():
    op, a = linattn.compile(delta), arrays(q=f32(B, T, 3, K))
    op(*a.values())  # here


def other_T():
    op, a = linattn.compile(delta), arrays(g=f32(B, T + 1, H))
    op(*a.values())  # here


def strided_vectors():
    op, a = linattn.compile(delta), arrays(q=f32(B, T, H, 2 * K)[..., ::2])
    op(*a.values())  # here


def state_of_other_heads():
    op, a = linattn.compile(delta), arrays()
    op(*a.values(), initial_state=f32(B, 1, K, V))  # here


def state_of_other_batch():
    op, a = linattn.compile(delta), arrays()
    op(*a.values(), initial_state=f32(B + 1, H, K, V))  # here


def state_transposed():
    op, a = linattn.compile(delta), arrays()
    op(*a.values(), initial_state=f32(B, H, V, K))  # here


def packed():
    return {n: a[0] for n, a in arrays().items()}


def offsets_decrease():
    op = linattn.compile(delta)
    op(*packed().values(), cu_seqlens=np.array([0, 4, 3], np.int32))  # here


def offsets_beyond():
    op = linattn.compile(delta)
    op(*packed().values(), cu_seqlens=np.array([0, T + 1], np.int32))  # here


def float_offsets():
    op = linattn.compile(delta)
    op(*packed().values(), cu_seqlens=np.array([0.0, T]))  # here


def slot_outside():
    op, a = linattn.compile(delta), arrays()
    op(*a.values(), initial_state=f32(3, H, K, V), slots=np.array([0, 3], np.int32))  # here


def slot_twice():
    op, a = linattn.compile(delta), arrays()
    op(*a.values(), initial_state=f32(3, H, K, V), slots=np.array([1, 1], np.int32))  # here


def slots_without_pool():
    op, a = linattn.compile(delta), arrays()
    op(*a.values(), slots=np.array([0, 1], np.int32))  # here


def read_only_pool():
    op, a, pool = linattn.compile(delta), arrays(), f32(3, H, K, V)
    pool.flags.writeable = False
    op(*a.values(), initial_state=pool, slots=np.array([0, 1], np.int32))  # here


def big_endian():
    op, a = linattn.compile(delta), arrays(v=f32(B, T, H, V).astype(">f4"))
    op(*a.values())  # here


def big_endian_bfloat16():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    op = linattn.compile(delta)
    half = {n: f32(B, T, H, K).astype(ml_dtypes.bfloat16) for n in "qkv"}
    op(*arrays(**half).values())
    half["v"] = half["v"].astype(half["v"].dtype.newbyteorder(">"))
    op(*arrays(**half).values())  # here


def big_endian_offsets():
    op = linattn.compile(delta)
    op(*packed().values(), cu_seqlens=np.array([0, T], ">i4"))  # here


def a_structure():
    op, a = linattn.compile(delta), arrays(q=np.zeros((B, T, H, K), [("x", "f4")]))
    op(*a.values())  # here


def booleans():
    op, a = linattn.compile(delta), arrays(q=np.ones((B, T, H, K), bool))
    op(*a.values())  # here


def complex_numbers():
    op, a = linattn.compile(delta), arrays(q=np.ones((B, T, H, K), np.complex64))
    op(*a.values())  # here


def objects():
    op, a = linattn.compile(delta), arrays(q=np.ones((B, T, H, K), object))
    op(*a.values())  # here


def dates():
    op, a = linattn.compile(delta), arrays()
    op(*a.values())
    a["q"] = np.zeros((B, T, H, K), "M8[s]")
    op(*a.values())  # here


def nothing():
    op, a = linattn.compile(delta), arrays(q=None)
    op(*a.values())  # here


def all_of_rank_0():
    linattn.compile(delta)(*[np.float32(1)] * 5)  # here


def other_heads():
    op, a = linattn.compile(delta, heads=2), arrays()
    op(*a.values())  # here


def other_heads_of_one():
    op, a = linattn.compile(delta, heads={"q": 2}), arrays()
    op(*a.values())  # here


def other_dtype_of_one():
    op, a = linattn.compile(delta, dtypes={"g": "f64"}), arrays()
    op(*a.values())  # here


def heads_of_zero():
    linattn.compile(delta, heads=0)  # here


def heads_below_zero():
    linattn.compile(delta, heads=-1)  # here


def heads_and_a_half():
    linattn.compile(delta, heads=1.5)  # here


def heads_in_text():
    linattn.compile(delta, heads="4")  # here


def heads_beyond_64_bits():
    linattn.compile(delta, heads={"q": 1 << 70})  # here


def misspelt_kind():
    linattn.compile(delta, kinds={"betta": "V"})  # here


def kinds_are_a_number():
    linattn.compile(delta, kinds=3)  # here


def kinds_of_a_step_are_a_number():
    @linattn.recurrence(kinds=3)  # here
    def f(S, q):
        return S, S.read(q)


def snapshots_of_zero():
    linattn.compile(delta, snapshots=0)  # here


def plan_is_a_number():
    linattn.compile(delta, plan=3)  # here


def sizes_in_text():
    linattn.compile(delta, sizes="T=5")  # here


def sizes_of_heads():
    linattn.compile(delta, sizes={"H": 5})  # here


def size_of_zero():
    linattn.compile(delta, sizes={"T": 0})  # here


def plan_for_another_chip():
    op = linattn.compile(delta, K=16, V=16, heads=1, target="sm_86", plan="chip=sm_90a")
    op.export("/tmp/never")  # here


def plan_out_of_range():
    op = linattn.compile(delta, K=16, V=16, heads=1, target="sm_90a", plan="split=2")
    op.export("/tmp/never")  # here


def level_is_a_number():
    linattn.compile(delta, K=8, V=8, heads=1).show(3)  # here


def export_to_nowhere():
    linattn.compile(delta, K=8, V=8, heads=1).export("/proc/x")  # here


def export_to_a_number():
    linattn.compile(delta, K=8, V=8, heads=1).export(3)  # here


def keyword_as_parameter():
    @linattn.recurrence  # here
    def f(S, q, initial_state):
        return S.write(q, initial_state), S.read(q)


def stream_as_parameter():
    @linattn.recurrence  # here
    def f(S, q, stream):
        return S.write(q, stream), S.read(q)


def packed_with_a_batch():
    op, a = linattn.compile(delta), arrays()
    op(*a.values(), cu_seqlens=np.array([0, T], np.int32))  # here


def stale_handle():
    from linattn import native

    module = native.parse(linattn.compile(delta, K=8, V=8, heads=1).module().text)
    before = module.operation
    module.run("builtin.module(linattn-normalize)")
    str(before)  # here


def attention_widths():
    op = linattn.softmax_attention()
    op(f32(B, T, H, 8), f32(B, T, H, 6), f32(B, T, H, 8))  # here


def attention_window():
    linattn.softmax_attention(window=0)  # here


WRONG = {
    key_over_v: "write: the key is a vector over K = 8, got 'v', a vector of 6",
    value_over_k: "write: the value is a vector over V = 6, got 'q', a vector of 8",
    gate_over_v: "decay: the gate is a vector over K = 8, got 'g', a vector of 6",
    rate_over_k: "delta_update: the rate is a vector over V = 6, got 'b', a vector of 8",
    sum_of_k_and_v: "+: 'q', a vector of 8 and 'v', a vector of 6 do not go together",
    state_in_arithmetic: "state 'S' takes part in read, write and decay only",
    truth_of_a_value: "linattn.where(condition, a, b) chooses",
    state_not_returned: "does not return state 'S'",
    state_returned_twice: "returns state 'S' twice",
    returns_text: "returns states, numbers and vectors of the step, got str",
    scale_is_no_number: "read: the scale is a finite number, got '1/8'",
    unknown_method: "'State' object has no attribute 'scale'",
    unknown_exponent: "**: the exponent is 2, 0.5 or -0.5, got 3",
    index_outside: "index 8 of 'q', a vector of 8",
    ambiguous_product: "cannot tell from their use whether 'a' and 'b' are numbers or",
    numpy_function: "loop of ufunc does not support argument 0 of type Traced",
    negative_eps: "l2norm: eps is a number >= 0, got -1.0",
    function_outside_a_step: "this works inside a @linattn.recurrence only",
    default_value: "parameter 'scale' has a default",
    no_state: "has no state: the first parameter, or State",
    misspelt_sample: "samples names 'gate', which is none of S, q, g",
    unknown_kind: "a shape is made of 'K', 'V' and positive numbers, got 'W'",
    unknown_dtype: "dtype is one of bf16, f16, f32, f64, got 'int8'",
    unknown_target: "target is 'auto', 'cpu' or a GPU such as 'sm_90a', got 'tpu'",
    unknown_gpu: "target 'sm_10' is none of sm_80",
    unknown_lowering: "lowering is 'auto', 'chunkwise' or 'serial', got 'fast'",
    chunk_of_48: "chunk is 16, 32, 64 or 128, got 48",
    k_too_large: "K is from 1 to 1024, got 2048",
    no_heads: "without arrays, heads= says how many heads there are",
    unknown_level: "level 'assembly' is none of recurrence, normal, chunk",
    unknown_pass: "'nothing' does not refer to a registered pass",
    not_a_chunk_form: "normal_form_c6",
    missing_argument: "delta: needs argument 'beta'",
    too_many_arguments: "delta: takes 5 arrays, got 6",
    unknown_argument: "delta: has no argument 'mask'; it has q, k, v, g, beta,",
    argument_twice: "delta: got argument 'q' twice",
    a_list: "delta: argument 'q' is an array, got list",
    integers: "delta: argument 'q' is bf16, f16, f32 or f64, got i64",
    wrong_rank: "delta: argument 'q' is [B, T, H, ..], got [2, 5, 4, 2, 2, 8]",
    wrong_key_size: "is a vector over K = 16, got 'k', a vector of 8",
    wrong_dtype: "delta: argument 'q' is f64, as compiled, got f32",
    heads_do_not_divide: "3 heads of 'q' do not divide the largest head count 4",
    other_T: "argument 'g' of shape [2, 6, 4] does not go with 'q' of shape [2, 5, 4, 8]",
    strided_vectors: "argument 'q' has contiguous vectors (stride 1 in its last dimension)",
    state_of_other_heads: "initial state 'S' is [N, 4, K, V], got [2, 1, 8, 6]",
    state_of_other_batch: "argument 'initial_state' of shape [3, 4, 8, 6] does not go with 'q'",
    state_transposed: "read: the key is a vector over K = 6, got 'k', a vector of 8",
    offsets_decrease: "argument 'cu_seqlens' has offsets that do not decrease, got 4 before 3",
    offsets_beyond: "argument 'cu_seqlens' ends at most at the number of tokens 5, got 6",
    float_offsets: "cu_seqlens is a vector of int32 or int64, got f64 [2]",
    slot_outside: "argument 'slots' names rows of a pool of 3 or is -1, got 3 at 1",
    slot_twice: "argument 'slots' names each row once, got 1 twice",
    slots_without_pool: "slots name rows of initial_state, which is not given",
    read_only_pool: "argument 'initial_state' is updated in place, got a read-only array",
    big_endian: "delta: argument 'v' is in this machine's byte order, got big-endian f32: "
    "x.astype(x.dtype.newbyteorder('=')) is",
    big_endian_bfloat16: "delta: argument 'v' is in this machine's byte order, got big-endian bf16",
    big_endian_offsets: "argument 'cu_seqlens' is in this machine's byte order, got big-endian i32",
    a_structure: "delta: argument 'q' is bf16, f16, f32 or f64, got a structure",
    booleans: "delta: argument 'q' is bf16, f16, f32 or f64, got bool",
    complex_numbers: "delta: argument 'q' is bf16, f16, f32 or f64, got complex64",
    objects: "delta: argument 'q' is bf16, f16, f32 or f64, got object",
    dates: "argument 'q': elements are bf16, f16, f32, f64, i32 or i64, got datetime64[s]",
    nothing: "delta: argument 'q' is an array, got NoneType",
    all_of_rank_0: "delta: no argument has the rank of tokens, [B, T, H, ..]",
    other_heads: "delta: argument 'q' has 2 heads, as compiled, got 4",
    other_heads_of_one: "delta: argument 'q' has 2 heads, as compiled, got 4",
    other_dtype_of_one: "delta: argument 'g' is f64, as compiled, got f32",
    heads_of_zero: "heads is a number from 1 to 65535, got 0",
    heads_below_zero: "heads is a number from 1 to 65535, got -1",
    heads_and_a_half: "heads is a number from 1 to 65535, got 1.5",
    heads_in_text: "heads is a number from 1 to 65535, got '4'",
    heads_beyond_64_bits: "heads of 'q' is a number from 1 to 65535, got 1180591620717411303424",
    misspelt_kind: "delta: kinds names 'betta', which is none of the arguments q, k, v, g, beta",
    kinds_are_a_number: "kinds is a dictionary by argument, got 3",
    kinds_of_a_step_are_a_number: "kinds is a dictionary by parameter, got 3",
    snapshots_of_zero: "snapshots is a positive number of tokens, got 0",
    plan_is_a_number: "plan is text, got 3",
    sizes_in_text: "sizes is a dictionary such as {'B': 1, 'T': 8192}, got 'T=5'",
    sizes_of_heads: "sizes names B or N (sequences) or T (tokens of each), got 'H'",
    size_of_zero: "size T is a number from 1 to 2147483647, got 0",
    plan_for_another_chip: "plan: 'chip' is none of slice, column-parts, split, stages",
    plan_out_of_range: "plan: split is -1 (chosen), 0 or 1, got '2'",
    level_is_a_number: "show: the level is text such as 'chunk', got 3",
    export_to_nowhere: "export: cannot write to '/proc/x': No such file or directory",
    export_to_a_number: "export: the folder is text or a path, got 3",
    keyword_as_parameter: "parameter 'initial_state' has the name of a call's keyword",
    stream_as_parameter: "parameter 'stream' has the name of a call's keyword",
    packed_with_a_batch: "with cu_seqlens tokens are packed, [T, H, ..] without a batch: "
    "argument 'q' is [2, 5, 4, 8]",
    stale_handle: "this handle is stale: passes ran on its module",
    attention_widths: "argument 'k' has vectors of 8 as 'q', got 6",
    attention_window: "window is a positive number of tokens, got 0",
}


# Wrong for the step: its line is named, not the call's.
IN_THE_STEP = (wrong_key_size, state_transposed, packed_with_a_batch)


@pytest.mark.parametrize("wrong", WRONG, ids=lambda f: f.__name__)
def test_is_refused_with_its_line(wrong):
    with pytest.raises(linattn.Error) as caught:
        wrong()
    message = str(caught.value)
    assert WRONG[wrong] in message
    # The line that is marked: named by the message.
    lines = open(__file__).read().splitlines()
    first = wrong.__code__.co_firstlineno
    mark = "# here"
    if wrong in IN_THE_STEP:
        first, mark = delta.__wrapped__.__code__.co_firstlineno, "# the step"
    here = next(i for i in range(first, first + 20) if lines[i - 1].endswith(mark))
    assert re.search(rf"{re.escape(__file__)}:{here}\b", message), message


def test_errors_are_python_s_own_too():
    with pytest.raises(ValueError):
        wrong_rank()
    with pytest.raises(TypeError):
        a_list()
    with pytest.raises(RuntimeError):
        not_a_chunk_form()


def test_the_runtime_s_errors_are_ours(monkeypatch):
    from linattn.runtime import LinattnError

    assert issubclass(LinattnError, linattn.Error) and issubclass(LinattnError, RuntimeError)
    monkeypatch.setenv("LINATTN_LIBCUDA", "/nonexistent/libcuda.so")
    op, a = linattn.compile(delta, target="sm_90a"), arrays()
    try:
        op(*a.values())
    except linattn.Error as error:
        assert f"{__file__}:" in str(error)
    else:
        raise AssertionError("ran without a driver")
