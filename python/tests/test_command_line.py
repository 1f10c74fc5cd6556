"""python -m linattn."""

import json
import os
import subprocess
import sys

import pytest

from conftest import ROOT

pytest.importorskip("linattn._compiler", reason="the native parts are not built")
pytest.importorskip("ml_dtypes")


def call(*arguments, code=0):
    done = subprocess.run(
        [sys.executable, "-m", "linattn", *map(str, arguments)], capture_output=True,
        text=True, timeout=300, cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
    )
    assert done.returncode == code, done.stderr
    return done.stdout if code == 0 else done.stderr


def test_run_checks_and_saves(tmp_path):
    import numpy as np

    out = call("run", "examples/gla.py", "--T", 20, "--save", tmp_path / "x.npz")
    assert out.count("  ok") == 2 and "gla: 2 sequences of 20 tokens, serial" in out
    with np.load(tmp_path / "x.npz") as saved:
        assert saved["in_q"].shape == (2, 20, 8, 64) and saved["out_0"].shape == (2, 20, 8, 128)
    assert "chunkwise" in call(
        "run", "examples/retnet.py", "--T", 20, "--lowering", "chunkwise", "--chunk", 16
    )
    call("run", "examples/gated_deltanet.py:gated_deltanet_packed", "--T", 10)


def test_a_recurrence_without_an_op(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(
        "import linattn\n@linattn.recurrence\ndef mine(S, q, k, v, g):\n"
        "    S = S.decay(g).write(k, v)\n    return S, S.read(q)\n"
    )
    out = call("run", path, "--K", 8, "--V", 4, "--heads", "q=1,k=1,v=2", "--T", 9,
               "--kinds", "g=K,v=V", "--dtype", "f32")
    assert "2x9x2x4" in out and "WRONG" not in out


def test_compile_writes_files(tmp_path):
    out = call("compile", "examples/retnet.py", "-o", tmp_path)
    assert "retnet.o" in out and (tmp_path / "retnet.h").exists()


def test_explain(tmp_path):
    out = call("explain", "examples/kda.py", "--target", "sm_90a", "--no-compile", "--B", 1,
               "--T", 1024)
    # g is f32 over K, beta a number per token and head.
    assert "g         token                 128   f32" in out
    assert "beta      token              number   f32" in out
    tokens = 1024 * 16
    assert f"{tokens * (128 * (3 * 2 + 4) + 4) / 1e6:.3g} MB" in out
    assert "bounds on H200 SXM" in out and "memory" in out
    assert "no peaks are known for sm_86" in call(
        "explain", "examples/kda.py", "--target", "sm_86", "--no-compile"
    )
    assert "serial" in call("explain", "examples/retnet.py", "--text", "--T", 64)


def test_bench_draws_and_writes(tmp_path):
    pytest.importorskip("matplotlib")
    out = call("bench", "examples/retnet.py", "--lengths", "16,64", "--budget", "0.05",
               "--png", tmp_path / "x.png", "--json", tmp_path / "x.json")
    assert "tokens/s" in out
    about = json.loads((tmp_path / "x.json").read_text())
    assert [r["T"] for r in about["rows"]] == [16, 64]
    assert all(r["seconds"] > 0 and r["bytes"] > 0 for r in about["rows"])
    assert max(about["errors"]) < 5e-3
    assert (tmp_path / "x.png").read_bytes()[:4] == b"\x89PNG"


def test_wrong_usage():
    assert "no file 'nothing.py'" in call("run", "nothing.py", code=2)
    assert "has no recurrence 'x'; it has gla" in call("run", "examples/gla.py:x", code=2)
    call("run", "examples/gla.py", "--chunk", "48", code=2)
    assert "argument --T: is at least 0, got -3" in call(
        "run", "examples/retnet.py", "--T", "-3", code=2
    )
    assert "--lengths: is at least 0, got -1" in call(
        "bench", "examples/retnet.py", "--lengths", "8,-1", code=2
    )
    error = call("run", "examples/retnet.py", "--T", 1, "--save", "/proc/x.npz", code=2)
    assert error == "error: --save: cannot write '/proc/x.npz': No such file or directory\n"
    assert "target is 'auto', 'cpu' or a GPU" in call(
        "compile", "examples/toy_recall.py:parity", "--target", "tpu", code=1
    )
    # No line of the user's is behind these.
    assert call("compile", "examples/retnet.py", "-o", "/proc/x", code=1) == (
        "error: export: cannot write to '/proc/x': No such file or directory\n"
    )
    assert call("run", "examples/retnet.py", "--K", "0", code=1) == (
        "error: K is from 1 to 1024, got 0\n"
    )


def test_which_of_several(tmp_path):
    path = tmp_path / "several.py"
    path.write_text(
        "import linattn\n@linattn.recurrence\ndef mine(S, q, k, v):\n"
        "    S = S.write(k, v)\n    return S, S.read(q)\n"
        "op = linattn.compile(mine, K=4, V=4, heads=1)\n"
    )
    error = call("run", path, code=2)
    assert error == f"error: '{path}' has mine, op: say which, such as {path}:mine\n"
