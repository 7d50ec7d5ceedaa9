"""Folders with one run each, and what the files beside the run say of it."""

import json
from pathlib import Path
from typing import Any

import pytest
from upath import UPath

from evaluation_assets.core.traces.formats.base import DropFile, Rejection
from evaluation_assets.core.traces.formats.import_report import ImportReport
from evaluation_assets.core.traces.formats.registry import format_of
from evaluation_assets.core.traces.trajectories.model import Trajectory

_CALL = {"id": "c", "function": {"name": "lower_bridge", "arguments": "{}"}}
_MESSAGES = [
    {"role": "user", "content": "Lower the bridge"},
    {"role": "assistant", "content": None, "tool_calls": [_CALL]},
    {"role": "tool", "tool_call_id": "c", "content": "down"},
    {"role": "assistant", "content": "It is down."},
]
_RESULT = {"task_id": "bridge", "success": True, "score": 0.75, "cost_usd": 0.04, "duration_s": 12.5}


def _read(root: Path, files: dict[str, Any]) -> tuple[list[Trajectory], list[Rejection], ImportReport]:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    found = [DropFile(UPath(root / name), name) for name in sorted(files)]
    report = ImportReport()
    items = list(report.read(format_of(found), found))
    runs = [each for each in items if isinstance(each, Trajectory)]
    return runs, [each for each in items if isinstance(each, Rejection)], report


@pytest.mark.parametrize("run", [_MESSAGES, {"messages": _MESSAGES}, {"steps": {"chat_log": _MESSAGES}}])
def test_what_stands_beside_a_run_is_known_of_it(tmp_path: Path, run: Any) -> None:
    files: dict[str, Any] = {"results/summary.json": {"runs": 2, "success_rate": 0.5}}
    for trial in (0, 1):
        folder = f"results/bridge/{trial}"
        files[f"{folder}/run.json"] = run
        files[f"{folder}/result.json"] = {**_RESULT, "trial": trial, "success": trial == 0, "note": "windy"}
        files[f"{folder}/config.json"] = {"model": "model-a", "agent": "keeper", "temperature": 0}
        files[f"{folder}/stdout.log"] = "starting\ndone\n"
    runs, rejected, report = _read(tmp_path, files)
    assert rejected == [] and report.summary.trust == "complete"
    assert [(each.id, each.task_id, each.trial, each.success) for each in runs] == [
        ("bridge", "bridge", 0, True),
        ("bridge#1", "bridge", 1, False),
    ]
    first = runs[0]
    assert (first.duration_s, first.labels, first.extra["temperature"]) == (12.5, {"score": 0.75}, 0)
    assert first.usage is not None and first.usage.cost_usd == 0.04
    assert [(agent.model, agent.name) for agent in first.agents] == [("model-a", "keeper")]
    assert first.source is not None and first.source.file == "results/bridge/0/run.json"
    counted = dict(report.unmapped.table())
    assert counted["stdout.log (a file without runs)"] == 2 and counted["summary.json (a file without runs)"] == 1
    assert counted["result.json.note"] == 2


@pytest.mark.parametrize(("text", "outcome"), [("1\n", True), ("0.0", False), ("0.5", None), ("good", None)])
def test_a_file_may_hold_the_reward_alone(tmp_path: Path, text: str, outcome: bool | None) -> None:
    runs, rejected, _ = _read(tmp_path, {"a/run.json": _MESSAGES, "a/reward.txt": text})
    assert ([each.success for each in runs], rejected) == ([outcome], [])


def test_a_contradiction_is_doubtful(tmp_path: Path) -> None:
    run = {"messages": _MESSAGES, "success": False}
    runs, _, report = _read(tmp_path, {"a/run.json": run, "a/result.json": _RESULT})
    assert [each.success for each in runs] == [False] and report.summary.trust == "doubtful"
    assert "outcome of a run" in report.summary.sentence


def test_what_a_run_says_itself_stays(tmp_path: Path) -> None:
    run = {"messages": _MESSAGES, "task_id": "own", "cost": 0.5, "model": "model-b"}
    (one,), _, _ = _read(tmp_path, {"a/run.json": run, "a/result.json": _RESULT, "a/config.json": {"model": "model-a"}})
    assert (one.id, one.task_id, one.agents[0].model) == ("own", "own", "model-b")
    assert one.usage is not None and one.usage.cost_usd == 0.5


@pytest.mark.parametrize(
    "beside",
    [
        {"id": "x", "trace": [{"action": "look"}, {"action": "lift"}]},  # a run in a form that nobody knows
        [{"a": 1}, {"a": 2}],
        "user: Lower it.\nassistant: I lower it.\nuser: Thanks.\nassistant: It is down.\n",
    ],
)
def test_what_may_be_a_run_is_not_left_out(tmp_path: Path, beside: Any) -> None:
    name = "a/other.txt" if isinstance(beside, str) else "a/other.json"
    runs, rejected, report = _read(tmp_path, {"a/run.json": _MESSAGES, name: beside})
    assert len(runs) == 1 and rejected and report.summary.trust == "partial"


def test_files_beside_several_runs_are_rejected(tmp_path: Path) -> None:
    lines = "\n".join(json.dumps({"messages": _MESSAGES, "task_id": name}) for name in "ab")
    runs, rejected, _ = _read(tmp_path, {"a/runs.jsonl": lines, "a/result.json": _RESULT})
    assert [each.success for each in runs] == [None, None]
    assert [each.source for each in rejected] == ["a/result.json"]
    files = {"a/one.json": _MESSAGES, "a/two.json": _MESSAGES, "a/result.json": _RESULT}
    runs, rejected, _ = _read(tmp_path / "more", files)
    assert [each.success for each in runs] == [None, None]
    assert [each.source for each in rejected] == ["a/result.json"]
