"""What makes a drop stale that has not changed itself."""

import shutil
from pathlib import Path

import pytest

from evaluation_assets.core.intake.drops import find
from evaluation_assets.core.judging.panel import Panel
from evaluation_assets.definitions import current_key
from evaluation_assets.defs.freshness import stale
from evaluation_assets_tests.conftest import Workspace, record

SUITE = "cases:\n  - {id: t0, message: Add 2 and 2., answer: 4}\n"


@pytest.fixture
def evaluated(installation: Workspace) -> Workspace:
    suite = Path(str(installation.home.suites)) / "s.yaml"
    suite.parent.mkdir(parents=True)
    suite.write_text(SUITE)
    installation.drop("s/a", record("t0"))
    installation.run("s/a")
    assert stale_of(installation) == []
    return installation


def stale_of(evaluated: Workspace) -> list[str]:
    home = evaluated.home
    drops = [find(home.drops, "s/a")]
    return [drop.key for drop in stale(evaluated.instance, home, drops, current_key(home, Panel()))]


@pytest.mark.parametrize("removed", ["lake/findings", "lake/task_metrics/s/a.parquet", "lake", "reports"])
def test_a_drop_whose_results_were_deleted_is_evaluated_again(evaluated: Workspace, removed: str) -> None:
    place = Path(str(evaluated.home.root)) / removed
    shutil.rmtree(place) if place.is_dir() else place.unlink()
    assert stale_of(evaluated) == ["s/a"]
    evaluated.run("s/a")
    assert place.exists() and stale_of(evaluated) == []


@pytest.mark.parametrize("text", [SUITE.replace("answer: 4", "answer: 5"), None, "cases: [{}]"])
def test_a_drop_whose_suite_was_changed_deleted_or_broken_is_stale(evaluated: Workspace, text: str | None) -> None:
    suite = Path(str(evaluated.home.suites)) / "s.yaml"
    suite.unlink() if text is None else suite.write_text(text)
    assert stale_of(evaluated) == ["s/a"]
    evaluated.run("s/a")
    assert stale_of(evaluated) == []
    suite.write_text(f"# as before\n{SUITE}")
    assert stale_of(evaluated) == ["s/a"]
