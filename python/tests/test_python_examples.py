"""The examples in Python: they make the modules of the .mlir examples, and what they
compile to is right against the numpy oracle."""

import importlib.util

import numpy as np
import pytest

from conftest import ROOT

pytest.importorskip("linattn._compiler", reason="the native parts are not built")

from linattn import ir, native  # noqa: E402
from linattn.checking import errors  # noqa: E402
from linattn.ir.dataflow import expressions  # noqa: E402
from linattn.sampling import inputs  # noqa: E402

pytest.importorskip("ml_dtypes")
FILES = sorted(ROOT.glob("examples/*.py"))


def load(path):
    spec = importlib.util.spec_from_file_location(f"example_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MODULES = {path.stem: load(path) for path in FILES}
RECURRENCES = {
    name: (op, module.main, module)
    for module in MODULES.values()
    for name, op in getattr(module, "OPS", {}).items()
    if not isinstance(op, tuple)
}
FUNCTIONS = {
    name: row
    for module in MODULES.values()
    for name, row in getattr(module, "OPS", {}).items()
    if isinstance(row, tuple)
}


def oracle_of(module):
    from linattn import reference

    if hasattr(module, "oracle"):
        return module.oracle
    return getattr(reference, module.__name__.removeprefix("example_"))


def canonical(text):
    module = native.parse(text)
    module.run("builtin.module(canonicalize,cse)")
    return expressions(module)


def test_every_mlir_example_has_one_in_python():
    theirs = {path.stem for path in ROOT.glob("examples/*.mlir")}
    assert theirs <= RECURRENCES.keys() | FUNCTIONS.keys()


@pytest.mark.parametrize("name", RECURRENCES)
def test_makes_the_module_of_the_mlir_example(name):
    ours = canonical(RECURRENCES[name][0].module().text)
    assert ours == canonical((ROOT / "examples" / f"{name}.mlir").read_text())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_makes_the_module_of_the_mlir_example(name):
    op, _, arrays = FUNCTIONS[name]
    ours = canonical(op.module(*arrays(1, 1)).text)
    assert ours == canonical((ROOT / "examples" / f"{name}.mlir").read_text())


def sequences(op, B, T):
    calls = {}
    if op.packed:
        calls["cu_seqlens"] = np.array([0, 0, T - 2], np.int32)[: B + 1]
    if op.slots:
        calls["slots"] = np.array([1, -1], np.int32)[:B]
    return calls


@pytest.mark.parametrize("gates", ["usual", "mixed", "extreme"])
@pytest.mark.parametrize("name", RECURRENCES)
def test_recurrence_is_right(name, gates):
    op, _, module = RECURRENCES[name]
    given, states = inputs(op, B=2, T=9, gates=gates, seed=3)
    with np.errstate(all="ignore"):
        rows = errors(op, oracle_of(module), given, states, **sequences(op, 2, 9))
    assert all(error <= limit for error, limit in rows), rows


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_is_right(name):
    op, oracle, arrays = FUNCTIONS[name]
    rows = errors(op, oracle, dict(enumerate(arrays(2, 140))))
    assert all(error <= limit for error, limit in rows), rows


def test_a_gated_deltanet_layer(reference_module):
    theirs = reference_module("gated_deltanet").GatedDeltaNet(24, 64, 4)
    layer = MODULES["gated_deltanet_layer"].GatedDeltaNet(
        {n: v for n, v in vars(theirs).items() if isinstance(v, np.ndarray)}, 4
    )
    x = np.random.default_rng(5).standard_normal((2, 33, 24))
    expected, state = theirs.forward(x)
    actual, found = layer(x.astype(np.float32))
    assert np.abs(actual - expected).max() < 1e-4
    assert np.abs(found - state).max() < 1e-4


@pytest.mark.parametrize("form, causal", [("published", True), ("mean", False)])
def test_a_differential_attention_layer(reference_module, form, causal):
    theirs = reference_module("differential_attention").DifferentialAttention(
        32, 2, causal=causal, lambda_form=form
    )
    layer = MODULES["differential_attention_layer"].DifferentialAttention(
        {n: v for n, v in vars(theirs).items() if isinstance(v, np.ndarray)}, 2,
        causal=causal, lambda_init=theirs.lambda_init, lambda_form=form,
    )
    x = np.random.default_rng(5).standard_normal((2, 33, 32))
    error = np.abs(layer(x.astype(np.float32)) - theirs.forward(x)).max()
    assert error < 1e-4
    with pytest.raises(ValueError, match="dropout"):
        MODULES["differential_attention_layer"].DifferentialAttention({}, 2, dropout=0.1)


def test_modules_from_the_builder_are_the_same():
    """The same recurrence by tracing and by linattn.ir."""
    assert ir.Context() is not None
