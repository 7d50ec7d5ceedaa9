"""Samples of Inspect logs as trajectories."""

import json
import zipfile
import zlib
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pytest

from evaluation_assets.core.traces.formats.base import Rejection, Sample, UnreadableDrop
from evaluation_assets.core.traces.formats.readers.inspect_ai import detect
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import Trajectory, Usage
from evaluation_assets_tests.core.traces.formats.readers.summaries import summary_of
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, check, read, trajectories
from evaluation_assets_tests.third_party import data

FIXTURE = FIXTURES / "inspect_ai" / "log.json"
LOG = orjson.loads(FIXTURE.read_bytes())


def archived(folder: Path, samples: list[Any], header: str = "header.json") -> Path:
    """The log as an `.eval` archive."""
    path = folder / "log.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(header, json.dumps({key: LOG[key] for key in ("version", "status", "eval")}))
        for number, sample in enumerate(samples):
            archive.writestr(f"samples/{number}_epoch_1.json", json.dumps(sample))
        archive.writestr("summaries.json", "[]")
    return path


def zstandard(path: Path) -> Path:
    """The archive with its members compressed as Inspect does since 0.3.206: Zstandard, method 93 of zip."""
    target = path.with_name("zstandard.eval")
    with zipfile.ZipFile(path) as plain, zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for name in plain.namelist():
            content = plain.read(name)
            archive.writestr(name, pa.compress(content, "zstd", asbytes=True))
            member = archive.getinfo(name)
            member.compress_type, member.file_size, member.CRC = 93, len(content), zlib.crc32(content)
    return target


def test_a_sample_and_epoch_is_a_trajectory() -> None:
    first, second = trajectories(FIXTURE)
    check(first)
    check(second)
    assert [(run.id, run.task_id, run.trial) for run in (first, second)] == [
        ("sums/first", "sums/first", 0),
        ("sums/first#1", "sums/first", 1),
    ]
    assert first.task == second.task == "Add 2 and 3, and look up the weather."
    assert (first.final_answer, first.reference_answer) == ("5", "5\nfive")
    assert (first.started_at, first.duration_s) == ("2026-02-01T08:00:01+00:00", 4.5)
    (agent,) = first.agents
    assert (agent.model, agent.description) == ("provider/model-a", "You add numbers.")
    assert agent.tools is not None and [tool.name for tool in agent.tools] == ["add"]


def test_calls_results_and_reasoning() -> None:
    first, _ = trajectories(FIXTURE)
    calls = [
        (step.call.name, first.arguments(step.call), first.piece(step.result.content), step.result.error)
        for step in first.calls
        if step.call and step.result
    ]
    assert calls == [
        ("add", {"x": 2, "y": 3}, "5", None),
        ("weather", {"city": "Berlin"}, "Command timed out", "Command timed out"),
        ("submit", {"answer": "5"}, "5", None),
    ]
    assert first.piece(first.calls[0].thought) == "Both at once."


def test_tokens_are_those_of_the_agent_and_not_of_the_grader() -> None:
    first, second = trajectories(FIXTURE)
    assert first.usage is not None and second.usage is not None
    assert (first.usage.input_tokens, first.usage.cached_tokens, first.usage.output_tokens) == (100 + 140, 40, 26)
    assert (second.usage.input_tokens, second.usage.output_tokens) == (7, 2)  # no events: all there is
    assert [step.latency_ms for step in first.calls] == [1500, None, 500]


def test_scores_are_outcome_and_labels() -> None:
    first, second = trajectories(FIXTURE)
    assert first.success is True
    assert first.labels["scores"] == {"match": "C", "model_graded_qa": "C"}
    assert first.labels["verdicts"] == [
        {
            "judge": "model_graded_qa",
            "level": "trajectory",
            "subject": "answer",
            "verdict": "C",
            "reasoning": "It is five.",
        }
    ]
    assert second.success is None  # incorrect says one scorer, half the other
    assert "It is five" not in first.text


