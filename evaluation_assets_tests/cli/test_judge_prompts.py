"""`export --format judge_prompts`: what each model judge was asked and answered, as it was sent."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from evaluation_assets.core.report.provenance.judge_prompts import Wanted
from evaluation_assets_tests.conftest import call, command, record
from evaluation_assets_tests.model_judging import judge
from evaluation_assets_tests.model_server import ModelServer, rule

Line = dict[str, Any]
MAIL = "ada.lovelace@example.org"
TASKS = [f"t{number}" for number in range(4)]


@pytest.fixture
def home(tmp_path: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installation in which a language model, a decision model and the embedded judge judged four runs."""
    monkeypatch.setenv("TEST_KEY", "sk-export-3Hd8v5Gs0Yf2Pj7Qc")
    home = tmp_path / "home"
    home.mkdir()
    judges = [
        judge(server, "writes"),
        judge(server, "decides", provider="systemone"),
        {"name": "rules", "provider": "rules"},
    ]
    panel = {"judges": judges, "redaction": {"email": True}}
    (home / "panel.yaml").write_text(json.dumps(panel))
    text = call(f"mail of {MAIL}", "found") + "<answer>4</answer>"
    (tmp_path / "d.jsonl").write_bytes(b"".join(record(task, text.replace("found", task)) for task in TASKS))
    done = command("evaluate", tmp_path / "d.jsonl", "--yes", "--quiet", home=home)
    assert done.returncode == 0, done.stdout + done.stderr
    return home


def lines_of(home: Path, *more: str) -> list[Line]:
    output = home / "out.jsonl"
    done = command("export", "d", "--format", "judge_prompts", "--output", str(output), *more, home=home)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in output.read_text("utf-8").splitlines()]
    assert done.stdout == f"{output}: {len(lines)} verdicts\n"
    return lines


def _sent(server: ModelServer) -> list[Sequence[Line]]:
    return [
        request.body["messages"]
        if "messages" in request.body
        else [{"role": "system", "content": request.body["state"]["system"]}, *request.body["state"]["messages"]]
        for request in server.requests()
    ]


def test_every_verdict_of_a_model_comes_with_the_messages_that_were_sent(home: Path, server: ModelServer) -> None:
    asked = _sent(server)
    lines = lines_of(home)
    assert len(server.requests()) == len(asked), "no model is called"
    assert len(lines) == len(asked) and {line["judge"] for line in lines} == {"writes", "decides"}
    for line in lines:
        assert line["messages"] in asked
        assert line["prompt_length"] == sum(len(message["content"]) for message in line["messages"])
        assert MAIL not in json.dumps(line), "redacted as it was sent"
        given = json.loads(line["reply"])
        if line["judge"] == "decides":
            assert given.keys() == line["scores"].keys() and len(line["questions"]) == len(given)
        else:
            assert {each["criterion"] for each in given["scores"]} >= line["scores"].keys()
            assert line["schema"]["required"] == ["reasoning", "scores", "summary"]
        assert line["task_id"] in TASKS and line["split"] is None and line["outcome"] in ("scored", "abstained")


def test_verdicts_are_chosen_by_level_tool_type_judge_and_task(home: Path) -> None:
    every = lines_of(home)
    assert {line["level"] for line in every} == {"clip", "category", "trajectory", "answer"}
    for option, field, value in (
        ("--level", "level", "answer"),
        ("--tool-type", "tool_type", "browser_use"),
        ("--judge", "judge", "decides"),
        ("--task", "task_id", "t2"),
    ):
        chosen = [line for line in every if line[field] == value]
        assert 0 < len(chosen) < len(every) and lines_of(home, option, value) == chosen
    both = lines_of(home, "--level", "clip", "--level", "category", "--judge", "writes", "--task", "t1")
    assert [line["level"] for line in both] == ["clip", "clip", "category"]


