"""`export --format inspect`: written by Inspect AI, read again by Inspect AI and by our own reader.

Inspect AI is heavy, and is taken from this environment or from one of its own (`benchmarks/frameworks`).
"""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets_tests.conftest import SAMPLE, Workspace
from evaluation_assets_tests.core.traces.formats.reading import read, trajectories

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "evaluation-assets" / "frameworks"
VERSION = f"python{sys.version_info.major}.{sys.version_info.minor}"
FOLDER = CACHE / "inspect_ai" / "lib" / VERSION / "site-packages"

EXPORT = "import sys; sys.path.append(sys.argv.pop(1)); from evaluation_assets.cli.main import main; main()"
READ = """
import json, sys
sys.path.append(sys.argv[1])
from inspect_ai.log import read_eval_log
log = read_eval_log(sys.argv[2])
print(json.dumps({
    "status": log.status,
    "means": {s.name: s.metrics["mean"].value for s in log.results.scores},
    "samples": [
        {
            "id": s.id, "target": s.target, "answer": s.output.completion,
            "scores": {name: score.value for name, score in s.scores.items()},
            "calls": [
                [c.id, c.function, c.arguments] for m in s.messages for c in getattr(m, "tool_calls", None) or []
            ],
            "clips": [
                [e.score.metadata, e.score.value, e.score.explanation, e.intermediate]
                for e in s.events if e.event == "score"
            ],
            "results": [[m.tool_call_id, m.text, m.error and m.error.message] for m in s.messages if m.role == "tool"],
        }
        for s in log.samples
    ],
}))
"""

needs_inspect = pytest.mark.skipif(
    find_spec("inspect_ai") is None and not (FOLDER / "inspect_ai").exists(),
    reason="Inspect AI is not installed; run benchmarks/frameworks",
)


def python(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "ignore", "-c", code, str(FOLDER), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def calls_of(run: Trajectory) -> list[tuple[str, Any]]:
    """Names and arguments; a call that is not JSON object, such as code, has its text as the one argument."""
    return [
        (step.call.name, {"arguments": run.piece(step.call.raw)} if found is None else found)
        for step in run.calls
        if step.call is not None
        for found in [run.arguments(step.call)]
    ]


def results_of(run: Trajectory) -> list[tuple[str, str | None]]:
    return [(run.piece(step.result.content), step.result.error) for step in run.steps if step.result is not None]


@needs_inspect
def test_inspect_reads_the_same_calls_results_answers_and_scores(installation: Workspace, tmp_path: Path) -> None:
    installation.drop("assistants", SAMPLE.read_bytes())
    assert installation.run("assistants").success
    output = tmp_path / "out.eval"
    options = ["--format", "inspect", "--output", output, "--home", installation.home.root]
    done = python(EXPORT, "export", "assistants", *options)
    assert (done.returncode, done.stdout) == (0, f"{output}: 16 trajectories\n"), done.stderr
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["out.eval"]

    own = {run.task_id: run for run in read(SAMPLE) if isinstance(run, Trajectory)}
    log = json.loads(python(READ, output).stdout)
    overall = [row for row in installation.rows("assistants", "trajectory_scores") if row["criterion"] == "overall"]
    assert log["status"] == "success"
    assert log["means"]["overall"] == pytest.approx(sum(row["mean"] for row in overall) / 16)
    assert log["means"]["success"] == pytest.approx(11 / 14)
    assert {sample["id"] for sample in log["samples"]} == {row["trajectory_id"] for row in overall}
    for sample in log["samples"]:
        run = own[sample["id"]]
        assert (sample["answer"] or None, sample["target"] or None) == (run.final_answer, run.reference_answer)
        assert [(name, arguments) for _, name, arguments in sample["calls"]] == calls_of(run)
        assert [(text, error) for _, text, error in sample["results"]] == results_of(run)
        assert {call_id for call_id, _, _ in sample["results"]} - {None} <= {
            call_id for call_id, _, _ in sample["calls"]
        }
        expected = next(row["mean"] for row in overall if row["trajectory_id"] == sample["id"])
        assert sample["scores"]["overall"] == pytest.approx(expected)
        assert sample["scores"].get("success") == {True: "C", False: "I", None: None}[run.success]

    wanted: dict[tuple[str, int], dict[str, float]] = {}
    for row in installation.rows("assistants", "clip_scores"):
        if row["mean"] is not None:
            wanted.setdefault((row["trajectory_id"], row["clip_index"]), {})[row["criterion"]] = row["mean"]
    shown = {(one["id"], about["clip_index"]): value for one in log["samples"] for about, value, _, _ in one["clips"]}
    assert len(wanted) > 40
    assert shown == {clip: pytest.approx(scores) for clip, scores in wanted.items()}
    for sample in log["samples"]:
        assert [about["clip_index"] for about, *_ in sample["clips"]] == sorted(
            about["clip_index"] for about, *_ in sample["clips"]
        )
        tool_calls = [call_id for call_id, _, _ in sample["calls"]]
        for about, _, explanation, intermediate in sample["clips"]:
            is_final = about["tool_type"] == "final"
            assert about.get("tool_call_id") == (None if is_final else tool_calls[about["clip_index"]])
            assert about["judges"] == ["rules"] and explanation and intermediate

    for again in trajectories(output):
        run = own[again.task_id.removeprefix("assistants/")]
        assert (calls_of(again), results_of(again)) == (calls_of(run), results_of(run))
        assert again.final_answer == run.final_answer


def test_the_file_has_the_suffix_of_a_log(installation: Workspace, tmp_path: Path) -> None:
    installation.drop("assistants", SAMPLE.read_bytes())
    assert installation.run("assistants").success
    options = ["--format", "inspect", "--output", tmp_path / "out.jsonl", "--home", installation.home.root]
    done = python(EXPORT, "export", "assistants", *options)
    assert done.returncode == 2
    assert "ends with .eval or .json" in done.stderr
