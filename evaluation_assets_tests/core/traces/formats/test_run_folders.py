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
    assert "outcome of a run" in report.summary.sentence and runs[0].flags == ("two_outcomes",)


def test_what_a_run_says_itself_stays(tmp_path: Path) -> None:
    run = {"messages": _MESSAGES, "task_id": "own", "cost": 0.5, "model": "model-b"}
    (one,), _, report = _read(
        tmp_path, {"a/run.json": run, "a/result.json": _RESULT, "a/config.json": {"model": "model-a"}}
    )
    assert (one.id, one.task_id, one.agents[0].model) == ("own", "own", "model-b")
    assert report.summary.trust == "doubtful" and "task of a run" in report.summary.sentence
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


@pytest.mark.parametrize("name", ["expected.json", "Gold_answers.json", "task_schema.json"])
def test_what_would_be_right_is_not_what_was(tmp_path: Path, name: str) -> None:
    (run,), rejected, _ = _read(tmp_path, {"a/run.json": _MESSAGES, f"a/{name}": _RESULT})
    assert run.success is None and [each.source for each in rejected] == [f"a/{name}"]


def test_files_beside_several_runs_are_rejected(tmp_path: Path) -> None:
    lines = "\n".join(json.dumps({"messages": _MESSAGES, "task_id": name}) for name in "ab")
    runs, rejected, _ = _read(tmp_path, {"a/runs.jsonl": lines, "a/result.json": _RESULT})
    assert [each.success for each in runs] == [None, None]
    assert [each.source for each in rejected] == ["a/result.json"]
    files = {"a/one.json": _MESSAGES, "a/two.json": _MESSAGES, "a/result.json": {"note": "windy"}}
    runs, rejected, _ = _read(tmp_path / "more", files)
    assert [each.success for each in runs] == [None, None]
    assert [each.source for each in rejected] == ["a/result.json"]


def _of_task(name: str, **known: Any) -> dict[str, Any]:
    return {"messages": _MESSAGES, "task_id": name, **known}


_LINES = "\n".join(json.dumps(_of_task(name, trial=trial)) for name in ("lift", "drop") for trial in (0, 1))
_OUTCOMES = [
    {"task_id": name, "trial": trial, "success": (name == "lift") == (trial == 0)}
    for name in ("lift", "drop")
    for trial in (0, 1)
]


@pytest.mark.parametrize(
    "results",
    [
        "\n".join(map(json.dumps, _OUTCOMES)),
        json.dumps(_OUTCOMES),
        json.dumps({"accuracy": 0.5, "results": _OUTCOMES}),
        json.dumps({"model": "model-a", "details": {"tasks": _OUTCOMES[::-1]}}, indent=2),
    ],
)
def test_results_by_task_are_the_outcomes_of_the_runs(tmp_path: Path, results: str) -> None:
    runs, rejected, report = _read(tmp_path, {"exp/runs.jsonl": _LINES, "exp/scores.json": results})
    assert rejected == [] and report.summary.trust == "complete"
    assert [(each.task_id, each.trial, each.success) for each in runs] == [
        ("lift", 0, True),
        ("lift", 1, False),
        ("drop", 0, False),
        ("drop", 1, True),
    ]


@pytest.mark.parametrize("layout", ["runs/{}.json", "runs/{}/log.json"])
def test_a_run_may_be_named_after_its_task_by_its_file_or_folder(tmp_path: Path, layout: str) -> None:
    by_task = {"lift": {"success": True, "score": 0.9}, "drop": {"success": False, "score": 0.2}}
    files = {layout.format(name): _MESSAGES for name in by_task}
    runs, rejected, _ = _read(tmp_path, {**files, "results.json": by_task})
    assert rejected == []
    assert sorted((each.task_id, each.success, each.labels["score"]) for each in runs) == [
        ("drop", False, 0.2),
        ("lift", True, 0.9),
    ]


def test_outcomes_that_may_be_of_several_runs_or_of_none_are_rejected(tmp_path: Path) -> None:
    rows = [
        {"task_id": "lift", "success": True},
        {"task_id": "lift", "success": False},
        {"task_id": "sink", "reward": 1},
    ]
    files = {"runs.jsonl": json.dumps(_of_task("lift")), "scores.jsonl": "\n".join(map(json.dumps, rows))}
    (run,), rejected, _ = _read(tmp_path, files)
    assert run.success is None
    assert [each.detail for each in rejected] == [*["2 outcomes of task 'lift'"] * 2, "no run of task 'sink'"]
    assert [json.loads(each.raw) for each in rejected] == rows


@pytest.mark.parametrize("trials", [(0, 0), (0, 1)])
def test_a_row_without_a_trial_is_of_none_of_several_runs(tmp_path: Path, trials: tuple[int, int]) -> None:
    lines = "\n".join(json.dumps({**_of_task("lift", trial=trial), "note": n}) for n, trial in enumerate(trials))
    files = {"runs.jsonl": lines, "scores.json": {"lift": {"passed": True}}}
    runs, rejected, _ = _read(tmp_path, files)
    assert [each.success for each in runs] == [None, None]
    assert [each.detail for each in rejected] == ["2 runs of task 'lift', and no trial that says which"]


