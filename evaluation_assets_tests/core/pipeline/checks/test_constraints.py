"""Whether constraints hold."""

from pathlib import Path

from evaluation_assets.core.lake.tables import CONSTRAINT_RESULTS
from evaluation_assets.core.pipeline.checks.constraints import constraints_hold
from evaluation_assets_tests.core.stored_rows import stored


def row(trajectory: str, status: str, severity: str = "error", constraint: str = "asks_first", clip: int | None = None):
    return {
        "trajectory_id": trajectory,
        "constraint": constraint,
        "severity": severity,
        "status": status,
        "clip_index": clip,
        "message": "it did not ask",
    }


def test_only_what_failed_with_this_severity_counts(tmp_path: Path) -> None:
    rows = [row("a", "passed"), row("b", "failed", "warn"), row("c", "not_applicable")]
    found = constraints_hold(stored(tmp_path, CONSTRAINT_RESULTS, rows), "error")
    assert found.passed and found.description == "All constraints with severity error hold."
    assert found.metadata == {"violating_trajectories": 0, "constraints": 0}
    found = constraints_hold(stored(tmp_path, CONSTRAINT_RESULTS, rows), "warn")
    assert (found.passed, found.severity) == (False, "warn")
    assert found.description == "Violated: asks_first in 1 run."


def test_violations_are_named_with_their_place_and_what_was_not_checked_does_not_hold(tmp_path: Path) -> None:
    rows = [row("a", "failed", clip=2), row("b", "failed"), row("b", "not_checked", constraint="cites")]
    found = constraints_hold(stored(tmp_path, CONSTRAINT_RESULTS, rows), "error")
    assert not found.passed
    assert found.description == "Violated: asks_first in 2 runs; cites could not be checked in 1 run."
    assert found.metadata["violating_trajectories"] == 2
    assert found.metadata["first"][0] == "a, clip 2: asks_first: it did not ask"
    assert found.metadata["first"][1] == "b: asks_first: it did not ask"


def test_not_all_violations_are_named(tmp_path: Path) -> None:
    rows = [row(str(each), "failed") for each in range(50)]
    found = constraints_hold(stored(tmp_path, CONSTRAINT_RESULTS, rows), "error")
    assert (len(found.metadata["first"]), found.metadata["violating_trajectories"]) == (20, 50)
