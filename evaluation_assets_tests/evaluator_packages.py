"""An environment with the packages of all evaluators. They need other versions of click and rich than the tests.

`python -m evaluation_assets_tests.evaluator_packages` makes it (`make test-evaluators` does that first).
"""

import hashlib
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXTRAS = ("autoevals", "openevals", "deepeval", "inspect", "mlflow")
_FOLDER = Path.home() / ".cache" / "evaluation-assets" / "evaluators"
_PYTHON = _FOLDER / "bin" / "python"
_STAMP = _FOLDER / "requirements.sha256"


def python() -> Path:
    """The interpreter of the environment; the test is skipped without it."""
    if not _PYTHON.exists():
        pytest.skip("there is no environment with the packages of evaluators; `make test-evaluators` makes it")
    return _PYTHON


def make() -> Path:
    """Make the environment if it is missing, or if requirements of the project have changed."""
    wanted = _requirements()
    digest = hashlib.sha256("\n".join(wanted).encode()).hexdigest()
    if _STAMP.is_file() and _STAMP.read_text() == digest:
        return _PYTHON
    shutil.rmtree(_FOLDER, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", str(_FOLDER)], check=True)
    install = [str(_PYTHON), "-m", "pip", "install", "--quiet"]
    subprocess.run([*install, "--upgrade", "pip"], check=True)  # old versions do not find a solution
    subprocess.run([*install, *wanted], check=True)
    _STAMP.write_text(digest)
    return _PYTHON


def _requirements() -> list[str]:
    """What the project needs with these extras, and the tests of evaluators."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    tests = [each for each in extras["dev"] if each.startswith(("pytest>", "hypothesis>"))]
    return sorted({*project["dependencies"], *tests, *(each for extra in EXTRAS for each in extras[extra])})


if __name__ == "__main__":
    print(make())
