import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))


@pytest.fixture(scope="session")
def reference_module():
    """Loads a reference module of test/Modules by its name."""

    def load(name):
        path = ROOT / "test" / "Modules" / f"{name}.py"
        spec = importlib.util.spec_from_file_location(f"modules_{name}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


def pytest_addoption(parser):
    parser.addoption(
        "--full",
        action="store_true",
        help="example tests: every combination instead of every pair",
    )