def test_results_that_stand_in_several_files_count_once(tmp_path: Path) -> None:
    rows = [{"task_id": "lift", "trial_name": f"lift.{number}.run", "is_resolved": number == 1} for number in (1, 2)]
    files: dict[str, Any] = {f"lift/{row['trial_name']}/logs/run.json": _MESSAGES for row in rows}
    files |= {f"lift/{row['trial_name']}/results.json": row for row in rows}
    runs, rejected, report = _read(tmp_path, {**files, "results.json": {"results": rows, "accuracy": 0.5}})
    assert [(each.id, each.success) for each in runs] == [("lift", True), ("lift#1", False)]
    assert rejected == [] and report.summary.trust == "complete"


def _outcomes(runs: list[Trajectory]) -> dict[str, bool | None]:
    return {each.source.file: each.success for each in runs if each.source is not None}


_TASKS = ("lift", "drop")


def _runs_of_models(layout: str) -> dict[str, Any]:
    return {layout.format(model=model, task=task): _MESSAGES for model in "ab" for task in _TASKS}


@pytest.mark.parametrize(
    ("layout", "results"),
    [
        ("exp/{model}/{task}/run.json", "exp/{model}/results.json"),
        ("exp/{model}/runs/{task}.json", "exp/{model}/eval/scores.json"),
        ("runs/{model}/{task}.json", "results/{model}.json"),
    ],
)
def test_results_of_a_model_are_not_those_of_another(tmp_path: Path, layout: str, results: str) -> None:
    said = {"a": {"lift": True, "drop": True}, "b": {"lift": False, "drop": True}}
    files = {results.format(model=m): {t: {"success": said[m][t]} for t in _TASKS} for m in "ab"}
    runs, rejected, report = _read(tmp_path, {**_runs_of_models(layout), **files})
    assert (rejected, report.summary.trust) == ([], "complete")
    assert _outcomes(runs) == {layout.format(model=m, task=t): said[m][t] for m in "ab" for t in _TASKS}


def test_results_of_one_model_are_not_those_of_one_without(tmp_path: Path) -> None:
    layout = "exp/{model}/{task}/run.json"
    files = {**_runs_of_models(layout), "exp/b/results.json": {task: {"success": False} for task in _TASKS}}
    runs, _, _ = _read(tmp_path, files)
    assert [each.success for each in runs] == [None, None, False, False]


@pytest.mark.parametrize("models", ["ab", "b"])
def test_rows_may_name_the_model(tmp_path: Path, models: str) -> None:
    rows = [{"task_id": task, "model": m, "success": m == "a"} for task in _TASKS for m in reversed(models)]
    lines = "\n".join(json.dumps(_of_task(task, model=f"x/{m}-2024-08-06")) for m in "ab" for task in _TASKS)
    files = {"runs.jsonl": lines, "scores.jsonl": "\n".join(map(json.dumps, rows))}
    runs, rejected, _ = _read(tmp_path, files)
    assert rejected == []
    assert [each.success for each in runs] == [*[True if "a" in models else None] * 2, False, False]


def _trials(*numbers: int, won: int) -> str:
    return "\n".join(json.dumps({"task_id": "lift", "trial": n, "success": n == won}) for n in numbers)


@pytest.mark.parametrize(
    ("runs", "results", "outcomes"),
    [
        ((0, 1, 2), _trials(1, 2, 3, won=1), [True, False, False]),
        ((1, 2, 3), _trials(0, 1, 2, won=0), [True, False, False]),
        ((1, 2, 3), _trials(1, 2, 3, won=3), [False, False, True]),
        ((0, 1, 2), _trials(0, 2, won=2), [False, None, True]),
        ((0, 1, 2), _trials(1, 2, won=2), [None, None, None]),
        ((0, 0), _trials(0, 1, won=0), [None, None]),
        ((0,), _trials(1, won=1), [True]),
        ((3, 4), _trials(5, won=5), [None, None]),
    ],
)
def test_trials_may_be_numbered_from_0_or_1(
    tmp_path: Path, runs: tuple[int, ...], results: str, outcomes: list[bool | None]
) -> None:
    lines = "\n".join(json.dumps({**_of_task("lift", trial=trial), "n": n}) for n, trial in enumerate(runs))
    found, rejected, _ = _read(tmp_path, {"runs.jsonl": lines, "scores.jsonl": results})
    assert [each.success for each in found] == outcomes
    assert bool(rejected) == (not any(outcomes))
    assert len({each.trial for each in found}) == len(runs)


@pytest.mark.parametrize(("folder", "first"), [("lift/{}", 0), ("lift/trial_{}", 1), ("exp/run-{}/lift", 1)])
def test_the_folder_of_a_run_may_be_named_after_its_trial(tmp_path: Path, folder: str, first: int) -> None:
    files = {f"{folder.format(n)}/run.json": _MESSAGES for n in (first, first + 1)}
    runs, rejected, _ = _read(tmp_path, {**files, "scores.jsonl": _trials(first + 1, first, won=first)})
    assert ([each.success for each in runs], rejected) == ([True, False], [])


