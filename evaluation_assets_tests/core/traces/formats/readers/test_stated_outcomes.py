"""Outcomes of runs that their records state in words, or among what is said about them."""

from pathlib import Path

import pytest

from evaluation_assets.core.traces.trajectories.model import JsonObject
from evaluation_assets_tests.core.traces.formats.readers.summaries import summary_of, written
from evaluation_assets_tests.core.traces.formats.readers.test_own_counts import CHAT
from evaluation_assets_tests.core.traces.formats.reading import trajectories


@pytest.mark.parametrize(
    ("beside", "outcome"),
    [
        ({"task_success": "failure"}, False),
        ({"task_success": "Success"}, True),
        ({"resolved": "unresolved"}, False),
        ({"correct": "incorrect"}, False),
        ({"metadata": {"won": False, "steps": 3}}, False),
        ({"meta": {"success": True}}, True),
        ({"metadata": {"correct": 1, "steps": 3}}, None),
        ({"task_success": "partly"}, None),
        ({"cum_reward": 1.0}, True),
        ({"total_reward": 7.5}, None),
    ],
)
def test_outcomes_in_words_and_in_metadata(tmp_path: Path, beside: JsonObject, outcome: bool | None) -> None:
    path = written(tmp_path, {"messages": CHAT, **beside})
    (run,) = trajectories(path)
    assert run.success is outcome
    assert summary_of(path).trust == "complete"
    about = next((name for name in ("metadata", "meta") if name in beside), None)
    assert about is None or run.extra[about] == beside[about]


_TAU = {"task_id": 3, "trial": 1, "traj": CHAT, "reward": 0.0, "info": {"reward_info": {"reward": 1.0}}}
_STEPS = [{"role": "assistant", "name": "Expert", "content": "It is 42."}]


@pytest.mark.parametrize(
    ("disputed", "agreed", "counted"),
    [
        ({"messages": CHAT, "success": True, "passed": False}, {"messages": CHAT, "success": True}, "success"),
        ({"messages": CHAT, "success": False, "result": "PASS"}, {"messages": CHAT, "success": False}, "failure"),
        (_TAU, _TAU | {"trial": 2, "reward": 1.0}, "failure"),
        (
            {"history": _STEPS, "question": "6 * 7?", "is_correct": True, "is_corrected": False},
            {"history": _STEPS, "question": "6 * 7?", "is_correct": True},
            "success",
        ),
    ],
)
def test_runs_with_two_outcomes_are_named_with_the_one_that_counts(
    tmp_path: Path, disputed: JsonObject, agreed: JsonObject, counted: str
) -> None:
    path = written(tmp_path, disputed, agreed)
    one, other = trajectories(path)
    assert "two_outcomes" in one.flags and "two_outcomes" not in other.flags
    assert one.success is (counted == "success")
    assert f"counted as {counted}: {one.id}" in summary_of(path).doubts
