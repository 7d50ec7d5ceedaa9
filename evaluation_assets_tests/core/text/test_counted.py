"""Counts in messages."""

import pytest

from evaluation_assets.core.text.counted import counted, runs_of_tasks, to_a_hundredth_cent


@pytest.mark.parametrize(
    ("count", "noun", "text"),
    [
        (0, "clip", "0 clips"),
        (1, "clip", "1 clip"),
        (2, "tool call", "2 tool calls"),
        (1200, "trajectory", "1,200 trajectories"),
    ],
)
def test_a_noun_agrees_with_its_count(count: int, noun: str, text: str) -> None:
    assert counted(count, noun) == text


@pytest.mark.parametrize(
    ("runs", "tasks", "text"),
    [
        (1, 1, "1 run"),
        (16, 16, "16 runs"),
        (5, 4, "5 runs of 4 tasks"),
        (5, 1, "5 runs of 1 task"),
        (3, None, "3 runs"),
    ],
)
def test_runs_name_their_tasks_where_they_share_some(runs: int, tasks: int | None, text: str) -> None:
    assert runs_of_tasks(runs, tasks) == text


@pytest.mark.parametrize(
    ("amount", "text"),
    [(0, "$0.0000"), (1e-9, "<$0.0001"), (0.00004999, "<$0.0001"), (0.00005, "$0.0001"), (1234.5, "$1,234.5000")],
)
def test_what_was_paid_is_never_rounded_to_nothing(amount: float, text: str) -> None:
    assert to_a_hundredth_cent(amount) == text
