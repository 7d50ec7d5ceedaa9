"""Tests that fail if an agent gets worse. Run them with `pytest examples/pytest`.

The fixture `evaluation` comes with the package. In your project, promote the runs of the main branch once and commit
`.evaluation/baselines`; a test then needs one line: evaluation("runs.jsonl").gate(baseline="support").
"""

from pathlib import Path

import pytest

from evaluation_assets.testing import Evaluation, GatedResult

RUNS = Path(__file__).parents[1] / "drops" / "assistants.jsonl"


@pytest.fixture
def result(evaluation: Evaluation) -> GatedResult:
    """The runs of this branch. The agent of this example has not changed since those of the main branch."""
    evaluation(RUNS, name="main")
    return evaluation(RUNS, name="current")


def test_the_agent_is_not_worse_than_on_main(result: GatedResult) -> None:
    result.gate(baseline="main")


def test_most_calls_succeed(result: GatedResult) -> None:
    calls = result.table("clips", columns=["call_status"])["call_status"].value_counts()
    assert calls["error"] / calls.sum() < 0.2


def test_only_a_broken_line_was_lost(result: GatedResult) -> None:
    assert result.summary.records.unreadable.keys() <= {"bad_json"}
