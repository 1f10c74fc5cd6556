"""The builder, exchange with other packages of MLIR, several of them in a process."""

import importlib.util
import os
import subprocess
import sys

import pytest

from conftest import ROOT

pytest.importorskip("linattn._compiler", reason="the native parts are not built")

import linattn  # noqa: E402
from linattn import ir  # noqa: E402
from linattn.ir import ops  # noqa: E402
from linattn.ir.dataflow import expressions  # noqa: E402


@pytest.fixture
def context():
    return ir.Context()


def gated_deltanet(context):
    """examples/gated_deltanet.mlir, by the builder."""
    f32 = ir.f32(context)
    bf16 = ir.type("bf16", context)
    keys = ir.tensor(None, None, 16, 128, element=bf16)
    values = ir.tensor(None, None, 32, 128, element=bf16)
    numbers = ir.tensor(None, None, 32, element=f32)
    states = ir.tensor(None, 32, 128, 128, element=f32)
    module = ir.Module.create(ir.here(context))
    _, entry = ir.function(
        module, "gated_deltanet", [keys, keys, values, numbers, numbers, states],
        [values, states], [{"linattn.name": f'"{n}"'} for n in ("q", "k", "v", "g", "beta", "s0")],
    )

    def step(q, k, v, g, beta, s):
        s = ops.decay(s, g)
        s = ops.delta_update(s, k, v, beta)
        o = ops.read(s, q, scale=128**-0.5)
        return [ir.create("arith.truncf", [o], [v.type]).result, s]

    with ir.at_end(entry):
        *tokens, s0 = entry.arguments
        results = ops.recurrence(tokens, [], [s0], step, [values, states])
        ir.create("func.return", results, [])
    module.operation.verify()
    return module


def test_the_builder_makes_the_example(context):
    built = gated_deltanet(context)
    text = (ROOT / "examples" / "gated_deltanet.mlir").read_text()
    assert expressions(built) == expressions(ir.Module.parse(text, context))


def test_every_operation_of_the_dialect(context):
    f32 = ir.f32(context)
    q = ir.tensor(None, None, 4, 8, element=f32)
    lam, out = ir.tensor(2, element=f32), ir.tensor(None, None, 2, 8, element=f32)
    values = ir.tensor(None, None, 1, 8, element=f32)
    keys2 = ir.tensor(None, None, 2, 8, element=f32)
    x, w = ir.tensor(None, None, 16, element=f32), ir.tensor(16, 4, element=f32)
    bias, window = ir.tensor(16, element=f32), ir.tensor(None, 16, 3, element=f32)
    norm = ir.tensor(8, element=f32)
    inputs = [q, keys2, values, lam, norm, x, w, bias, window]
    module = ir.Module.create(ir.here(context))
    _, entry = ir.function(module, "all", inputs, [])
    with ir.at_end(entry):
        q_, k_, v_, lam_, norm_, x_, w_, bias_, window_ = entry.arguments
        ops.softmax_attention(
            q_, q_, q_, [q, ir.tensor(None, None, 4, element=f32)], causal=True, window=8,
            scale=0.5, score=lambda s, b, h, t, j: ops.silu(s),
        )
        ops.diff_attention("v1", q_, k_, v_, lam_, out, norm=norm_, output_scale=0.8)
        ops.short_conv(x_, w_, bias=bias_, window=window_, activation="silu")

        def step(a, s):
            n = ops.l2norm(a, eps=1e-5)
            s = ops.decay(s, ops.sigmoid(a), linear=True)
            s = ops.write(s, n, ops.softplus(a))
            return [ops.read(s, n, scale=0.25), s]

        s0 = ir.tensor(None, 4, 8, 8, element=f32)
        size = ir.create("tensor.dim", [q_, index(context, 0)], [ir.type("index", context)])
        empty = ir.create("tensor.empty", [size.result], [s0]).result
        ops.recurrence([q_], [], [empty], step, [q, s0],
                       precision="#linattn.precision<mma = bf16, solve = f32>")
        ir.create("func.return", [], [], context=context)
    module.operation.verify()
    again = ir.Module.parse(str(module.operation), context)
    assert expressions(again) == expressions(module)
    for name in ("softmax_attention", "diff_attention", "short_conv", "recurrence"):
        assert f"linattn.{name}" in str(module.operation)


def index(context, value):
    kind = ir.type("index", context)
    return ir.create("arith.constant", [], [kind], {"value": f"{value} : index"}).result


def test_errors_name_the_line_of_the_program(context):
    f32 = ir.f32(context)
    vector = ir.vector(8, element=f32)
    module = ir.Module.create(ir.here(context))
    _, entry = ir.function(module, "f", [vector], [])
    with ir.at_end(entry):
        line = sys._getframe().f_lineno + 1
        bad = ir.create("linattn.sigmoid", entry.arguments, [f32])
    with pytest.raises(linattn.CompileError) as caught:
        bad.verify()
    assert f"{__file__}:{line}:1: error: 'linattn.sigmoid' op" in str(caught.value)
    with pytest.raises(linattn.CompileError, match="K and V from 1 to 1024, got 0x4"):
        ir.state(0, 4, f32)
    with pytest.raises(linattn.CompileError, match="y.mlir:1:1"):
        ir.Module.parse("nonsense", context, "y.mlir")


