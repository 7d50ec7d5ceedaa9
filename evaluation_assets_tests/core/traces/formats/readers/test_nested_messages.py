"""Messages of supported formats in records of an own form."""

from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pytest

from evaluation_assets.core.traces.formats.base import UnreadableDrop
from evaluation_assets.core.traces.formats.mixed_records import WHOLE_DOCUMENTS
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import JsonObject, Usage
from evaluation_assets_tests.core.traces.formats.readers.summaries import summary_of, written
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, calls_of, read, records_of, trajectories

RESULTS = FIXTURES / "nested_messages" / "results.json"
DATA = orjson.loads(RESULTS.read_bytes())
CHAT: list[JsonObject] = DATA["results"][0]["chat_log"]
BLOCKS: list[JsonObject] = DATA["results"][1]["run"]["transcript"]
OTHERS: list[JsonObject] = [
    {"role": "user", "content": "Is order 9 paid?"},
    {"role": "assistant", "content": "It is not."},
]
CALLS = [("look_up", {"order": 7}, "paid")]


def test_runs_of_results_have_their_own_formats_outcomes_and_models() -> None:
    seven, eight = sorted(trajectories(RESULTS), key=lambda run: run.task_id)
    assert [(run.task_id, run.success) for run in (seven, eight)] == [("order-7", True), ("order-8", False)]
    assert calls_of(seven) == CALLS and calls_of(eight) == [("look_up", {"order": 8}, "no such order")]
    assert [run.agents[0].model for run in (seven, eight)] == ["model-a", "model-b"]
    assert seven.source is not None and (seven.source.file, seven.source.line) == ("results.json", 1)
    assert summary_of(RESULTS).trust == "complete"


@pytest.mark.parametrize("as_lines", [False, True])
def test_the_agent_and_its_tokens_may_stand_beside_a_message(tmp_path: Path, as_lines: bool) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "look_up", "arguments": '{"order": 7}'}}
    said: list[JsonObject] = [
        {"agent": "user", "message": {"role": "user", "content": "Is order 7 paid?"}},
        {"agent": "planner", "message": {"role": "assistant", "content": "Look, clerk."}},
        {"agent": "clerk", "message": {"role": "assistant", "content": None, "tool_calls": [call]}},
        {"agent": "clerk", "message": {"role": "tool", "tool_call_id": "c", "content": "paid"}},
        {"agent": "clerk", "message": {"role": "assistant", "content": "It is."}},
    ]
    for number in (1, 2, 4):
        said[number]["usage"] = {"prompt_tokens": 10, "completion_tokens": 2}
    path = tmp_path / "run.jsonl"
    path.write_bytes(b"\n".join(map(orjson.dumps, said)) if as_lines else orjson.dumps({"id": "a", "log": said}))
    (run,) = trajectories(path)
    assert calls_of(run) == CALLS and run.final_answer == "It is."
    assert {agent.id for agent in run.agents} == {"planner", "clerk"}
    assert run.usage == Usage(input_tokens=30, output_tokens=6)


RECORDS = [
    (path.relative_to(FIXTURES).parts[0], record)
    for path in sorted(FIXTURES.rglob("*.json*"))
    for record in records_of(path)
]
"""Every record of every fixture, with its format."""


def read_alone(folder: Path, record: Any) -> tuple[str, int, int]:
    """How far the reading of a record can be trusted, and how many calls and results it has."""
    try:
        said = summary_of(written(folder, record))
    except UnreadableDrop:
        return "refused", 0, 0
    return said.trust, said.calls, said.results


@pytest.mark.slow
def test_a_record_inside_another_is_read_as_by_itself_or_not_as_complete(tmp_path: Path) -> None:
    same, others = Counter[str](), []
    for name, record in RECORDS:
        if not isinstance(record, dict):
            continue
        alone = read_alone(tmp_path, record)
        if alone[0] == "refused" or name in WHOLE_DOCUMENTS:
            continue
        for outer in ({"id": "r1", "run": record}, {"id": "r1", "payload": orjson.dumps(record).decode()}):
            inside = read_alone(tmp_path, outer)
            same[name] += inside[1:] == alone[1:]
            if inside[0] == "complete" and inside[1:] != alone[1:]:
                others.append((name, alone, inside))
    assert others == []
    assert {"mini_swe_agent", "vapi", "langfuse", "mlflow", "atif", "browser_use", "crewai"} <= {
        name for name, times in same.items() if times
    }


@pytest.mark.parametrize("name", ["history", "turns", "events", "full_trajectory", "result", "raw_messages"])
def test_the_messages_of_a_record_may_have_any_name(tmp_path: Path, name: str) -> None:
    about = {"task_id": "t-1", "model": "model-a", "success": True, "usage": {"input_tokens": 9, "output_tokens": 2}}
    (run,) = trajectories(written(tmp_path, {**about, name: CHAT}))
    assert (run.task_id, run.success, run.agents[0].model) == ("t-1", True, "model-a")
    assert (calls_of(run), run.usage) == (CALLS, Usage(input_tokens=9, output_tokens=2))