def test_a_sample_that_was_cut_off_is_marked() -> None:
    _, second = trajectories(FIXTURE)
    assert second.flags == ("step_limit", "no_answer")
    assert second.extra["limit"] == "message"


@pytest.mark.parametrize(
    ("scores", "success"),
    [
        ({"a": {"value": "C"}}, True),
        ({"a": {"value": "I"}}, False),
        ({"a": {"value": "N"}}, False),
        ({"a": {"value": "P"}}, None),
        ({"a": {"value": 1}, "b": {"value": True}}, True),
        ({"a": {"value": 0.0}}, False),
        ({"a": {"value": 0.7}}, None),
        ({"a": {"value": {"x": 1}}}, None),
        ({"a": {"value": "C"}, "b": {"value": "I"}}, None),
        ({}, None),
    ],
)
def test_success_is_what_all_scorers_agree_on(tmp_path: Path, scores: Any, success: bool | None) -> None:
    (run,) = trajectories(archived(tmp_path, [{**LOG["samples"][0], "scores": scores}]))
    assert run.success is success


@pytest.mark.parametrize("header", ["header.json", "_journal/start.json"])
def test_an_archive_gives_what_the_json_log_gives(tmp_path: Path, header: str) -> None:
    assert trajectories(archived(tmp_path, LOG["samples"], header)) == trajectories(FIXTURE)


def test_an_archive_of_zstandard_members_gives_what_the_json_log_gives(tmp_path: Path) -> None:
    assert trajectories(zstandard(archived(tmp_path, LOG["samples"]))) == trajectories(FIXTURE)


def test_a_zstandard_member_with_another_checksum_is_unreadable(tmp_path: Path) -> None:
    path = zstandard(archived(tmp_path, LOG["samples"]))
    with zipfile.ZipFile(path, "a") as archive:
        archive.getinfo("samples/0_epoch_1.json").CRC ^= 1
        archive.writestr("reductions.json", "[]")
    with pytest.raises(UnreadableDrop, match="Bad CRC-32"):
        read(path)


def test_chunked_samples_are_refused(tmp_path: Path) -> None:
    path = archived(tmp_path, [])
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("samples/first_epoch_1/sample.json", "{}")
    with pytest.raises(UnreadableDrop, match="chunked samples"):
        read(path)


def test_a_log_with_nan_as_python_writes_it_is_read(tmp_path: Path) -> None:
    log = {**LOG, "samples": [{**LOG["samples"][0], "total_time": float("nan")}]}
    (tmp_path / "log.json").write_text(json.dumps(log))
    (run,) = trajectories(tmp_path)
    assert (run.task_id, run.duration_s) == ("sums/first", None)


def test_what_is_not_represented_is_counted() -> None:
    unmapped = UnmappedFields()
    trajectories(FIXTURE, unmapped=unmapped)
    assert unmapped.table() == [
        ("events[] (sample_init)", 1),
        ("events[] (score)", 1),
        ("events[] (tool)", 1),
        ("limit.limit", 1),
    ]


def test_a_log_without_samples_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "log.json").write_bytes(orjson.dumps({**LOG, "status": "error", "samples": None}))
    (rejection,) = read(tmp_path)
    assert isinstance(rejection, Rejection)
    assert rejection.reason == "no_trajectory_text"


def test_a_sample_without_messages_of_the_model_is_rejected(tmp_path: Path) -> None:
    items = read(archived(tmp_path, [{"id": 1, "input": "x"}, [], LOG["samples"][0]]))
    assert [item.reason if isinstance(item, Rejection) else "run" for item in items] == [
        "no_trajectory_text",
        "wrong_type",
        "run",
    ]


def test_another_file_of_the_drop_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "notes.json").write_bytes(b'[{"a": 1}]')
    (tmp_path / "log.json").write_bytes(orjson.dumps(LOG))
    items = read(tmp_path)
    assert [(item.source, item.reason) for item in items if isinstance(item, Rejection)] == [
        ("notes.json", "not_this_format")
    ]
    assert len(items) == 3


