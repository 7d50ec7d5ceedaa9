"""Which criteria a report ranks, and what it says of the others."""

import json
from pathlib import Path

import pytest

from evaluation_assets.core.reporting.distributions import statistic
from evaluation_assets_tests.conftest import command


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten runs with a call each. One call fails, so that one clip of ten is scored on `error_handling`, the lowest."""
    folder = tmp_path_factory.mktemp("ranked")
    text = "<think>look</think><weather><find>{}</find></weather><result>{}</result><answer>It is sunny</answer>"
    lines = [
        {
            "task_id": str(task),
            "task_description": f"weather in town {task}?",
            "raw_response": text.format(f"town {task}", "Error: quota exceeded" if task == 0 else "sunny and dry"),
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
    assert "| clip | result_interpretation |" in table.replace("\\", "")
    assert "error_handling" not in table.replace("\\", "")
    assert "fewer than half of the subjects were scored" in rest
    assert "error_handling of clip 0.10 (1 of 10)" in rest.replace("\\", "")


def test_the_lowest_criterion_of_a_tool_type_is_a_ranked_one(reports: Path) -> None:
    section = (reports / "report.md").read_text().partition("## Scores by tool type")[2].partition("\n## ")[0]
    (row,) = [line for line in section.splitlines() if line.startswith("| weather ")]
    assert "error_handling" not in row.replace("\\", "")


def test_the_page_says_how_many_clips_a_criterion_of_few_was_scored_on(reports: Path) -> None:
    assert 'title="1 of 10 clips scored">0.10' in (page := (reports / "report.html").read_text())
    assert '<small>1 <span class="quiet">of 10</span> scored</small>' in page