@pytest.mark.slow
def test_the_split_is_by_task_and_repeatable(home: Path) -> None:
    split = ("--evaluation-share", "0.5", "--seed", "7")
    every = lines_of(home, *split)
    assert lines_of(home, *split) == every
    parts = {task: {line["split"] for line in every if line["task_id"] == task} for task in TASKS}
    assert all(len(found) == 1 for found in parts.values())
    train, evaluation = (lines_of(home, *split, "--split", part) for part in ("train", "evaluation"))
    assert train and evaluation and len(train) + len(evaluation) == len(every)
    assert {line["task_id"] for line in train}.isdisjoint(line["task_id"] for line in evaluation)
    assert {line["split"] for line in lines_of(home, "--evaluation-share", "0")} == {"train"}


def test_the_split_has_the_share_that_is_asked_for_and_keeps_a_task_when_others_come() -> None:
    wanted = Wanted(evaluation_share=0.15, seed=42)
    parts = [wanted.part_of(f"task {number}") for number in range(2000)]
    assert 0.13 < parts.count("evaluation") / 2000 < 0.17
    smaller = Wanted(evaluation_share=0.05, seed=42)
    within = [number for number in range(2000) if smaller.part_of(f"task {number}") == "evaluation"]
    assert all(parts[number] == "evaluation" for number in within), "a larger share only adds tasks"


def test_prompts_of_other_settings_are_not_made_up(home: Path, server: ModelServer) -> None:
    panel = json.loads((home / "panel.yaml").read_text())
    panel["judges"][0]["model"] = "another"
    (home / "panel.yaml").write_text(json.dumps(panel))
    for line in lines_of(home, "--judge", "writes"):
        assert line["messages"] is None and line["prompt_length"] is None and line["reply"]


def test_judges_of_another_panel_are_named(home: Path) -> None:
    (home / "panel.yaml").unlink()
    for more in ((), ("--judge", "writes")):
        output = str(home / "no.jsonl")
        done = command("export", "d", "--format", "judge_prompts", "--output", output, *more, home=home)
        assert done.returncode == 2
        assert f"d was judged by decides, writes, not in {home}/panel.yaml. Set EVALUATION_PANEL" in done.stderr


def test_options_that_do_not_fit_are_refused(home: Path) -> None:
    for more, why in (
        (("--format", "judge_prompts", "--judge", "write"), "did you mean 'writes'?"),
        (("--format", "judge_prompts", "--judge", "rules"), "'rules' is not a judge that asks a model"),
        (("--format", "judge_prompts", "--split", "train"), "--split needs --evaluation-share"),
        (("--format", "judge_prompts", "--task", "zzz"), "no verdict of a model in d matches --task zzz\n"),
        (
            ("--format", "judge_prompts", "--level", "session", "--judge", "writes", "--task", "t1"),
            "no verdict of a model in d matches --level session\n",
        ),
        (
            ("--format", "judge_prompts", "--level", "turn", "--task", "zzz"),
            "no verdict of a model in d matches --level turn --task zzz\n",
        ),
        (
            ("--format", "judge_prompts", "--tool-type", "browser", "--judge", "writes"),
            "no verdict of a model in d matches --tool-type browser\n",
        ),
        (("--format", "atif", "--level", "clip"), "are for --format judge_prompts"),
    ):
        done = command("export", "d", "--output", str(home / "no.jsonl"), *more, home=home)
        assert done.returncode == 2 and why in done.stderr, done.stderr
        assert not (home / "no.jsonl").exists()


def test_a_correction_is_what_was_asked_last(
    tmp_path: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", "any")
    home = tmp_path / "home"
    home.mkdir()
    (home / "panel.yaml").write_text(json.dumps({"judges": [judge(server, levels=["answer"])]}))
    (tmp_path / "d.jsonl").write_bytes(record("t1"))
    server.script([rule("text", text="I would say 4 of 5.", times=1)])
    assert command("evaluate", tmp_path / "d.jsonl", "--yes", "--quiet", home=home).returncode in (0, 1)
    (line,) = lines_of(home)
    assert [message["role"] for message in line["messages"]] == ["system", "user", "assistant", "user"]
    assert line["messages"][2]["content"] == "I would say 4 of 5." and line["outcome"] in ("scored", "abstained")
