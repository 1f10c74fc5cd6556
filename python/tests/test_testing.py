"""The comparison itself: it must see what is wrong, and only that."""

import numpy as np
import pytest

from covering import cross, pairs, pairwise
from linattn import testing
from linattn.testing import Sequences, compare, relative_rms


def test_relative_rms():
    expected = np.array([3.0, -4.0])
    assert relative_rms(expected, expected) == 0.0
    assert relative_rms([3.0, -4.5], expected) == pytest.approx(0.1)
    assert relative_rms([3e-300, -4.5e-300], expected * 1e-300) == pytest.approx(0.1)
    assert relative_rms([], np.zeros(0)) == 0.0


def test_relative_rms_of_zero_inf_and_nan():
    assert relative_rms([0.0, 0.0], [0.0, 0.0]) == 0.0
    assert relative_rms([0.0, 1e-30], [0.0, 0.0]) == np.inf
    special = np.array([1.0, np.inf, -np.inf, np.nan])
    assert relative_rms(special, special) == 0.0
    assert relative_rms(special[[0, 2, 1, 3]], special) == np.inf
    assert relative_rms([np.nan, 1.0], [2.0, 1.0]) == np.inf


def test_compare_names_the_worst_head():
    expected = np.ones((2, 5, 3, 4))
    actual = expected.copy()
    actual[1, 2, 0, 3] += 1e-3
    error = compare("o", actual, expected)
    assert error.where == "sequence 1, head 0"
    assert error.worst == pytest.approx(1e-3 / np.sqrt(20))
    assert error.whole == pytest.approx(1e-3 / np.sqrt(120))
    assert not error.ok(1e-12) and error.ok(1e-3)
    with pytest.raises(ValueError, match="shape"):
        compare("o", actual[:1], expected)


def test_compare_skips_what_is_not_written():
    sequences = Sequences((0, 2, 2, 4), slots=(1, 0, -1))
    expected = np.ones((6, 3, 4))
    actual = expected.copy()
    actual[2:] = 7.0  # a padded sequence, and rows beyond the end
    assert compare("o", actual, expected, sequences).ok(0.0)
    actual[1, 2] = 0.0
    assert compare("o", actual, expected, sequences).where == "sequence 0, head 2"
    # A pool must keep the rows that no sequence owns.
    pool = np.ones((4, 3, 2, 2))
    changed = pool.copy()
    changed[3, 0] = 2.0
    assert compare("sT", changed, pool, sequences).where == "row 3, head 0"


def test_compare_packed_snapshots():
    # Periods of 3 tokens: sequence 0 in rows 0, 1, sequence 1 from row 5 // 3 + 1.
    sequences = Sequences((0, 5, 7), period=3)
    expected = np.arange(1.0, 9.0).reshape(4, 2, 1, 1)
    actual = expected.copy()
    actual[3] = 0.0
    assert compare("snap", actual, expected, sequences).ok(0.0)
    actual[2, 1] = 0.0
    assert compare("snap", actual, expected, sequences).where == "sequence 1, head 1"


EXAMPLE = """\
// Linear attention, read twice.
// reference: linear_attention(q, k, 2 * v,
//                             s0, scale=1.0)
//   -> o, sT
func.func @f(%q: tensor<?x?x2x4xf32>) {
  return
}

// No reference here.
func.func public @g() {
  return
}
func.func private @h()
"""


def test_reading_the_reference(tmp_path):
    path = tmp_path / "example.mlir"
    path.write_text(EXAMPLE)
    f, g = testing.functions(path)
    assert (f.name, g.name) == ("f", "g")
    assert f.outputs == ("o", "sT") and g.expression is None
    assert "return" in f.text and "@g" not in f.text
    q, k, v = (np.random.default_rng(i).standard_normal((1, 3, 2, 4)) for i in range(3))
    s0 = np.ones((1, 2, 4, 4))
    o, s = f.evaluate({"q": q, "k": k, "v": v, "s0": s0})
    np.testing.assert_allclose(s, s0 + np.einsum("bthk,bthv->bhkv", k, 2 * v))


def test_command_line(tmp_path, capsys):
    path = tmp_path / "example.mlir"
    path.write_text(EXAMPLE)
    (f, _) = testing.functions(path)
    rng = np.random.default_rng(0)
    inputs = {n: rng.standard_normal((1, 3, 2, 4)) for n in "qkv"}
    inputs["s0"] = np.zeros((1, 2, 4, 4))
    outputs = f.evaluate(inputs)
    for name, array in inputs.items():
        np.save(tmp_path / f"in_{name}.npy", array)
    for i, array in enumerate(outputs):
        np.save(tmp_path / f"out_{i}.npy", array)
    assert testing.main([str(path), str(tmp_path)]) == 0
    np.save(tmp_path / "out_1.npy", outputs[1] * (1 + 1e-6))
    assert testing.main([str(path), str(tmp_path)]) == 1
    assert "sT: 1.00e-06" in capsys.readouterr().out


def test_pairwise_covers_every_pair():
    axes = {"a": [0, 1, 2], "b": "xyz", "c": [True, False], "d": [0, 1]}
    few, all_cases = pairwise(axes), cross(axes)
    assert len(all_cases) == 36 and len(few) <= 12
    assert set().union(*map(pairs, few)) == set().union(*map(pairs, all_cases))
    assert all(c["a"] != 0 for c in pairwise(axes, lambda c: c["a"] != 0))
