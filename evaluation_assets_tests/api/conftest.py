"""An installation with two drops that were evaluated from Python."""

from dataclasses import dataclass
from pathlib import Path

import pytest

import evaluation_assets as ea
from evaluation_assets_tests.towns import TASKS, runs


@dataclass(frozen=True)
class Evaluated:
    """Ten tasks that went well, and the same tasks of which one did."""

    folder: Path
    good: ea.Result
    worse: ea.Result

    @property
    def home(self) -> Path:
        return self.folder / "home"


@pytest.fixture(scope="session")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Evaluated:
    folder = tmp_path_factory.mktemp("api")
    (folder / "in").mkdir()
    (folder / "in" / "good.jsonl").write_bytes(runs(TASKS) + b"{broken\n")
    (folder / "in" / "worse.jsonl").write_bytes(runs(1, bad=TASKS - 1))
    results = [ea.evaluate(folder / "in" / f"{name}.jsonl", home=folder / "home") for name in ("good", "worse")]
    return Evaluated(folder, *results)
