"""Examples at other sizes, and the cases that sweep them."""

import importlib.util
import re
from importlib.machinery import SourceFileLoader
from itertools import combinations, product

import pytest

from conftest import ROOT
from covering import covering
from linattn.resize import resize

EXAMPLES = [
    path for path in sorted(ROOT.glob("examples/*.mlir"))
    if "linattn.recurrence" in path.read_text()
]


def sizes_of(text):
    """Static sizes of all types."""
    found = re.findall(r"<((?:[\d?]+x)+)(?:b?f\d+|i\d+)>", text)
    return {int(d) for dims in found for d in dims[:-1].split("x") if d != "?"}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_every_width_is_a_new_one(path):
    text = path.read_text()
    kept = {1} if "x1xf32" in text else set()
    kept |= {2} if path.stem == "deltaproduct" else set()
    resized = resize(text, K=61, V=97, heads=6, key_heads=3, dtype="f32")
    assert sizes_of(resized) <= {61, 97, 6, 3} | kept
    assert {61, 97, 6} <= sizes_of(resized)
    assert "bf16" not in resized


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_its_own_sizes_change_nothing(path):
    text = path.read_text()
    same = resize(text)
    types = lambda t: sorted(re.findall(r"<[^<>]*x(?:bf16|f32)>", t))
    assert set(types(same)) == set(types(text))


def test_a_batch_is_packed():
    text = resize((ROOT / "examples" / "gla.mlir").read_text(), packed=True)
    assert "%q: tensor<?x8x64xbf16>" in text
    assert "seqlens(%cu : tensor<?xi32>)" in text
    assert "%s0: tensor<?x8x64x128xf32>" in text


def test_covering_holds_every_pair():
    axes = {"a": tuple(range(5)), "b": tuple(range(4)), "c": (0, 1, 2), "d": (0, 1)}
    cases = covering(axes, seed=3)
    for a, b in combinations(axes, 2):
        assert {(c[a], c[b]) for c in cases} == set(product(axes[a], axes[b]))
    assert len(cases) < 2 * 5 * 4
    assert cases == covering(axes, seed=3)
    few = covering(axes, seed=3, wanted=lambda c: c["a"] != c["b"])
    assert all(c["a"] != c["b"] for c in few)


def test_the_sweep_holds_every_pair_that_may_be():
    """Also those of examples that are packed already, which go with one length."""
    path = str(ROOT / "utils" / "sweep")
    spec = importlib.util.spec_from_loader("sweep", SourceFileLoader("sweep", path))
    sweep = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sweep)
    examples = sweep.recurrences()
    axes, may = sweep.axes(examples), sweep.possible(examples)
    cases = covering(axes, 1, may)
    assert all(map(may, cases))
    plain = {"example": "gated_deltanet", "tokens": "packed"}
    for a, b in combinations(axes, 2):
        wanted = {
            (x, y) for x, y in product(axes[a], axes[b]) if may({**plain, a: x, b: y})
        }
        assert {(c[a], c[b]) for c in cases} == wanted, (a, b)
