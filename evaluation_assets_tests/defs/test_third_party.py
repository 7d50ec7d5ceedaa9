"""Recorded runs of others are judged, where they lie beside the checkout."""

from itertools import islice

import pytest

from evaluation_assets_tests.conftest import Workspace
from evaluation_assets_tests.third_party import data

RUNS = 12
QUESTIONS = "agent-process-bench/hotpotqa.even-queries.jsonl"
RESEARCH = "dataeva/demo02.part87.jsonl"


@pytest.mark.parametrize("name", [QUESTIONS, RESEARCH])
def test_records_of_a_named_data_set_are_read_and_judged(name: str, installation: Workspace) -> None:
    with data(name).open("rb") as source:
        installation.drop("d", b"".join(islice(source, RUNS)))
    installation.run("d")
    assert len(installation.rows("d", "raw_trajectories")) == RUNS
    kept = installation.rows("d", "preprocessed_trajectories")
    assert len(kept) + len(installation.rows("d", "rejected_records")) == RUNS
    levels = ("clip_verdicts", "category_verdicts", "trajectory_verdicts")
    outcomes = {row["outcome"] for level in levels for row in installation.rows("d", level, "rules")}
    assert outcomes <= {"scored", "abstained"}
    scores = {
        (row["trajectory_id"], row["criterion"]): row["mean"] for row in installation.rows("d", "trajectory_scores")
    }
    assert all(scores[row["trajectory_id"], "overall"] is not None for row in kept)
    if name == QUESTIONS:
        right = {row["trajectory_id"]: scores[row["trajectory_id"], "answer.accuracy"] > 0.5 for row in kept}
        assert right == {row["trajectory_id"]: row["success"] for row in kept}
