"""The tutorial runs from its first cell to its last."""

import os

import pytest

from conftest import ROOT

pytest.importorskip("linattn._compiler", reason="the native parts are not built")
nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")
pytest.importorskip("matplotlib")


def test_the_tutorial(tmp_path, monkeypatch):
    notebook = nbformat.read(ROOT / "docs" / "tutorial.ipynb", as_version=4)
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "python"))
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3",
        resources={"metadata": {"path": str(ROOT / "docs")}},
    ).execute()
    said = [
        "".join(o.get("text", "") for o in cell.get("outputs", ()))
        for cell in notebook.cells if cell.cell_type == "code"
    ]
    assert any("linattn.chunked" in text for text in said)
    assert any("write: the key is a vector over K" in text for text in said)
    assert os.path.exists(ROOT / "examples" / "toy_recall.py")
