"""Conversations of the OpenHands SDK, shaped by its event classes in OpenHands/software-agent-sdk 611629e69."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from evaluation_assets.core.traces.formats.import_report import ImportReport
from evaluation_assets.core.traces.formats.registry import FORMATS
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import Trajectory, Usage
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, files_of, trajectories

FIXTURE = FIXTURES / "openhands_sdk"
EVENTS = [orjson.loads(path.read_bytes()) for path in sorted(FIXTURE.glob("*/events/*.json"))]


@pytest.fixture
def conversation() -> Trajectory:
    (run,) = trajectories(FIXTURE)
    return run


def test_the_files_of_a_folder_are_one_trajectory(conversation: Trajectory) -> None:
    assert (conversation.id, conversation.task, conversation.final_answer) == ("conv-1", "Fix the bug.", "Fixed.")
    assert [agent.model for agent in conversation.agents] == ["gpt-5"]


def test_calls_are_read_with_results_and_errors(conversation: Trajectory) -> None:
    called = [(step.call.id, step.result and step.result.error) for step in conversation.calls if step.call]
    assert called == [
        ("c1", None),
        ("c2", "exit code 1"),
        ("c3", "Error validating args: no command"),
        ("c4", "Do not delete."),
        ("c5", None),
    ]


def test_the_calls_of_a_response_are_one_message(conversation: Trajectory) -> None:
    first, second = conversation.calls[:2]
    assert conversation.piece(first.thought) == "See the folder."
    assert conversation.piece(first.message) == "I look first."
    assert (second.thought, second.message) == (None, None)
    assert first.usage == Usage(input_tokens=100, cached_tokens=10, output_tokens=10)


def test_the_usage_of_all_models_is_in_the_total(conversation: Trajectory) -> None:
    assert conversation.usage == Usage(input_tokens=640, cached_tokens=20, output_tokens=64, cost_usd=0.75)


def test_what_a_report_needs_is_kept(conversation: Trajectory) -> None:
    assert conversation.extra == {"session_id": "conv-1", "cwd": "/repo", "compactions": 1, "interruptions": 1}


def test_settings_are_not_kept(conversation: Trajectory) -> None:
    assert "api_key" not in repr(conversation)


def test_events_in_one_file_are_one_trajectory(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(b"".join(orjson.dumps(event) + b"\n" for event in EVENTS))
    (run,) = trajectories(path)
    assert len(run.calls) == 5


def test_the_reading_is_complete() -> None:
    report = ImportReport()
    assert len(list(report.read(FORMATS["openhands_sdk"], files_of(FIXTURE)))) == 1
    assert report.summary.sentence == "complete"
    assert report.summary.calls_in_source == 5


def test_an_event_of_an_unknown_kind_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    strange = {"kind": "HologramEvent", "source": "agent", "timestamp": "2026-03-01T10:00:00"}
    path.write_bytes(b"".join(orjson.dumps(event) + b"\n" for event in [*EVENTS, strange]))
    unmapped = UnmappedFields()
    trajectories(path, unmapped=unmapped)
    assert unmapped.notes == {("unknown_part", "HologramEvent"): 1}


def output(instance: str, **more: Any) -> dict[str, Any]:
    """A record of the benchmarks of OpenHands: `EvalOutput` in OpenHands/benchmarks."""
    requests = [{"response_id": "r1", "prompt_tokens": 100, "completion_tokens": 10, "cache_read_tokens": 10}]
    used = {"prompt_tokens": 640, "completion_tokens": 64, "cache_read_tokens": 20}
    return {
        "instance_id": instance,
        "attempt": 1,
        "instruction": "Fix the bug.",
        "metadata": {"llm": {"model": "gpt-5"}, "dataset": "bench", "max_iterations": 100},
        "history": EVENTS,
        "test_result": {"git_patch": "diff --git a/a.py b/a.py"},
        "metrics": {"accumulated_cost": 0.75, "accumulated_token_usage": used, "token_usages": requests},
        "error": None,
        **more,
    }


def test_records_of_a_benchmark_are_runs_with_the_outcomes_of_its_report(tmp_path: Path) -> None:
    lines = (output("repo-1"), output("repo-2"), output("repo-3", error="Agent got stuck", test_result={}))
    (tmp_path / "output.jsonl").write_bytes(b"\n".join(map(orjson.dumps, lines)))
    report = {"resolved_ids": ["repo-1"], "unresolved_ids": ["repo-2"], "error_ids": ["repo-3"]}
    (tmp_path / "output.report.json").write_bytes(orjson.dumps(report))
    runs = trajectories(tmp_path)
    assert [(run.task_id, run.success, run.flags) for run in runs] == [
        ("repo-1", True, ()),
        ("repo-2", False, ()),
        ("repo-3", None, ("failed",)),
    ]
    first = runs[0]
    assert (first.task, first.final_answer) == ("Fix the bug.", "diff --git a/a.py b/a.py")
    assert first.usage == Usage(input_tokens=640, cached_tokens=20, output_tokens=64, cost_usd=0.75)
    assert [agent.model for agent in first.agents] == ["gpt-5"]
    assert first.calls[0].usage == Usage(input_tokens=100, cached_tokens=10, output_tokens=10)
