"""Verdicts that came with the trajectories, as a judge of the panel."""

from pathlib import Path

import dagster as dg
import pytest

from evaluation_assets_tests.conftest import call, record
from evaluation_assets_tests.model_judging import Judged, installed
from evaluation_assets_tests.third_party import data

PANEL: tuple[dict[str, object], ...] = (
    {"name": "rules", "provider": "rules"},
    {"name": "before", "provider": "recorded"},
)


@pytest.fixture
def judged(tmp_path: Path, instance: dg.DagsterInstance) -> Judged:
    return installed(tmp_path, instance, *PANEL)


def evaluation(**scores: str) -> str:
    elements = "".join(f"<{name}>{score}</{name}>\n" for name, score in scores.items())
    return f"\n<clip_evaluation>\n<scores>\n{elements}</scores>\n<summary>So it went.</summary>\n</clip_evaluation>"


def test_recorded_scores_count_where_the_rubric_asks_for_them(judged: Judged) -> None:
    text = call("q", "found", server="microsandbox", tool="run").rstrip()
    scored = evaluation(code_correctness="0.750", error_handling="7", charm="1.0")
    judged.drop("d", record(raw_response=None, full_response_with_evaluations=f"{text}{scored}<answer>4</answer>"))
    assert judged.run("d").success
    first, last = judged.verdicts(name="before")
    scores = dict(first["scores"])
    assert (first["outcome"], first["summary"]) == ("scored", "So it went.")
    assert scores["code_correctness"] == 0.75
    assert scores["error_handling"] is None, "7 is on a scale nobody knows"
    assert "charm" not in scores
    assert last["outcome"] == "abstained"
    both = {row["criterion"]: row for row in judged.rows("d", "clip_scores") if row["clip_index"] == 0}
    assert both["code_correctness"]["n_judges"] == 2


def test_averages_of_several_judges_are_read_with_all_their_scores(judged: Judged) -> None:
    text = call("q", "found", server="microsandbox", tool="run").rstrip()
    averages = '{\n  "code_correctness": 0.825,\n  "computational_efficiency": 0.750,\n  "error_handling": 0.675\n}'
    scored = f"\n<clip_evaluation>\n<scores>\n{averages}\n</scores>\n<summary>Fine {{.</summary>\n</clip_evaluation>\n"
    judged.drop("d", record(raw_response=None, full_response_with_evaluation=f"{text}{scored}<answer>4</answer>"))
    assert judged.run("d").success
    first, last = judged.verdicts(name="before")
    given = {criterion: score for criterion, score in dict(first["scores"]).items() if score is not None}
    assert (first["outcome"], last["outcome"]) == ("scored", "abstained")
    assert given == {"code_correctness": 0.825, "computational_efficiency": 0.75, "error_handling": 0.675}


def test_the_scores_of_a_judged_file_are_given_as_they_were(judged: Judged) -> None:
    judged.drop("d", data("dataeva/demo0101_eva.jsonl").read_bytes())
    judged.run("d")
    rows = judged.verdicts(name="before")
    assert all(row["outcome"] == "scored" for row in rows)
    first = dict(rows[0]["scores"])
    assert first == {
        "code_correctness": 1.0,
        "computational_efficiency": 0.7,
        "error_handling": 1.0,
        "result_interpretation": 1.0,
    }