def test_text_bytecode_and_locations(context):
    module = gated_deltanet(context)
    for form in (str(module.operation), module.to_bytecode(),
                 module.operation.to_text(generic=True),
                 module.operation.to_text(locations=True)):
        assert expressions(ir.Module.parse(form, ir.Context())) == expressions(module)
    assert __file__ in module.operation.to_text(locations=True)
    assert __file__ in str(module.body.operations[0].location)


def test_handles_after_passes(context):
    module = gated_deltanet(context)
    function = module.body.operations[0]
    module.run("builtin.module(linattn-normalize)")
    with pytest.raises(RuntimeError, match="stale"):
        function.name
    assert module.body.operations[0].name == "func.func"
    with pytest.raises(linattn.CompileError, match="no pipeline"):
        module.run("builtin.module(nothing)")


def test_types_and_attributes(context):
    f32 = ir.f32(context)
    state = ir.state(8, 4, f32)
    assert str(state) == "!linattn.state<8x4xf32>" and state.is_state
    assert (state.keys, state.values, state.element_type) == (8, 4, f32)
    assert state == ir.type("!linattn.state<8x4xf32>", context)
    assert ir.tensor(None, 3, element=f32).shape == [-1, 3]
    precision = ir.Attribute.precision("bf16", "f32", context)
    assert str(precision) == "#linattn.precision<mma = bf16, solve = f32>"
    with pytest.raises(TypeError, match="is no state"):
        f32.keys


def test_operations_that_are_never_placed(context):
    """Owners go in any order."""
    f32 = ir.f32(context)
    a = ir.Operation.create("arith.constant", ir.here(context), [], [f32],
                            {"value": ir.attribute("1.0 : f32", context)})
    b = ir.Operation.create("arith.negf", ir.here(context), [a.result], [f32])
    value = b.result
    del a, b
    assert str(value.type) == "f32"


def test_two_contexts_at_once():
    first, second = ir.Context(), ir.Context()
    a, b = gated_deltanet(first), gated_deltanet(second)
    a.run("builtin.module(linattn-chunkwise)")
    assert "linattn.chunked" in str(a.operation)
    assert "linattn.chunked" not in str(b.operation)
    del a, first
    assert "linattn.recurrence" in str(b.operation)


OTHERS = {
    "jaxlib": "from jaxlib.mlir import ir as other; other.Context()",
    "iree.compiler": "from iree.compiler import ir as other; other.Context()",
    "torch": "import torch; torch.zeros(1)",
    "triton": "import triton._C.libtriton as t; t.ir.context()",
}


def has(name):
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


@pytest.mark.parametrize("order", ["before", "after"])
@pytest.mark.parametrize("name", OTHERS)
def test_beside_another_package_of_mlir(name, order):
    """H25: both in one process, in both orders, two contexts, loaded twice."""
    if not has(name):
        pytest.skip(f"no {name}")
    ours = (
        "import sys; sys.path.insert(0, sys.argv[1]); import importlib, linattn.ir as ir\n"
        "text = open(sys.argv[2]).read()\n"
        "for _ in range(2):\n"
        "    m = ir.Module.parse(text, ir.Context())\n"
        "    m.run('builtin.module(linattn-normalize)')\n"
        "    assert m.compile('cpu').object\n"
        "importlib.reload(ir)\n"
        "assert ir.Module.parse(text, ir.Context()).operation.name == 'builtin.module'\n"
    )
    theirs = OTHERS[name] + "\n"
    program = theirs + ours if order == "before" else ours + theirs
    program += theirs + "print('alive')\n"
    done = subprocess.run(
        [sys.executable, "-c", program, str(ROOT / "python"),
         str(ROOT / "examples" / "gla.mlir")],
        capture_output=True, text=True, timeout=300, env={**os.environ, "PYTHONPATH": ""},
    )
    assert done.stdout.strip() == "alive", done.stderr


def test_exchange_with_upstream_bindings(context):
    """Our text is read by MLIR's own Python bindings, theirs by ours."""
    if not has("jaxlib"):
        pytest.skip("no package with upstream bindings")
    from jaxlib.mlir import ir as upstream

    generic = gated_deltanet(context).operation.to_text(generic=True)
    with upstream.Context() as theirs:
        theirs.allow_unregistered_dialects = True
        module = upstream.Module.parse(generic)
        back = module.operation.get_asm(print_generic_op_form=True)
    assert '"linattn.recurrence"' in back and '"linattn.delta_update"' in back
    again = ir.Module.parse(back, context)
    assert expressions(again) == expressions(gated_deltanet(context))



@pytest.mark.parametrize("name", ["_call", "_compiler"])
def test_stubs_are_up_to_date(name, tmp_path):
    pytest.importorskip("nanobind")
    path = tmp_path / f"{name}.pyi"
    subprocess.run(
        [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", f"linattn.{name}", "-o", path],
        check=True, env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
    )
    assert path.read_text() == (ROOT / "python" / "linattn" / f"{name}.pyi").read_text()
