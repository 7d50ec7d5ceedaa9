"""Majorities: scales whose numbers are verdicts, with ties that abstain or count as the lowest."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from upath import UPath

from evaluation_assets.core.judging.rubrics.model import Rubric, Rubrics, Scale, load_rubrics
from evaluation_assets.core.lake.stored import Stored, Stream, batched, write
from evaluation_assets.core.lake.tables import TABLES
from evaluation_assets.core.scoring.averages import majority, most_frequent, panel_votes
from evaluation_assets.core.scoring.panel_scores import PanelVerdicts, clip_scores


def rubric(**scale: Any) -> Rubric:
    given = load_rubrics().of_level("trajectory")[0].model_dump()
    criteria = [{**criterion, "anchors": {0: "no", 1: "yes"}} for criterion in given["criteria"]]
    return Rubric.model_validate({**given, "criteria": criteria, "scale": {"min": 0, "max": 1, **scale}})


def test_the_most_frequent_vote_counts_and_a_tie_abstains_or_is_the_lowest() -> None:
    votes = {"a": 1.0, "b": 0.0, "c": 1.0}
    assert (majority(votes, 3, 1, "abstain").mean, majority(votes, 3, 1, "abstain").adjusted_mean) == (1.0, 1.0)
    tied = {"a": 1.0, "b": 0.0}
    abstained = majority(tied, 3, 1, "abstain")
    assert (abstained.mean, abstained.adjusted_mean, abstained.n_scored) == (None, None, 2)
    assert (abstained.min, abstained.max) == (0.0, 1.0)
    assert majority(tied, 3, 1, "lowest").mean == 0.0
    assert majority(votes, 4, 4, "lowest").mean is None


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=9))
def test_a_winner_is_a_vote_with_the_highest_count(votes: list[float]) -> None:
    lowest, strict = most_frequent(votes, "lowest"), most_frequent(votes, "abstain")
    assert lowest is not None
    assert votes.count(lowest) == max(map(votes.count, votes))
    assert strict in (lowest, None)


def test_a_judge_with_repeats_votes_once_and_not_on_a_tie() -> None:
    def said(*scores: float) -> list[dict[str, Any]]:
        return [{"outcome": "scored", "scores": {"done": score}} for score in scores]

    verdicts = {"a": said(1.0, 1.0, 0.0), "b": said(1.0, 0.0), "c": said(0.0)}
    assert panel_votes(verdicts, "abstain") == {"done": {"a": 1.0, "c": 0.0}}
    assert panel_votes(verdicts, "lowest") == {"done": {"a": 1.0, "b": 0.0, "c": 0.0}}


def test_a_rubric_declares_it_in_its_scale_and_averaged_rubrics_keep_their_version() -> None:
    mean, by_majority = rubric(), rubric(aggregate="majority", ties="lowest")
    assert Rubrics([mean]).majorities("trajectory") == {}
    assert Rubrics([by_majority]).majorities("trajectory") == {mean.name: "lowest"}
    assert Rubrics([by_majority]).majorities("clip") == {}
    assert Scale(min=0, max=10).model_dump() == {"min": 0, "max": 10}
    assert mean.version_name != by_majority.version_name != rubric(aggregate="majority").version_name
    with pytest.raises(ValidationError):
        rubric(aggregate="vote")


def test_only_the_criteria_of_such_a_rubric_are_aggregated_by_majority(tmp_path: Path) -> None:
    def stored(name: str, rows: list[dict[str, Any]], judge: str = "") -> Stored:
        table = TABLES[name]
        found = Stored(table, UPath(tmp_path / f"{name}{judge}.parquet"))
        empty = dict.fromkeys(table.schema.names)
        write(found.path, Stream(table, batched(iter([{**empty, **row} for row in rows]), table)))
        return found

    places = [{"trajectory_id": "t", "clip_index": index, "tool_type": "x"} for index in range(2)]
    scores = {"a": (1.0, 0.0), "b": (0.0, 1.0), "c": (1.0, 1.0)}
    verdicts = {
        judge: stored(
            "clip_verdicts",
            [
                {**place, "judge": judge, "rubric": name, "outcome": "scored", "scores": {"done": score}}
                for place, name, score in zip(places, ("voted", "averaged"), own, strict=True)
            ],
            judge,
        )
        for judge, own in scores.items()
    }
    found = list(clip_scores("d", stored("clips", places), PanelVerdicts(verdicts, 1, majorities={"voted": "abstain"})))
    assert [row["mean"] for row in found] == [1.0, pytest.approx(2 / 3)]
    assert [row["std"] for row in found] == [pytest.approx(2**0.5 / 3)] * 2