def test_a_cut_archive_is_unreadable(tmp_path: Path) -> None:
    path = archived(tmp_path, LOG["samples"])
    content = bytearray(path.read_bytes())
    content[200:260] = b"\x00" * 60
    path.write_bytes(content)
    with pytest.raises(UnreadableDrop, match=r"log\.eval"):
        read(path)


def test_logs_are_recognised_by_content() -> None:
    assert detect(Sample((LOG,)))
    assert detect(Sample(members=("samples/1_epoch_1.json", "header.json")))
    assert not detect(Sample(({"eval": {"task": "x"}, "status": "ok"},)))
    assert not detect(Sample(members=("word/document.xml",)))


def test_the_logs_of_others_load() -> None:
    runs = trajectories(data("inspect-logs"))
    for run in runs:
        check(run)
    assert [run.success for run in runs] == [True, True, False, True, True, True, False]
    assert summary_of(data("inspect-logs")).repeated_records == 1, "one log is there as .eval, too"
    cancelled = [run for run in runs if run.extra["status"] == "cancelled"]
    assert sum((run.usage.input_tokens or 0) for run in cancelled if run.usage) == 192
    assert {run.format for run in runs} == {"inspect_ai"}
    assert all(isinstance(run, Trajectory) and run.final_answer and run.reference_answer for run in runs)


def retried(*errors: str) -> dict[str, Any]:
    """A sample that failed before, as Inspect 0.3.285 logs it with `retry_on_error`."""
    sample = json.loads(json.dumps(LOG["samples"][0]))
    call = {"id": "lost-{}", "function": "add", "arguments": {"x": 2, "y": 3}, "type": "function"}
    sample["error_retries"] = [
        {
            "message": error, "traceback": "Traceback ...", "traceback_ansi": "Traceback ...",
            "events": [
                {"event": "model", "timestamp": "2026-02-01T08:00:00+00:00", "model": "provider/model-a", "output": {
                    "model": "provider/model-a", "completion": "", "error": None,
                    "choices": [{"stop_reason": "tool_calls", "message": {
                        "role": "assistant", "content": "", "tool_calls": [call | {"id": f"lost-{number}"}]}}],
                    "usage": {"input_tokens": 7, "output_tokens": 2, "total_tokens": 9},
                }},
                {"event": "tool", "timestamp": "2026-02-01T08:00:00+00:00", "id": f"lost-{number}", "function": "add",
                 "arguments": {"x": 2, "y": 3}, "error": None},
            ],
        }
        for number, error in enumerate(errors)
    ]  # fmt: skip
    return sample


