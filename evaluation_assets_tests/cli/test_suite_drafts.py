"""Test cases from recorded runs, from drops to a suite that a person has confirmed."""

import json
import re
from pathlib import Path

import pytest
import yaml
from upath import UPath

from evaluation_assets.cli.suite_drafts import _as_yaml
from evaluation_assets.core.suites.formats.registry import load_suite
from evaluation_assets.core.suites.suite import Case
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.plain_text import for_terminal
from evaluation_assets_tests.conftest import call, command, record
from evaluation_assets_tests.core.suites.test_drafts import drafted, run
from evaluation_assets_tests.towns import TASKS, run_of, runs


def confirmed(file: Path) -> Path:
    """The suite without what is to be confirmed."""
    document = yaml.safe_load(file.read_text())
    for case in document["cases"]:
        del case["review"]
    file.write_text(yaml.safe_dump(document))
    return file


@pytest.mark.slow
def test_cases_from_a_group_and_from_a_drop(tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "in" / "nights"
    folder.mkdir(parents=True)
    for name, content in (("1", runs(TASKS)), ("2", runs(TASKS - 3, bad=3)), ("3", run_of(99, good=False))):
        (folder / f"{name}.jsonl").write_bytes(content)
    done = command("evaluate", tmp_path / "in", "--quiet", home=home)
    assert done.returncode == 0, done.stderr
    listed = json.loads(command("groups", "list", "--format", "json", home=home).stdout)
    worst = next(row for row in listed if row["success_with"] == 0 and row["n_runs"] == 4)

    file = tmp_path / "failing.yaml"
    done = command("suite", "from-group", worst["group_id"], "--output", file, home=home)
    assert done.stdout == f"{file}: 4 cases to confirm, 3 with expected calls or an answer\n", done.stderr
    cases = {case["id"]: case for case in yaml.safe_load(file.read_text())["cases"]}
    assert cases.keys() == {"task-9", "task-10", "task-11", "task-99"}
    assert [call["tool"] for call in cases["task-9"]["expected_calls"]] == ["browser_search_google"]
    assert cases["task-9"]["answer"] == {"value": "The town has 49 inhabitants."}
    assert cases["task-99"]["review"] == "no run of the task passed without the failure, say what is expected"

    misnamed = command("suite", "from-group", worst["group_id"], "--output", tmp_path / "failing.xml", home=home)
    assert misnamed.returncode == 2 and f"Name the file {file}" in misnamed.stderr
    before = file.read_bytes()
    again = command("suite", "from-drop", "nights/2", "--output", file, home=home)
    assert again.returncode == 2 and "perhaps with what a person has confirmed" in again.stderr
    assert file.read_bytes() == before
    nothing = command("evaluate", folder / "2.jsonl", "--as", "drafts/2", "--suite", file, "--quiet", home=home)
    assert nothing.returncode == 1 and "The suite has no complete case" in nothing.stdout
    assert "is skipped" not in nothing.stderr, "a warning"

    checked = command("suite", "check", file, home=home).stdout
    assert "failing: 0 cases" in checked and "skipped            4" in checked
    assert "task-10: unconfirmed: expectations are from 1 passing run" in checked
    assert "    unconfirmed, 2 more: task-11, task-99\n" in checked and checked.count("unconfirmed") == 3
    checked = command("suite", "check", confirmed(file), home=home).stdout
    assert "failing: 3 cases" in checked and "task-99: it expects nothing" in checked

    printed = command("suite", "from-drop", "nights/2", home=home)
    assert [case["id"] for case in yaml.safe_load(printed.stdout)["cases"]] == [f"task-{n}" for n in range(TASKS - 3)]
    good = tmp_path / "good.yaml"
    good.write_text(printed.stdout)
    again = ("evaluate", folder / "2.jsonl", "--as", "again/2", "--suite", confirmed(good), "--quiet")
    assert command(*again, home=home).returncode == 0
    results = Installation.at(str(home)).table("again/2", "tool_use_results").rows(["passed"])
    assert [row["passed"] for row in results] == [True] * (TASKS - 3)

    checked = command("suite", "check", good, "--drop", "nights/1", home=home)
    assert checked.returncode == 0 and "uncovered" not in checked.stdout, checked.stdout
    assert ", compared with the runs of nights/1" in checked.stdout
    good.write_text(good.read_text().replace("value: The town", "value: This town"))
    checked = command("suite", "check", good, "--drop", "nights/1", home=home).stdout
    assert "unstable_answer, task-0: another answer than 'This town" in checked and "1 of 1 passing run" in checked
    refused = command("suite", "check", good, "--drop", "nights/4", home=home)
    assert refused.returncode == 2 and "did you mean 'nights/3'?" in refused.stderr

    refused = command("suite", "from-drop", "nights/3", home=home)
    assert refused.returncode == 2 and "no run of nights/3 passed" in refused.stderr
    unknown = command("suite", "from-drop", "nights/4", home=home)
    assert unknown.returncode == 2 and "did you mean 'nights/3'?" in unknown.stderr


def test_a_run_with_the_failure_is_no_example_of_its_task_although_it_passed(tmp_path: Path) -> None:
    failing = call("x", "Error: timeout") + "<answer>It is 4.</answer>"
    texts = [failing, call("y", "It has 4.") + "<answer>It has 4.</answer>"]
    drop = b"".join(record("t", text, success=True, task_description="How many?") for text in texts)
    (tmp_path / "drop.jsonl").write_bytes(drop)
    assert command("evaluate", tmp_path / "drop.jsonl", "--quiet", home=tmp_path / "home").returncode == 0
    groups = json.loads(command("groups", "list", "--format", "json", home=tmp_path / "home").stdout)
    (group,) = [each["group_id"] for each in groups if each["kind"].endswith("_error")]
    (case,) = yaml.safe_load(command("suite", "from-group", group, home=tmp_path / "home").stdout)["cases"]
    assert "from 1 passing run" in case["review"]


def test_trials_that_word_a_task_anew_are_one_case(tmp_path: Path) -> None:
    worded = [record("t", "<answer>yes</answer>", success=True, task_description=f"Wording {n}.") for n in range(3)]
    (tmp_path / "drop.jsonl").write_bytes(b"".join(worded))
    done = command("evaluate", tmp_path / "drop.jsonl", "--quiet", home=tmp_path / "home")
    assert done.returncode == 0, done.stderr
    printed = command("suite", "from-drop", "drop", home=tmp_path / "home").stdout
    (case,) = yaml.safe_load(printed)["cases"]
    assert case["id"] == "t" and "from 3 passing runs" in case["review"]


def test_trials_of_a_benchmark_are_one_case_with_what_it_expects_and_its_user(tmp_path: Path) -> None:
    """The simulated user begins each trial with other words; no trial succeeds."""
    action = {"name": "cancel", "kwargs": {"id": "W1"}}
    info = {"task": {"user_id": "ada", "instruction": "Cancel W1.", "actions": [action], "outputs": []}}
    said = ["Hello.", "Good morning.", "Please cancel."]
    trials = [
        {"task_id": 4, "trial": trial, "reward": 0.0, "info": info | {"reward_info": {}}, "traj": _talk(text)}
        for trial, text in enumerate(said)
    ]
    (tmp_path / "runs.json").write_text(json.dumps(trials))
    done = command("evaluate", tmp_path / "runs.json", "--quiet", home=tmp_path / "home")
    assert done.returncode == 0, done.stderr
    (group,) = json.loads(command("groups", "list", "--format", "json", home=tmp_path / "home").stdout)
    assert group["name"] == "Missing call"
    printed = command("suite", "from-group", group["group_id"], home=tmp_path / "home").stdout
    (case,) = yaml.safe_load(printed)["cases"]
    assert case["review"] == "expectations are those that the source recorded"
    assert [call["tool"] for call in case["expected_calls"]] == ["cancel"] and case["match"] == "same_effects"
    assert case["user"] == {"goal": "Cancel W1."}
    (tmp_path / "suite.yaml").write_text(printed)
    checked = command("suite", "check", confirmed(tmp_path / "suite.yaml"), home=tmp_path / "home").stdout
    assert "suite: 1 case" in checked, checked


def _talk(text: str) -> list[dict[str, str]]:
    return [
        {"role": "system", "content": "Help."},
        {"role": "user", "content": text},
        {"role": "assistant", "content": "What is it about?"},
        {"role": "user", "content": "###STOP###"},
    ]


@pytest.mark.parametrize(
    "text",
    ["\x1b[2J\x00", "a\u202egnp.exe", "\u2028::error::x", "2024-01-01", "yes", "=", "<<", "größer 数\n\n - a: b"],
)
def test_hostile_texts_are_read_back_and_do_not_reach_a_terminal(tmp_path: Path, text: str) -> None:
    draft = drafted(run(answer=text)).model_copy(update={"message": text})
    printed = _as_yaml({"cases": [draft.model_dump(mode="json", exclude_unset=True)]})
    assert for_terminal(printed) == printed
    file = tmp_path / "s.yaml"
    file.write_text(re.sub("review: .*", "tags: []", printed))
    (case,) = load_suite(UPath(file)).suite.cases
    assert case == Case(id="t", message=text, answer=draft.answer, tags=())
