"""The recorded judges of AgentProcessBench, evaluated from the command line without a key."""

import json
import subprocess
from pathlib import Path

import pytest

from benchmarks.recorded_judges import prepare
from evaluation_assets_tests.conftest import command
from evaluation_assets_tests.third_party import data


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    home = tmp_path_factory.mktemp("recorded") / "home"
    drop = prepare(data("agent-process-bench").parent, home)
    return home, command("evaluate", drop, "--quiet", "--verbose", home=home)


@pytest.mark.slow
def test_the_terminal_states_success_and_what_the_panel_is_worth(
    evaluated: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    _, done = evaluated
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert "  outcome            success 71 of 109 runs of 25 tasks (65.1%, 95% CI 46.8% to 79.9%)" in lines
    at = lines.index("  overall score 0.588 over 109 runs of 25 tasks, 95% CI 0.522 to 0.654")
    assert lines[at + 1].startswith("  process score 0.969 over 109 runs of 25 tasks")
    assert lines[at + 1].endswith("AUROC against recorded success 0.55 (95% CI 0.50 to 0.60)")
    assert lines[at + 2] == "  pass^3             0.514 over 25 tasks"
    assert lines[at + 3] == (
        "  effective judges   2.1 of 3 "
        "(from the correlation of errors, 109 subjects with recorded outcomes that all scored)"
    )


def test_the_report_shows_judges_side_by_side_with_links_to_disagreements(
    evaluated: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    home, _ = evaluated
    reports = home / "reports" / "recorded"
    levels = {level["level"]: level for level in json.loads((reports / "report.json").read_text())["panel"]["levels"]}
    assert set(levels) == {"clip", "trajectory"}
    clip = {judge["judge"]: judge for judge in levels["clip"]["judges"]}
    assert {name: round(judge["mean"], 2) for name, judge in clip.items()} == {
        "claude": 0.69,
        "deepseek": 0.29,
        "gpt": 0.73,
    }
    assert round(clip["deepseek"]["offset"], 2) == -0.28
    assert round(clip["deepseek"]["agreement"], 2) == 0.05
    assert (clip["gpt"]["n_tasks"], clip["gpt"]["scored"], clip["gpt"]["abstained"]) == (25, 282, 0)
    assert levels["clip"]["effective"]["is_bound"] and round(levels["clip"]["effective"]["value"], 1) == 1.6
    found = levels["trajectory"]["effective_by_criterion"]["final_label"]
    assert (found["basis"], round(found["value"], 1)) == ("recorded outcomes", 1.9)
    page, markdown = (reports / "report.html").read_text(), (reports / "report.md").read_text()
    worst = levels["clip"]["disagreements"][0]
    assert worst["range"] == 1.0
    assert f'<a href="{worst["address"]}">' in page
    assert "| clip | deepseek | 0.29 | [0.21, 0.38] | -0.278 | 0.05 |" in markdown
    assert "| clip | step_label | 0.57 | [0.50, 0.64] | at least 1.6 of 3 |" in markdown


def test_the_overview_lists_the_panel(evaluated: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    home, _ = evaluated
    done = command("overview", "--format", "json", home=home)
    panels = {row["level"]: row for row in json.loads(done.stdout)["panels"]}
    assert panels["trajectory"]["n_judges"] == 3
    assert round(panels["trajectory"]["effective_judges"], 2) == 1.19
    assert round(panels["clip"]["alpha"], 2) == 0.25
