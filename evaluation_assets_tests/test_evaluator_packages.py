"""The tests of evaluators whose packages are not installed here, in an environment that has them."""

import os
import subprocess
from pathlib import Path

from evaluation_assets_tests.evaluator_packages import ROOT, python

TESTS = Path("evaluation_assets_tests/core/judging/evaluators")


def test_metrics_of_the_installed_packages_are_judges() -> None:
    own = {"PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": "-p no:deepeval"}
    done = subprocess.run(
        [python(), "-m", "pytest", *(TESTS / f"test_{package}.py" for package in ("openevals", "deepeval", "inspect"))],
        cwd=ROOT,
        env=os.environ | own,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]
    assert " skipped" not in done.stdout
