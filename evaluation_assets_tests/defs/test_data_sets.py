"""Answers to questions of data sets that many evaluate on, in the form of their records: read, and judged by rules."""

import json
from pathlib import Path

import pytest

import evaluation_assets
from evaluation_assets_tests.conftest import Workspace

RECORDS = Path(__file__).parents[1] / "fixtures" / "data_sets"


@pytest.mark.parametrize(
    ("name", "calls", "reference"),
    [
        ("aime", [0, 0], None),
        ("dapo", [0, 0], "42"),
        ("nq", [1, 0], "Georges Bizet\nBizet"),
        ("hotpotqa", [1, 1], "no"),
    ],
)
def test_records_of_a_data_set_are_read_and_judged(
    name: str, calls: list[int], reference: str | None, installation: Workspace
) -> None:
    """Of each, the first answer is right and the second wrong. `answer` beside messages may be the agent's own."""
    records = (RECORDS / f"{name}.jsonl").read_bytes()
    if name == "aime":
        cases = [
            {key: case[key] for key in ("id", "problem", "answer")} for case in map(json.loads, records.splitlines())
        ]
        suites = Path(installation.home.suites.path)
        suites.mkdir(parents=True)
        (suites / "aime.jsonl").write_text("\n".join(map(json.dumps, cases)))
    installation.drop(f"{name}/d", records)
    installation.run(f"{name}/d")
    read = list(evaluation_assets.read(RECORDS / f"{name}.jsonl"))
    assert (read[0].reference_answer, [len(run.calls) for run in read]) == (reference, calls)
    verdicts = installation.rows(f"{name}/d", "trajectory_verdicts", "rules")
    assert {row["outcome"] for row in verdicts} <= {"scored", "abstained"}
    scores = installation.rows(f"{name}/d", "trajectory_scores")
    assert len([row for row in scores if row["criterion"] == "overall" and row["mean"] is not None]) == 2
    if name == "aime":
        right = [row["passed"] for row in installation.rows("aime/d", "tool_use_results")]
    else:
        right = [row["mean"] > 0.5 for row in scores if row["criterion"] == "answer.accuracy"]
    assert right == [True, False]
