"""Counts in messages."""

import pytest

from evaluation_assets.core.text.counted import counted


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