@pytest.mark.parametrize(
    "results",
    [
        {"easy": {"lift": {"success": True}}, "hard": {"drop": {"success": False}}},
        {"passed": [{"task_id": "lift", "success": True}], "failed": [{"task_id": "drop", "success": False}]},
    ],
)
def test_results_in_groups_are_all_read(tmp_path: Path, results: Any) -> None:
    lines = "\n".join(json.dumps(_of_task(task)) for task in _TASKS)
    runs, _, _ = _read(tmp_path, {"runs.jsonl": lines, "scores.json": results})
    assert [each.success for each in runs] == [True, False]


def test_scores_that_contradict_each_other_are_no_scores(tmp_path: Path) -> None:
    lines = "\n".join(json.dumps(_of_task(task)) for task in _TASKS)
    files = {f"{n}.json": [{"task_id": "lift", "score": n / 10}] for n in (2, 9)}
    runs, rejected, _ = _read(tmp_path, {"runs.jsonl": lines, **files})
    assert [each.labels for each in runs] == [{}, {}] and len(rejected) == 2
    files = {"a/result.json": _RESULT, "a/metrics.json": {"score": 0.1}, "a/run.json": _MESSAGES}
    _, _, report = _read(tmp_path / "beside", files)
    assert report.summary.trust == "doubtful" and "score of a run" in report.summary.sentence


def test_the_name_of_a_file_may_have_dots(tmp_path: Path) -> None:
    files = {f"order.{n}.json": _MESSAGES for n in (7, 8)}
    results = {"order.7": {"success": True}, "order.8": {"success": False}}
    runs, rejected, _ = _read(tmp_path, {**files, "results.json": results})
    assert ([each.success for each in runs], rejected) == ([True, False], [])
    runs, rejected, _ = _read(tmp_path, {"results.json": {"order": {"success": True}}, **files})
    assert [each.success for each in runs] == [None, None] and len(rejected) == 1


def test_rows_with_steps_are_runs_in_a_form_that_nobody_knows(tmp_path: Path) -> None:
    rows = [{"task_id": "lift", "success": True, "trace": [{"action": "look"}, {"action": "lift"}]}]
    (run,), rejected, _ = _read(tmp_path, {"runs.jsonl": json.dumps(_of_task("lift")), "results.json": rows})
    assert run.success is None and len(rejected) == 1


@pytest.mark.parametrize("trials", [(0,), (0, 1)])
def test_an_outcome_above_the_folder_of_the_run_is_that_of_the_only_one(
    tmp_path: Path, trials: tuple[int, ...]
) -> None:
    files = {f"lift/{trial}/run.json": _MESSAGES for trial in trials}
    runs, rejected, _ = _read(tmp_path, {**files, "lift/result.json": {"success": True, "note": "windy"}})
    assert [each.success for each in runs] == ([True] if trials == (0,) else [None, None])
    assert [each.source for each in rejected] == ([] if trials == (0,) else ["lift/result.json"])


def test_the_model_and_cost_of_a_judge_are_not_those_of_the_run(tmp_path: Path) -> None:
    judged = {"model": "model-j", "score": 0.4, "cost_usd": 0.5, "duration_s": 3}
    files = {f"{task}/run.json": {"messages": _MESSAGES, "task_id": task} for task in _TASKS}
    (run, _), rejected, _ = _read(tmp_path, {**files, **{f"{task}/judge.json": judged for task in _TASKS}})
    assert (run.labels, rejected) == ({"score": 0.4}, [])
    assert (run.agents[0].model, run.usage, run.duration_s) == (None, None, None)
    rows = {task: {**judged, "task_id": task} for task in _TASKS}
    lines = "\n".join(json.dumps(_of_task(task, model="model-a")) for task in _TASKS)
    (run, _), rejected, _ = _read(tmp_path / "rows", {"runs.jsonl": lines, "judgements.json": rows})
    assert (run.labels, run.agents[0].model, run.usage, rejected) == ({"score": 0.4}, "model-a", None, [])


@pytest.mark.parametrize("name", ["shore_7", "dataset_of_bridges"])
def test_results_in_a_file_of_the_same_name_are_those_of_its_run(tmp_path: Path, name: str) -> None:
    checks = {"action_checks": [{"action": {"name": "lower_bridge"}, "action_match": True}] * 2}
    files: dict[str, Any] = {}
    for each, success in (("harbor_7", False), (name, True)):
        files[f"traces/{each}.json"] = {"task_id": "7", "trace": {"messages": _MESSAGES}}
        files[f"evaluations/{each}.json"] = {"task_id": "7", "success": success, "info": checks}
    runs, rejected, report = _read(tmp_path, files)
    assert rejected == [] and report.summary.trust == "complete"
    outcomes = {each.source.file: each.success for each in runs if each.source is not None}
    assert outcomes == {"traces/harbor_7.json": False, f"traces/{name}.json": True}