@pytest.mark.parametrize(
    "record",
    [
        {"order-7": CHAT, "order-9": OTHERS},
        {"order-7": {"log": CHAT}, "order-9": {"log": OTHERS}},
        {"results": {"first": {"log": CHAT}, "other": {"log": OTHERS}}},
        {"data": [{"id": "a", "messages": CHAT}, {"id": "b", "messages": OTHERS}]},
        {"data": {"rows": [{"log": [*CHAT[:2]]}, {"log": CHAT}, {"log": OTHERS}]}},
    ],
)
def test_each_run_of_a_list_or_by_its_task_is_a_trajectory(tmp_path: Path, record: JsonObject) -> None:
    one, other = trajectories(written(tmp_path, record))
    assert (calls_of(one), calls_of(other)) == (CALLS, [])
    assert one.task_id != other.task_id


@pytest.mark.parametrize(
    "record",
    [
        {"input": CHAT[:1], "output": CHAT[1:]},
        {"inputs": {"messages": CHAT[:1]}, "outputs": {"messages": CHAT[1:]}},
        {"inputs": {"messages": CHAT[:1]}, "outputs": {"messages": CHAT}},
        {"messages_of_agent": CHAT, "log": CHAT[:2]},
    ],
)
def test_what_was_given_stands_before_what_was_said_and_a_copy_counts_once(tmp_path: Path, record: JsonObject) -> None:
    (run,) = trajectories(written(tmp_path, record))
    assert (run.task, calls_of(run), len(run.turns)) == ("Is order 7 paid?", CALLS, 1)


@pytest.mark.parametrize(
    "record",
    [
        {"researcher": CHAT, "writer": OTHERS},
        {"agents": [{"log": CHAT}, {"log": OTHERS}]},
        {"chosen": CHAT, "rejected": OTHERS},
        {"few_shots": CHAT, "question": "Is order 9 paid?"},
        {"task": {"prompt": CHAT}},
    ],
)
def test_what_may_be_one_run_or_none_is_not_guessed(tmp_path: Path, record: JsonObject) -> None:
    with pytest.raises(UnreadableDrop, match="is in no supported format"):
        read(written(tmp_path, record))


def test_a_record_without_messages_is_rejected(tmp_path: Path) -> None:
    records: list[Any] = [{"log": CHAT}, {"log": []}, 7]
    summary = summary_of(written(tmp_path, *records))
    assert (summary.trajectories, summary.rejected, summary.trust) == (1, 2, "partial")


@pytest.mark.parametrize(
    "lost", [{"id": "c", "error": "crashed"}, {"id": "c", "log": []}, {"id": "c", "log": CHAT[:1]}]
)
def test_runs_of_a_list_without_messages_are_missing(tmp_path: Path, lost: JsonObject) -> None:
    summary = summary_of(written(tmp_path, {"runs": [{"id": "a", "log": CHAT}, lost]}))
    assert (summary.trajectories, summary.trust) == (1, "partial")


def test_attempts_are_runs_of_the_task_above_them(tmp_path: Path) -> None:
    attempts = [{"attempt": 1, "log": CHAT, "success": False}, {"attempt": 2, "log": OTHERS, "success": True}]
    one, other = trajectories(written(tmp_path, {"taskId": "t-1", "attempts": attempts}))
    assert [(run.task_id, run.trial, run.success) for run in (one, other)] == [("t-1", 1, False), ("t-1", 2, True)]
    one, other = trajectories(written(tmp_path, {"task": "airline", "results": attempts}))
    assert one.task_id != other.task_id


@pytest.mark.parametrize("place", ["result", "output"])
def test_results_may_stand_in_their_calls(tmp_path: Path, place: str) -> None:
    call = {"name": "look_up", "arguments": {"order": 7}, place: "paid"}
    said = {"role": "assistant", "content": "It is.", "tool_calls": [call]}
    (run,) = trajectories(written(tmp_path, {"log": [CHAT[0], said]}))
    assert calls_of(run) == CALLS


@pytest.mark.parametrize(
    "record",
    [
        {"order-7": [CHAT, OTHERS], "order-9": [OTHERS]},
        {"order-7": [{"log": CHAT}, {"log": OTHERS}], "order-9": [{"log": OTHERS}]},
        {"results": {"order-7": {"runs": [CHAT, OTHERS]}, "order-9": {"runs": [OTHERS]}}},
    ],
)
def test_several_runs_of_each_task_have_its_name(tmp_path: Path, record: JsonObject) -> None:
    runs = trajectories(written(tmp_path, record))
    assert sorted((run.task_id, len(calls_of(run))) for run in runs) == [("order-7", 0), ("order-7", 1), ("order-9", 0)]


@pytest.mark.parametrize("name", ["name", "sender", "agent_name"])
def test_messages_name_their_agents(tmp_path: Path, name: str) -> None:
    log = [*({**message, name: "planner"} if "tool_calls" in message else message for message in CHAT[:-1])]
    (run,) = trajectories(written(tmp_path, {"log": [*log, {**CHAT[-1], name: "writer"}]}))
    assert [agent.id for agent in run.agents] == ["planner", "writer"]


