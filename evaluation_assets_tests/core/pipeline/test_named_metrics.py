"""Names of metrics in gate.yaml: one that no evaluation can have is refused with the nearest."""

import json
from pathlib import Path

import pytest
import yaml

from evaluation_assets.core.judging.panel import Panel, panel_of
from evaluation_assets.core.pipeline.named_metrics import settings_of
from evaluation_assets.core.pipeline.settings import InvalidSettings
from evaluation_assets.core.system.installation import Installation
from evaluation_assets_tests.conftest import command
from evaluation_assets_tests.test_rubrics import rubric, written


def home_with(folder: Path, **gate: object) -> Installation:
    (folder / "gate.yaml").write_text(yaml.safe_dump({"gate": gate}))
    return Installation.at(str(folder))


@pytest.mark.parametrize(
    ("gate", "says"),
    [
        (
            {"floors": {"findings.loop": 0.1}},
            "gate.floors: no metric is called findings.loop; did you mean 'finding.loop'?",
        ),
        ({"floors": {"sucess": 0.9}}, "no metric is called sucess; did you mean 'success'?"),
        ({"metrics": ["success", "answer_correctnes"]}, "gate.metrics: no metric is called answer_correctnes"),
        ({"metrics": ["session.tools"]}, "did you mean 'session.tool_use'?"),
        ({"floors": {"zzzzzz": 0.1}}, "choose one of: answer."),
        ({"task_family": "("}, "gate.task_family: not a regular expression: "),
    ],
)
def test_a_metric_that_does_not_exist_is_refused(tmp_path: Path, gate: dict[str, object], says: str) -> None:
    with pytest.raises(InvalidSettings) as refused:
        settings_of(home_with(tmp_path, **gate), Panel())
    assert says in str(refused.value) and str(tmp_path / "gate.yaml") in str(refused.value)


def test_criteria_of_own_rubrics_and_of_evaluators_are_metrics(tmp_path: Path) -> None:
    written(tmp_path, rubric("trajectory", "trajectory"))
    evaluator = {"name": "e", "provider": "python", "evaluator": {"package": "autoevals", "metric": "Levenshtein"}}
    home = home_with(tmp_path, floors={"tool_use_quality": 0.1, "autoevals_levenshtein": 0.2, "cost_usd": 3.0})
    (tmp_path / "panel.yaml").write_text(json.dumps({"judges": [evaluator]}))
    assert settings_of(home, Panel()).gate.floors.keys() == {"tool_use_quality", "autoevals_levenshtein", "cost_usd"}
    (tmp_path / "panel.yaml").unlink()
    with pytest.raises(InvalidSettings):
        settings_of(home, Panel())
    assert settings_of(home, panel_of({"judges": [evaluator]}, "panel")).gate.floors


def test_own_functions_name_their_scores_themselves(tmp_path: Path) -> None:
    (tmp_path / "checks.py").write_text("def polite(subject):\n    return 1.0\n")
    (tmp_path / "panel.yaml").write_text("judges: [{name: p, provider: python, function: 'checks:polite'}]")
    assert settings_of(home_with(tmp_path, floors={"politeness": 0.1}), Panel()).gate.floors


@pytest.mark.parametrize("name", ["plan", "evaluate"])
def test_commands_say_so_in_one_line(tmp_path: Path, name: str) -> None:
    home_with(tmp_path, floors={"findings.loop": 0.1})
    (tmp_path / "d.jsonl").write_text('{"task_id": "t", "task_description": "d", "raw_response": "<answer>4</answer>"}')
    done = command(name, tmp_path / "d.jsonl", home=tmp_path)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "did you mean 'finding.loop'?" in line
