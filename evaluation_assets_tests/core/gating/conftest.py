"""What tests of the gate share."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def benchmark() -> ModuleType:
    """The simulation that measures the gate's error rates."""
    path = Path(__file__).parents[3] / "benchmarks" / "gate.py"
    spec = importlib.util.spec_from_file_location("gate_benchmark", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
