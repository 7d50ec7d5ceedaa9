"""Which criteria a report ranks, and what it says of the others."""

import json
from pathlib import Path

import pytest

from evaluation_assets.core.report.scores.distributions import statistic
from evaluation_assets_tests.conftest import command


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten runs with a search each. One searches again: of eleven clips, one has a refined query, scored lowest."""
    folder = tmp_path_factory.mktemp("ranked")
    search = "<deepsearch><research>town {}</research></deepsearch><result>sunny and dry, with light wind</result>"
    lines = [
        {
            "task_id": str(task),
            "task_description": f"weather in town {task}?",
            "raw_response": search.format(task) * (2 if task == 0 else 1)
            + "<answer>It is sunny and dry, with light wind</answer>",
        }
        for task in range(10)
    ]
    (folder / "runs.jsonl").write_text("\n".join(map(json.dumps, lines)))
    done = command("evaluate", folder / "runs.jsonl", "--quiet", home=folder / "home")
    assert done.returncode == 0, done.stderr
    return folder / "home" / "reports" / "runs"


@pytest.mark.parametrize(("scored", "ranked"), [(0, False), (7, False), (8, True), (16, True)])
def test_a_mean_is_ranked_from_half_of_the_subjects_on(scored: int, ranked: bool) -> None:
    assert statistic([0.1] * scored + [None] * (16 - scored)).is_ranked is ranked


def test_a_criterion_scored_on_few_clips_does_not_head_the_lowest(reports: Path) -> None:
    section = (reports / "report.md").read_text().partition("## Lowest criteria")[2].partition("\n## ")[0]
    table, _, rest = section.partition("Not ranked")
    assert "| clip | search_depth_appropriateness |" in table.replace("\\", "")
    assert "query_refinement_quality" not in table.replace("\\", "")
    assert "fewer than half of the subjects were scored" in rest
    assert "query_refinement_quality of clip 0.20 (1 of 11)" in rest.replace("\\", "")


def test_the_lowest_criterion_of_a_tool_type_is_a_ranked_one(reports: Path) -> None:
    section = (reports / "report.md").read_text().partition("## Scores by tool type")[2].partition("\n## ")[0]
    (row,) = [line for line in section.splitlines() if "deepsearch" in line]
    assert "query_refinement_quality" not in row.replace("\\", "")


def test_the_page_says_how_many_clips_a_criterion_of_few_was_scored_on(reports: Path) -> None:
    assert 'title="1 of 11 clips scored">0.20' in (page := (reports / "report.html").read_text())
    assert "<small>1 of 11 scored</small>" in page
