"""The import report says so when a reading loses calls, doubles them, or does not understand a part of a message."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.traces.formats.base import DropFile, Format, Record, Rejection, UnreadableDrop
from evaluation_assets.core.traces.formats.call_census import census_of
from evaluation_assets.core.traces.formats.context import Context
from evaluation_assets.core.traces.formats.conversation import Conversation, trajectory_from
from evaluation_assets.core.traces.formats.import_report import ImportReport, ImportSummary
from evaluation_assets.core.traces.formats.isolation import each_record
from evaluation_assets.core.traces.formats.registry import FORMATS, format_of, read_by
from evaluation_assets.core.traces.formats.stated import Difference
from evaluation_assets.core.traces.formats.transcript import Call, Said
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets_tests.core.traces.formats.readers.summaries import written
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, files_of, read

Written = tuple[dict[str, Any], dict[str, Any]]
"""A message with one call, and the message that answers it."""


def openai(key: str) -> Written:
    call = {"id": key, "type": "function", "function": {"name": "look_up", "arguments": "{}"}}
    return {"role": "assistant", "tool_calls": [call]}, {"role": "tool", "tool_call_id": key, "content": "found"}


def bedrock(key: str) -> Written:
    call = {"toolUse": {"toolUseId": key, "name": "look_up", "input": {}}}
    result = {"toolResult": {"toolUseId": key, "content": [{"text": "found"}]}}
    return {"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}


def gemini(key: str) -> Written:
    call = {"functionCall": {"name": "look_up", "args": {"key": key}}}
    return {"role": "model", "parts": [call]}, {"role": "user", "parts": [{"functionResponse": {"name": "look_up"}}]}


def vercel(key: str) -> Written:
    call = {"type": "tool-call", "toolCallId": key, "toolName": "look_up", "input": {}}
    result = {"type": "tool-result", "toolCallId": key, "toolName": "look_up", "output": {"type": "text", "value": "x"}}
    return {"role": "assistant", "content": [call]}, {"role": "tool", "content": [result]}


def invented(key: str) -> Written:
    """A way to write calls that no framework has: only its field gives it away."""
    call = {"toolRequest": {"id": key, "name": "look_up", "input": {}}}
    return {"role": "assistant", "content": [call]}, {"role": "user", "content": [{"toolResponse": {"id": key}}]}


def anthropic(key: str) -> Written:
    call = {"type": "tool_use", "id": key, "name": "look_up", "input": {}}
    result = {"type": "tool_result", "tool_use_id": key, "content": "found"}
    return {"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}


def responses(key: str) -> Written:
    call = {"type": "function_call", "call_id": key, "name": "look_up", "arguments": "{}"}
    return call, {"type": "function_call_output", "call_id": key, "output": "found"}


SHAPES: list[Callable[[str], Written]] = [openai, bedrock, gemini, vercel, invented]


def summary_of(*paths: Path) -> ImportSummary:
    """The summary of a drop of these files."""
    files, report = files_of(*paths), ImportReport()
    list(report.read(format_of(files), files))
    return report.summary


def conversation(*calls: Written) -> dict[str, Any]:
    """A record in which the agent makes these calls, and then answers."""
    messages = [message for call in calls for message in call]
    return {"messages": [{"role": "user", "content": "Find it."}, *messages, {"role": "assistant", "content": "Done."}]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("drops")


@given(shapes=st.lists(st.lists(st.sampled_from(SHAPES), max_size=5), min_size=1, max_size=4))
def test_each_call_of_the_source_is_read_or_named_as_not_read(
    folder: Path, shapes: list[list[Callable[[str], Written]]]
) -> None:
    records = [
        conversation(*(shape(f"call-{run}-{number}") for number, shape in enumerate(one)))
        for run, one in enumerate(shapes)
    ]
    path = folder / "d.jsonl"
    path.write_bytes(b"\n".join(orjson.dumps(record) for record in records))
    found = summary_of(path)
    assert found.calls + found.calls_not_read + found.rejected_calls == sum(map(len, shapes))
    assert found.trust == "doubtful" or not found.calls_not_read


def test_a_message_part_that_no_reader_understands_is_a_doubt(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    path.write_bytes(orjson.dumps(conversation(openai("1"), invented("2"))))
    found = summary_of(path)
    assert (found.trust, found.calls, found.calls_not_read) == ("doubtful", 1, 1)
    assert found.unknown_parts == {"toolRequest": 1, "toolResponse": 1}
    assert found.sentence == (
        "doubtful: 1 call in the source could not be read; "
        "2 parts of messages could not be read: toolRequest, toolResponse"
    )


def test_a_call_that_stands_twice_in_a_trajectory_is_a_doubt(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    path.write_bytes(orjson.dumps(conversation(openai("1"), openai("1"), openai("2"))))
    found = summary_of(path)
    assert (found.calls, found.calls_in_source, found.repeated_calls) == (3, 2, 1)
    assert found.sentence == "doubtful: 1 repeated call with the ID of an earlier one"


def test_calls_of_a_rejected_record_are_not_missing(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    nobody = {"messages": [{"role": "system", "content": "Hello", "tool_calls": [openai("9")[0]["tool_calls"][0]]}]}
    path.write_bytes(orjson.dumps(conversation(openai("1"))) + b"\n" + orjson.dumps(nobody))
    found = summary_of(path)
    assert (found.rejected, found.calls_not_read, found.sentence) == (1, 0, "partial: 1 record rejected")


def test_a_call_is_missed_although_the_call_of_another_run_has_its_id(tmp_path: Path) -> None:
    def weighing(what: str) -> list[dict[str, Any]]:
        call = {"id": "call_0", "type": "function", "function": {"name": "weigh", "arguments": f'{{"what": "{what}"}}'}}
        return [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "call_0", "content": f"{what}: 90 g"},
        ]

    asked = [{"role": "user", "content": "Weigh it."}]
    read, missed = {"messages": [*asked, *weighing("flour")]}, {"request": {"messages": asked}}
    lost = written(tmp_path, read, {**missed, "response": {"messages": weighing("sugar")}})
    assert (summary_of(lost).calls_not_read, summary_of(lost).results_not_read) == (1, 1)
    repeated = written(tmp_path, read, {"messages": [*asked, *weighing("flour")]})
    assert (summary_of(repeated).calls_not_read, summary_of(repeated).results_not_read) == (0, 0)


def test_calls_without_a_result_are_a_gap_but_for_the_last(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    made = [openai("1")[0], openai("2")[0]]
    path.write_bytes(orjson.dumps({"messages": [{"role": "user", "content": "Find it."}, *made]}))
    assert summary_of(path).sentence == "partial: 1 call without a result"


def test_a_request_log_that_repeats_its_history_counts_each_call_once(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    messages = conversation(openai("1"), openai("2"))["messages"]
    log = [
        {"messages": messages[:end], "response": {"choices": [{"message": messages[end]}]}}
        for end in range(1, len(messages), 2)
    ]
    path.write_bytes(b"\n".join(map(orjson.dumps, log)))
    found = summary_of(path)
    assert (found.trajectories, found.calls, found.calls_in_source, found.trust) == (1, 2, 2, "complete")


@pytest.mark.parametrize("name", [folder.name for folder in sorted(FIXTURES.iterdir())])
def test_the_count_of_calls_is_a_lower_bound_in_every_format(name: str) -> None:
    found = summary_of(FIXTURES / name)
    assert found.calls_in_source - found.rejected_calls <= found.calls
    assert found.repeated_calls == 0


@pytest.mark.parametrize("name", [folder.name for folder in sorted(FIXTURES.iterdir())])
def test_a_record_is_counted_once_however_often_its_reader_looks_at_it(name: str) -> None:
    seen: Counter[tuple[str, str, int]] = Counter()
    files = files_of(FIXTURES / name)

    def note(record: Record) -> None:
        seen[record.source, record.within, record.line] += 1

    list(read_by(format_of(files), files, UnmappedFields(), note))
    assert set(seen.values()) <= {1}


@given(
    data=st.recursive(
        st.none() | st.text(max_size=5) | st.integers(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["type", "tool_calls", "id", "name", "functionCall", "attributes", "role", "args"]),
                inner,
            )
        ),
    )
)
def test_any_json_can_be_counted(data: Any) -> None:
    assert isinstance(census_of(data).tool_spans, frozenset)


@pytest.mark.slow
@pytest.mark.parametrize("folder", sorted(path.name for path in FIXTURES.iterdir()))
def test_a_format_that_the_files_do_not_have_is_rejected_or_doubtful(folder: str) -> None:
    files = files_of(FIXTURES / folder)
    for name in FORMATS.keys() - {folder}:
        report = ImportReport()
        with suppress(UnreadableDrop):
            list(report.read(format_of(files, name), files))
            assert report.summary.trust == "doubtful" or report.summary.trajectories == 0


def test_a_format_that_is_given_and_fits_is_no_doubt() -> None:
    files = files_of(FIXTURES / "openai_messages")
    report = ImportReport()
    list(report.read(format_of(files, "openai_messages"), files))
    assert report.summary.doubts == ()


@pytest.mark.parametrize("count", ["many", True, [1]])
def test_a_token_count_that_is_no_number_is_a_doubt_and_not_a_count(tmp_path: Path, count: Any) -> None:
    path = tmp_path / "d.jsonl"
    answer = {"choices": [{"message": {"role": "assistant", "content": "Hi"}}], "usage": {"prompt_tokens": count}}
    path.write_bytes(orjson.dumps({"messages": [{"role": "user", "content": "Hi"}], "response": answer}))
    found = summary_of(path)
    assert (found.trust, found.unknown_parts) == ("doubtful", {"prompt_tokens": 1})
    assert found.input_tokens is None


def test_records_in_other_shapes_than_the_first_are_read_in_theirs(tmp_path: Path) -> None:
    records = [
        conversation(bedrock("1")),
        conversation(openai("2")),
        conversation(vercel("3")),
        conversation(gemini("4")),
    ]
    for first in range(len(records)):
        path = tmp_path / f"{first}.jsonl"
        path.write_bytes(b"\n".join(map(orjson.dumps, records[first:] + records[:first])))
        found = summary_of(path)
        assert (found.trajectories, found.calls, found.stray_results, found.sentence) == (4, 4, 0, "complete")


def test_a_format_that_is_given_is_not_left_for_single_records(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    path.write_bytes(b"\n".join(map(orjson.dumps, [conversation(openai("1")), conversation(gemini("2"))])))
    runs = [item for item in read(path, format_name="openai_messages") if isinstance(item, Trajectory)]
    assert {run.format for run in runs} == {"openai_messages"}


def test_an_unanswered_call_is_a_gap_if_the_agent_went_on(tmp_path: Path) -> None:
    path = tmp_path / "d.json"
    user, answer = {"role": "user", "content": "Find it."}, {"role": "assistant", "content": "Done."}
    path.write_bytes(orjson.dumps({"messages": [user, openai("1")[0], answer]}))
    assert summary_of(path).sentence == "partial: 1 call without a result"
    path.write_bytes(orjson.dumps({"messages": [user, *openai("1"), openai("2")[0]]}))
    assert summary_of(path).sentence == "complete", "the run may have been stopped there"


@pytest.mark.parametrize("newest_first", [False, True])
def test_snapshots_of_a_growing_conversation_are_a_doubt(tmp_path: Path, newest_first: bool) -> None:
    whole = conversation(openai("1"), openai("2"))["messages"]
    snapshots = [{"messages": whole[:end]} for end in (2, 3, 6)]
    path = tmp_path / "d.jsonl"
    path.write_bytes(b"\n".join(map(orjson.dumps, reversed(snapshots) if newest_first else snapshots)))
    assert summary_of(path).sentence == (
        "doubtful: 2 trajectories with the beginning of another one; keep only the last record of a conversation"
    )


def test_a_trial_that_ends_where_another_one_goes_on_is_no_doubt(tmp_path: Path) -> None:
    whole = conversation(openai("1"), openai("2"))["messages"]
    path = tmp_path / "d.jsonl"
    path.write_bytes(
        b"\n".join(orjson.dumps({"messages": whole[:end], "trial": trial}) for trial, end in enumerate((3, 6)))
    )
    assert summary_of(path).trust == "complete"


@pytest.mark.parametrize("names", [("a", "b"), (7, 8)])
@pytest.mark.parametrize("field", ["session_id", "conversationId"])
def test_a_run_that_ends_where_one_of_another_conversation_goes_on_is_no_doubt(
    tmp_path: Path, field: str, names: tuple[Any, Any]
) -> None:
    whole = conversation(openai("1"), openai("2"))["messages"]
    runs = [{"messages": whole[:end], field: name} for end, name in zip((3, 6), names, strict=True)]
    path = tmp_path / "d.jsonl"
    path.write_bytes(b"\n".join(map(orjson.dumps, runs)))
    assert summary_of(path).repeated_beginnings == 0
    snapshots = [orjson.dumps({**run, field: names[0]}) for run in runs]
    path.write_bytes(b"\n".join(snapshots))
    assert (summary_of(path).repeated_beginnings, summary_of(path).trajectories) == (0, 1), "states of one conversation"
    path.write_bytes(b"\n".join(reversed(snapshots)))
    assert summary_of(path).repeated_beginnings == 1, "the newest first"
    path.write_bytes(b"\n".join(map(orjson.dumps, [runs[0], {"messages": whole}])))
    assert summary_of(path).repeated_beginnings == 1, "the other one may be any"


def test_a_trace_that_ends_where_another_one_goes_on_is_no_doubt(tmp_path: Path) -> None:
    def span(trace: str, end: int) -> dict[str, Any]:
        messages = whole[:end]
        parts = {"gen_ai.input.messages": messages[:-1], "gen_ai.output.messages": messages[-1:]}
        attributes = [{"key": key, "value": {"stringValue": json.dumps(value)}} for key, value in parts.items()]
        attributes.append({"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}})
        return {"traceId": trace * 32, "spanId": f"{trace * 15}{end}", "name": "chat", "attributes": attributes}

    whole = conversation(openai("1"), openai("2"))["messages"]
    spans = [span("a", 2), span("b", 2), span("b", 4)]
    path = tmp_path / "d.json"
    path.write_bytes(orjson.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}))
    summary = summary_of(path)
    assert (summary.trajectories, summary.repeated_beginnings) == (2, 0)


def test_equal_trials_of_a_task_are_no_doubt(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    path.write_bytes(b"\n".join([orjson.dumps(conversation(openai("1")))] * 3))
    assert summary_of(path).trust == "complete"


def test_a_tool_span_that_was_exported_twice_is_one_call() -> None:
    span = {"spanId": "s1", "attributes": [{"key": "gen_ai.operation.name", "value": {"stringValue": "execute_tool"}}]}
    assert len(census_of([span, span]).tool_spans) == 1


REACT = "Thought: I look it up.\nAction: search\nAction Input: {}\nObservation: found\nFinal Answer: it is there"


def test_calls_that_nothing_answers_are_a_doubt(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "Find it"}, {"role": "assistant", "content": REACT}]
    unanswered = [messages[0], {"role": "assistant", "content": REACT.partition("Observation")[0]}]
    plain = [{"role": "user", "content": "Find it"}, {"role": "assistant", "content": "Action: none is needed."}]
    for name, record, expected in (
        ("react.jsonl", {"messages": messages}, "complete"),
        ("unanswered.jsonl", {"messages": unanswered}, "doubtful"),
        ("listed.jsonl", {"messages": plain, "tools_used": ["search"]}, "doubtful"),
        ("plain.jsonl", {"messages": plain, "tools_used": []}, "complete"),
    ):
        (tmp_path / name).write_bytes(orjson.dumps(record) + b"\n")
        assert summary_of(tmp_path / name).trust == expected, name


@pytest.mark.parametrize("shape", [openai, anthropic, vercel, responses])
def test_results_that_a_reader_loses_are_a_doubt(tmp_path: Path, shape: Callable[[str], Written]) -> None:
    """The reader of this test reads calls and no results."""

    def lossy(files: Sequence[DropFile], _: UnmappedFields) -> Iterator[Trajectory | Rejection]:
        def trajectory_of(record: Record) -> Trajectory:
            calls = tuple(Call(name="look_up", id=key) for key in ("1", "2"))
            said = (Said(calls=calls), Said(message="Done."))
            return trajectory_from("lossy", Conversation(events=said), Context(id=str(record.line)))

        return each_record(files, trajectory_of)

    path = tmp_path / "d.jsonl"
    path.write_bytes(orjson.dumps(conversation(shape("1"), shape("2"))))
    report = ImportReport()
    list(report.read(Format("lossy", "", "", lambda _: True, lossy), files_of(path)))
    assert report.summary.sentence == "doubtful: 2 results in the source could not be read; 2 calls without a result"


@pytest.mark.parametrize(
    ("stated", "read", "expected"),
    [
        (5, 5, "complete"),
        (None, 5, "complete"),
        (5, None, "complete"),
        (5, 3, "partial: 5 steps stated by the source, 3 read"),
        (3, 5, "doubtful: 3 steps stated by the source, 5 read"),
    ],
)
def test_what_the_source_states_and_the_reading_does_not_confirm_is_told(
    stated: int | None, read: int | None, expected: str
) -> None:
    report = ImportReport()
    report.unmapped.stated.compare("step", stated, read)
    assert report.summary.sentence == expected


def test_differences_in_several_places_are_summed(tmp_path: Path) -> None:
    usages = [{"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": total} for total in (11, 20, 30)]
    records = [
        {"messages": [{"role": "user", "content": str(total)}], "response": answer_with(total)} for total in usages
    ]
    path = tmp_path / "d.jsonl"
    path.write_bytes(b"\n".join(map(orjson.dumps, records)))
    assert summary_of(path).sentence == "partial: 50 tokens stated by the source, 22 read in 2 places"
    assert ImportSummary.model_validate_json(summary_of(path).model_dump_json()).differences == (
        Difference("token", 2, 50, 22),
    )


def answer_with(usage: dict[str, int]) -> dict[str, Any]:
    return {"choices": [{"message": {"role": "assistant", "content": "Hi"}}], "usage": usage}


@pytest.mark.parametrize("name", ["few_shot", "few_shot_examples", "fewshot", "demonstrations", "examples"])
def test_examples_beside_a_chat_are_no_calls_that_were_missed(tmp_path: Path, name: str) -> None:
    example = [
        {"role": "user", "content": "Is order 1 paid?"},
        {"role": "assistant", "tool_calls": [{"id": "e", "function": {"name": "look_up", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "e", "content": "paid"},
    ]
    chat = [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Hello."}]
    for shown in (example, [{"messages": example}]):
        path = tmp_path / "chat.json"
        path.write_bytes(orjson.dumps({"messages": chat, name: shown}))
        files, report = files_of(path), ImportReport()
        list(report.read(format_of(files), files))
        assert report.summary.trust == "complete"


@pytest.mark.parametrize(
    ("field", "trust"), [("executed_actions", "doubtful"), ("toolResults", "doubtful"), ("note", "complete")]
)
def test_fields_that_tell_of_calls_are_doubted_where_no_call_was_read(tmp_path: Path, field: str, trust: str) -> None:
    messages = [{"role": "user", "content": "Is it paid?"}, {"role": "assistant", "content": "Yes.", field: "look_up"}]
    assert summary_of(written(tmp_path, {"messages": messages})).trust == trust


def test_prompts_alone_are_runs_and_that_is_told(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    prompt = {"messages": [{"role": "user", "content": "Hello"}]}
    path.write_bytes(b"\n".join(orjson.dumps({**prompt, "id": number}) for number in range(2)))
    assert summary_of(path).sentence == "partial: 2 runs in which no agent acted, without an outcome"
    path.write_bytes(orjson.dumps({**prompt, "success": False}))
    assert summary_of(path).trust == "complete"


@pytest.mark.parametrize(
    ("call", "result"),
    [
        ("<tool_use>\n<name>look_up</name>\n<arguments>{}</arguments>\n</tool_use>", "paid"),  # Cherry Studio
        ("<use_mcp_tool>\n<tool_name>look_up</tool_name>\n</use_mcp_tool>", "paid"),
        ("I look it up: look_up 17", "<tool_use_result>\npaid\n</tool_use_result>"),
        ("I look it up: look_up 17", "<tool_result>paid</tool_result>"),
    ],
)
def test_calls_in_texts_of_a_form_that_is_not_read_are_doubted(tmp_path: Path, call: str, result: str) -> None:
    said = [("user", "Is it paid?"), ("assistant", call), ("user", result), ("assistant", "It is paid.")]
    path = written(tmp_path, {"messages": [{"role": role, "content": text} for role, text in said]})
    found = summary_of(path)
    assert (found.calls, found.calls_as_text, found.trust) == (0, 1, "doubtful")