def test_attempts_that_failed_are_named_and_their_tokens_counted(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    samples = [retried("OSError('disk full')", "TimeoutError()")]
    path.write_bytes(orjson.dumps({**LOG, "results": {"total_samples": 1}, "samples": samples}))
    (before, _), (run,) = trajectories(FIXTURE), trajectories(path)
    check(run)
    assert run.extra["failed_attempts"] == ["OSError('disk full')", "TimeoutError()"]
    assert run.text == before.text
    assert run.usage is not None and before.usage is not None
    assert run.usage.input_tokens == (before.usage.input_tokens or 0) + 14
    assert run.usage.output_tokens == (before.usage.output_tokens or 0) + 4
    assert summary_of(path).sentence == (
        "partial: 2 failed attempts before the last one, of which the log keeps only the last request"
    )


def test_a_sample_that_broke_before_its_first_message_is_a_run_without_an_outcome(tmp_path: Path) -> None:
    sample = {"id": "third", "epoch": 1, "input": "Add 4 and 5.", "target": "9", "scores": {}, "events": []}
    sample["messages"] = [{"role": "user", "content": "Add 4 and 5."}, {"role": "assistant", "content": ""}]
    sample["error"] = {"message": "ConnectionError('no route')", "traceback": "Traceback ..."}
    (run,) = trajectories(archived(tmp_path, [sample]))
    check(run)
    assert (run.task, run.success, run.calls) == ("Add 4 and 5.", None, [])
    assert (run.flags, run.extra["error"]) == (("no_answer", "failed"), "ConnectionError('no route')")


def test_a_sample_without_messages_and_without_an_error_is_rejected(tmp_path: Path) -> None:
    (rejection,) = read(archived(tmp_path, [{"id": "third", "epoch": 1, "input": "Add.", "messages": []}]))
    assert isinstance(rejection, Rejection) and rejection.reason == "no_trajectory_text"


def test_the_sample_1_and_the_sample_of_the_text_1_are_two_tasks(tmp_path: Path) -> None:
    samples = [
        {**LOG["samples"][0], "id": name, "epoch": epoch} for name, epoch in ((1, 1), (1, 2), ("1", 1), ("1", 2))
    ]
    runs = trajectories(archived(tmp_path, samples))
    found = [(run.task_id, run.trial) for run in runs]
    assert found == [("sums/1", 0), ("sums/1", 1), ("sums/1 (text)", 0), ("sums/1 (text)", 1)]
    assert len({run.id for run in runs}) == 4


OWN, GRADER = {"input_tokens": 7, "output_tokens": 2}, {"input_tokens": 50, "output_tokens": 9}
BOTH = {"input_tokens": 57, "output_tokens": 11}
GRADED = {"model_graded_qa": {"value": "C", "metadata": {"grading": [{"role": "user", "content": "Grade it."}]}}}


@pytest.mark.parametrize(
    ("about", "sample", "usage"),
    [
        (
            {"model_roles": {"grader": {"model": "provider/judge"}}},
            {"model_usage": {"provider/model-a": OWN, "provider/judge": GRADER}, "role_usage": {"grader": GRADER}},
            Usage(input_tokens=7, output_tokens=2),
        ),
        (
            {"scorers": [{"name": "model_graded_qa", "options": {"model": "provider/judge"}}]},
            {"model_usage": {"provider/model-a": OWN, "provider/judge": GRADER}},
            Usage(input_tokens=7, output_tokens=2),
        ),
        (
            {},
            {"model_usage": {"provider/model-a": BOTH}, "role_usage": {"grader": GRADER}},
            Usage(input_tokens=7, output_tokens=2),
        ),
        ({}, {"model_usage": {"provider/model-a": BOTH}}, None),
    ],
)
def test_tokens_of_a_grader_are_none_of_the_run(
    tmp_path: Path, about: dict[str, Any], sample: dict[str, Any], usage: Usage | None
) -> None:
    said = {"role": "assistant", "content": "Hm"}
    messages = [{"role": "user", "content": "Add."}, said, {"role": "user", "content": "And?"}, said]
    graded = {**LOG["samples"][1], "messages": messages, "scores": GRADED, **sample}
    (tmp_path / "log.json").write_bytes(orjson.dumps({**LOG, "eval": {**LOG["eval"], **about}, "samples": [graded]}))
    (run,) = trajectories(tmp_path / "log.json")
    assert run.usage == usage


def test_answers_from_the_cache_cost_nothing(tmp_path: Path) -> None:
    sample = json.loads(json.dumps(LOG["samples"][0]))
    first, *others = [event for event in sample["events"] if event["event"] == "model"]
    first["cache"] = "read"
    (tmp_path / "log.json").write_bytes(orjson.dumps({**LOG, "samples": [sample]}))
    (run,) = trajectories(tmp_path / "log.json")
    assert run.usage is not None
    assert run.usage.output_tokens == sum(event["output"]["usage"]["output_tokens"] for event in others)


def test_a_log_that_is_there_in_both_forms_is_read_once(tmp_path: Path) -> None:
    samples = LOG["samples"]
    archived(tmp_path, samples)
    (tmp_path / "log.json").write_bytes(orjson.dumps(LOG))
    runs = trajectories(tmp_path)
    assert len(runs) == len(samples)
    assert summary_of(tmp_path).repeated_records == len(samples)
    other = {**LOG, "eval": LOG["eval"] | {"run_id": "other", "eval_id": "other"}}
    (tmp_path / "log.json").write_bytes(orjson.dumps(other))
    assert len(trajectories(tmp_path)) == 2 * len(samples), "the same answers in another run are further trials"
