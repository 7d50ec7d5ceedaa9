"""An installation's rubrics add up with the shipped ones, and none is overlooked or pushed aside without a word."""

from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml
from upath import UPath

from evaluation_assets.core.gating.task_metrics import WITHOUT_JUDGES
from evaluation_assets.core.judging.rubrics.model import METRIC_NAMES, InvalidRubric, load_rubrics
from evaluation_assets.core.scoring.panel_scores import OVERALL
from evaluation_assets_tests.conftest import call, command, record
from evaluation_assets_tests.model_judging import installed

KEYS = {"clip": "parameter_quality", "category": "tool_use_quality", "trajectory": "tool_use_quality"}
"""Criteria that the embedded judge knows."""

RULES: dict[str, object] = {"name": "rules", "provider": "rules"}


def rubric(name: str, level: str = "clip", **more: Any) -> dict[str, Any]:
    anchors = {0: "none", 10: "all of it"}
    criterion = {"key": KEYS.get(level, "quality"), "question": "Was the result used?", "anchors": anchors}
    known = {"name": name, "level": level, "version": 1, "description": f"The rubric {name}."}
    return known | {"scale": {"min": 0, "max": 10}, "criteria": [criterion]} | more


def written(home: Path, data: dict[str, Any], file: str | None = None) -> Path:
    path = home / "rubrics" / (file or f"{data['level']}/{data['name']}.yaml")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(data))
    return path


def drop() -> bytes:
    """Calls of a tool that ships with a rubric, and of two that do not."""
    text = call("q", "found") + call("Oslo", "rain", "weather", "get_weather") + call("7 * 6", "42", "sums", "add")
    return record(text=text + "<answer>42</answer>")


@pytest.mark.parametrize("name", ["aaa", "weather", "zzz"])
def test_a_rubric_of_an_own_name_is_used_for_its_tool_type_whatever_it_is_called(
    tmp_path: Path, instance: dg.DagsterInstance, name: str
) -> None:
    types = {} if name == "weather" else {"applies_to": ["weather"]}
    for level in ("clip", "category"):
        written(tmp_path, rubric(name, level, **types))
    judged = installed(tmp_path, instance, RULES)
    judged.drop("d", drop())
    assert judged.run("d").success
    used = {row["tool_type"]: row["rubric"] for row in judged.verdicts(name="rules")}
    assert used == {"browser_use": "browser_use", "weather": name, "sums": "general", "final": "final"}
    categories = {row["subject"]: row["rubric"] for row in judged.verdicts("category", "rules")}
    assert categories == {"browser_use": "perform_web_task", "weather": name, "sums": "general"}


def test_one_of_a_shipped_name_replaces_it(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    written(tmp_path, rubric("browser_use"))
    written(tmp_path, rubric("trajectory", "trajectory"))
    judged = installed(tmp_path, instance, RULES)
    judged.drop("d", drop())
    assert judged.run("d").success
    first = judged.verdicts(name="rules")[0]
    assert (first["rubric"], set(dict(first["scores"]))) == ("browser_use", {KEYS["clip"]})
    whole = next(row for row in judged.verdicts("trajectory", "rules") if row["subject"] == "trajectory")
    assert set(dict(whole["scores"])) == {KEYS["trajectory"]}


def test_a_folder_that_is_a_link_is_followed(tmp_path: Path) -> None:
    path = written(tmp_path / "elsewhere", rubric("mine", applies_to=["weather"]))
    (tmp_path / "rubrics").mkdir()
    (tmp_path / "rubrics" / "clip").symlink_to(path.parent)
    assert load_rubrics(UPath(tmp_path / "rubrics")).choose("clip", "weather").name == "mine"


REFUSED = [
    pytest.param([(rubric("mine", applies_to=["browser_use"]), None)], "the shipped browser_use", id="shipped type"),
    pytest.param([(rubric("mine", applies_to=["*"]), None)], "the shipped general", id="general"),
    pytest.param([(rubric("quality", "trajectory"), None)], "the shipped trajectory", id="whole trajectory"),
    pytest.param([(rubric("a_session", "session"), None)], "the shipped session", id="session"),
    pytest.param(
        [(rubric("one", applies_to=["w"]), None), (rubric("two", applies_to=["w"]), None)], "one.yaml", id="two own"
    ),
    pytest.param([(rubric("w"), "clip/a.yaml"), (rubric("w"), "clip/b.yaml")], "a.yaml", id="two of a name"),
    pytest.param([(rubric("trajectory", "trajectory", applies_to=["w"]), None)], "never be used", id="no tool type"),
    pytest.param([(rubric("end", "category", applies_to=["final"]), None)], "never be used", id="final category"),
    pytest.param([(rubric("mine", "session"), "clip/mine.yaml")], "level is session", id="other folder"),
    pytest.param([(rubric("mine"), "mine.yaml")], "<level>/<name>.yaml", id="no folder"),
    pytest.param([(rubric("mine"), "clip/mine.yml")], "<level>/<name>.yaml", id="ending"),
    pytest.param([(rubric("general", applies_to=["w"]), None)], "applies_to: ['*']", id="nothing general left"),
    pytest.param([(rubric("mine", aplies_to=["w"]), None)], "did you mean 'applies_to'?", id="unknown field"),
]


@pytest.mark.parametrize(("files", "says"), REFUSED)
def test_what_would_be_overlooked_or_pushed_aside_is_refused_by_evaluate(
    tmp_path: Path, files: list[tuple[dict[str, Any], str | None]], says: str
) -> None:
    paths = [written(tmp_path / "home", data, file) for data, file in files]
    (tmp_path / "d.jsonl").write_bytes(drop())
    done = command("evaluate", tmp_path / "d.jsonl", home=tmp_path / "home")
    assert done.returncode == 2, done.stdout
    (line,) = done.stderr.splitlines()
    assert says in line
    assert str(paths[-1]) in line or says == "applies_to: ['*']"


@pytest.mark.parametrize(
    ("keys", "why"),
    [([], "criteria: must have at least 1 item"), (["k", "k"], "two criteria have this key"), ([""], "key: must have")]
    + [([name], "a metric has this name") for name in ("overall", "success")],
)
def test_criteria_have_names_of_their_own(tmp_path: Path, keys: list[str], why: str) -> None:
    asked = [{"key": key, "question": "?", "anchors": {0: "none", 10: "all of it"}} for key in keys]
    written(tmp_path, rubric("trajectory", "trajectory", criteria=asked))
    with pytest.raises(InvalidRubric, match=why):
        load_rubrics(UPath(tmp_path / "rubrics"))


def test_every_metric_without_judges_is_no_name_of_a_criterion() -> None:
    assert WITHOUT_JUDGES | {OVERALL} == METRIC_NAMES
