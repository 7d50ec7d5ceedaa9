"""A run with functions of the user's own as judges, from the panel file to the report and `explain`."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from evaluation_assets.cli.main import main
from evaluation_assets.core.system.installation import Installation
from evaluation_assets_tests.recomputed.figures import differing

CHECKS = """
from evaluation_assets.judging import Score, Subject, judge


@judge(level="trajectory", criterion="style.short")
def short(run: Subject) -> bool:
    return len(run.text) < 400


@judge(level="answer", criterion="tone.calm")
def calm(run: Subject) -> Score:
    return Score(0.25, "it shouts")
"""
PANEL = """
judges:
  - {name: rules, provider: rules}
  - {name: short, provider: python, function: 'my_checks:short'}
  - {name: calm, provider: python, function: 'my_checks:calm'}
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An installation with one evaluated drop of the example's support runs."""
    folder = tmp_path_factory.mktemp("own") / "home"
    folder.mkdir()
    (folder / "my_checks.py").write_text(CHECKS)
    (folder / "panel.yaml").write_text(PANEL)
    runs = Path(__file__).parents[2] / "examples" / "own_judge" / "support.jsonl"
    done = CliRunner().invoke(main, ["evaluate", str(runs), "--home", str(folder), "--quiet"])
    assert done.exit_code == 0, done.output
    return folder


def test_criteria_with_a_dot_keep_their_level_and_name(home: Path) -> None:
    report = json.loads((home / "reports" / "support" / "report.json").read_text())
    means = {(each["level"], each["criterion"]): each["statistic"]["mean"] for each in report["criteria"]}
    assert means["trajectory", "style.short"] == pytest.approx(2 / 3)
    assert means["answer", "tone.calm"] == 0.25


def test_explain_states_them(home: Path) -> None:
    done = CliRunner().invoke(main, ["explain", "support", "--home", str(home), "--format", "json"])
    assert done.exit_code == 0, done.output
    explained = json.loads(done.output)
    values = {each["address"]: each["value"] for each in explained["figures"]}
    assert values["drop/criteria/answer/tone.calm/mean"] == 0.25
    assert values["drop/criteria/trajectory/style.short/mean"] == pytest.approx(2 / 3)
    assert differing(Installation.at(str(home)), "support") == {}