def test_records_of_an_own_form_are_read_among_chats(tmp_path: Path) -> None:
    steps = {
        "task_id": "steps",
        "steps": [{"tool": "look_up", "args": {"order": 7}, "result": "paid"}],
        "answer": "Yes.",
    }
    chats = [{"task_id": name, "messages": OTHERS} for name in ("first", "last")]
    found = trajectories(written(tmp_path, chats[0], {"task_id": "own", "chat_log": CHAT}, steps, chats[1]))
    assert {run.task_id: (run.source and run.source.line, calls_of(run)) for run in found} == {
        "first": (1, []),
        "own": (2, CALLS),
        "steps": (3, CALLS),
        "last": (4, []),
    }


def test_messages_in_events_of_the_agent_sdk_are_read_block_by_block(tmp_path: Path) -> None:
    used = {"input_tokens": 30, "output_tokens": 5}
    asked, called, shown, said = ({**message} for message in BLOCKS)
    call, blocks = called["content"][-1], [{"type": "text", "text": "I look."}]
    parts = [{**called, "content": part, "id": "m1", "usage": used} for part in (blocks, [call])]
    messages = (asked, *parts, shown, {**said, "usage": used})
    wrapped = [{"type": message["role"], "message": message} for message in messages]
    (run,) = trajectories(written(tmp_path, {"messages": wrapped}))
    assert [name for name, _, _ in calls_of(run)] == ["look_up"]
    assert "I look." in run.text
    assert run.usage == Usage(input_tokens=60, output_tokens=10)


def test_spans_of_a_model_whose_words_are_not_understood_are_told(tmp_path: Path) -> None:
    def ended(name: str, kind: str, parent: str | None, **attributes: Any) -> JsonObject:
        ids = {"span_id": name, "trace_id": "t", "parent_id": parent}
        times = {"start_time": "2026-05-04T10:00:00Z", "end_time": "2026-05-04T10:00:01Z"}
        return {"event": "end", "span": {**ids, "name": name, "kind": kind, **times, "attributes": attributes}}

    words = {"llm.request.messages": [{"role": "user", "content": "What is 2 * 3?"}], "llm.response.content": "6"}
    tool = {"tool.name": "calculator", "tool.result": "6"}
    spans = [
        ended("s2", "llm", "s1", **words),
        ended("s3", "tool", "s2", **tool),
        ended("s1", "agent", None, **{"agent.name": "m"}),
    ]
    summary = summary_of(written(tmp_path, *spans))
    assert (summary.trust, "1 span without messages" in summary.sentence) == ("doubtful", True)
    assert "messages in spans[].llm.request.messages" in summary.sentence


def test_answers_below_the_settings_of_a_benchmark_have_its_model_and_their_own_tokens(tmp_path: Path) -> None:
    record = {
        "question": "Is order 17 paid?",
        "target": "yes",
        "prediction": "It is.",
        "agent_tokens": {"input": 90, "output": 8},
    }
    document = {
        "run_metadata": {"model": "model-a"},
        "systems": {"desk": {"records": [{**record, "grade": "CORRECT", "latency_seconds": 36.0}]}},
    }
    (run,) = trajectories(written(tmp_path, document))
    assert (run.agents[0].model, run.usage, run.duration_s, run.success) == (
        "model-a", Usage(input_tokens=90, output_tokens=8), 36.0, True
    )  # fmt: skip


def test_what_stands_above_several_runs_and_says_nothing_of_each_is_unmapped(tmp_path: Path) -> None:
    run = {"messages": [{"role": "user", "content": "Weigh it."}, {"role": "assistant", "content": "90 g."}]}
    unmapped = UnmappedFields()
    path = written(tmp_path, {"task_id": "t", "reviewer": "Ada", "accuracy": 0.5, "notes": "", "runs": [run, run]})
    assert [run.task_id for run in trajectories(path, unmapped=unmapped)] == ["t", "t"]
    assert unmapped.counts == {"reviewer": 1, "accuracy": 1}


@pytest.mark.parametrize("name", ["messages", "log", "history"])
def test_messages_from_a_user_to_agents_are_a_run_and_letters_are_none(tmp_path: Path, name: str) -> None:
    said = [("user", "planner", "Add two numbers"), ("planner", "coder", "Write it"), ("coder", "user", "Done")]
    messages = [{"from": one, "to": other, "content": text} for one, other, text in said]
    (run,) = trajectories(written(tmp_path, {"task": "Add two numbers", name: messages, "is_correct": False}))
    assert ([agent.id for agent in run.agents], run.success) == (["planner", "coder"], False)
    letters = [{**message, "from": f"{message['from']}@example.org"} for message in messages]
    with pytest.raises(UnreadableDrop):
        trajectories(written(tmp_path, {"subject": "Numbers", "log": letters}))
