"""Messages whose parts name their kind in a way of their own: Bedrock, the AI SDK, Gemini, Google ADK."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from evaluation_assets.core.traces.formats.base import UnreadableDrop
from evaluation_assets.core.traces.trajectories.model import Usage
from evaluation_assets_tests.core.traces.formats.readers.summaries import (
    calls_and_errors,
    files_of_all,
    summary_of,
    written,
)
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, calls_of, check, recorded_usage, trajectories

BEDROCK, VERCEL = FIXTURES / "bedrock_converse", FIXTURES / "vercel_ai"
GEMINI, ADK = FIXTURES / "gemini", FIXTURES / "google_adk"


@pytest.mark.parametrize("name", ["messages.json", "requests.jsonl", "invocation_log.jsonl"])
def test_calls_of_bedrock_have_their_results_and_errors(name: str) -> None:
    (run,) = trajectories(BEDROCK / name)
    assert calls_and_errors(run) == [
        ('{"oven":"north"}', None),
        ('{"oven":"south"}', "the south oven is offline"),
    ]
    assert run.piece(run.calls[0].thought) == "I check both ovens."
    assert run.piece(run.calls[0].message) == "Let me look."


def test_requests_of_bedrock_are_one_conversation_with_the_usage_of_each_answer() -> None:
    (run,) = trajectories(BEDROCK / "requests.jsonl")
    assert run.usage == Usage(input_tokens=90, cached_tokens=20, output_tokens=17)
    assert run.final_answer == "Yes, the north oven is free at noon."
    assert (run.agents[0].description, run.agents[0].model) == ("You are a baker.", "anthropic.claude-sonnet-4-5")
    assert [tool.name for tool in run.agents[0].tools or ()] == ["oven_slots"]


def test_an_answer_of_bedrock_cut_off_by_its_limit_is_marked() -> None:
    (run,) = trajectories(BEDROCK / "invocation_log.jsonl")
    assert run.flags == ("truncated",) and run.final_answer is not None


def test_messages_of_a_strands_session_are_one_conversation(tmp_path: Path) -> None:
    """`message_<n>.json` of FileSessionManager, strands-agents 1.62."""
    messages = orjson.loads((BEDROCK / "messages.json").read_bytes())
    stored = [
        {"message": message, "message_id": number, "redact_message": None, "created_at": "2026-01-01T00:00:00Z"}
        for number, message in enumerate(messages)
    ]
    (run,) = trajectories(written(tmp_path, *stored))
    assert (len(run.turns), len(run.calls)) == (2, 2)


def test_the_files_of_a_strands_session_are_one_conversation_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    messages = orjson.loads((BEDROCK / "messages.json").read_bytes())
    folder = tmp_path / "session_1" / "agents" / "agent_desk" / "messages"
    folder.mkdir(parents=True)
    (tmp_path / "session_1" / "session.json").write_bytes(orjson.dumps({"session_id": "1", "session_type": "AGENT"}))
    for number in range(12):
        message = (
            messages[number] if number < len(messages) else {"role": "assistant", "content": [{"text": f"m{number}"}]}
        )
        stored = orjson.dumps({"message": message, "message_id": number}, option=orjson.OPT_INDENT_2)
        (folder / f"message_{number}.json").write_bytes(stored)
    (run,) = trajectories(tmp_path)
    assert (len(run.turns), len(run.calls)) == (2, 2)
    assert run.text.index("m9") < run.text.index("m10")


def test_a_part_of_bedrock_that_nobody_knows_is_named(tmp_path: Path) -> None:
    messages = [
        {"role": "user", "content": [{"text": "Go"}]},
        {
            "role": "assistant",
            "content": [{"text": "I go."}, {"toolUse": {"toolUseId": "t", "name": "go", "input": {}}}],
        },
        {"role": "user", "content": [{"toolResult": {"toolUseId": "t", "content": [{"hologram": {"x": 1}}]}}]},
    ]
    found = summary_of(written(tmp_path, messages))
    assert (found.trust, found.unknown_parts) == ("doubtful", {"hologram": 1})


@pytest.mark.parametrize("name", ["model_messages.json", "generate_text.jsonl", "ui_messages.json"])
def test_calls_of_the_ai_sdk_have_their_results_and_errors(name: str) -> None:
    (run,) = trajectories(VERCEL / name)
    assert calls_and_errors(run)[:2] == [('{"city":"Bern"}', None), ('{"city":"Basel"}', "no station in Basel")]
    assert run.final_answer == "It rains in Bern; for Basel I have no station."
    assert run.piece(run.calls[0].thought) == "Two cities."


def test_usage_and_system_prompt_of_the_ai_sdk() -> None:
    (run,) = trajectories(VERCEL / "generate_text.jsonl")
    assert recorded_usage(run) == Usage(input_tokens=90, output_tokens=20)
    assert run.agents[0].description == "You are a weather desk."
    (shown,) = trajectories(VERCEL / "ui_messages.json")
    assert recorded_usage(shown) == recorded_usage(run)


def test_a_call_in_the_messages_of_version_4_is_read_once() -> None:
    (run,) = trajectories(VERCEL / "version_4.jsonl")
    assert [name for name, _, _ in calls_of(run)] == ["weather"]
    assert run.final_answer == "Yes."


def test_a_call_of_a_ui_message_that_did_not_run_has_no_result(tmp_path: Path) -> None:
    parts = [
        {"type": "tool-pay", "toolCallId": "a", "state": "input-available", "input": {"chf": 3}},
        {"type": "tool-pay", "toolCallId": "b", "state": "output-denied", "input": {"chf": 9}},
    ]
    record = {
        "messages": [
            {"role": "user", "parts": [{"type": "text", "text": "Pay"}]},
            {"role": "assistant", "parts": parts},
        ]
    }
    (run,) = trajectories(written(tmp_path, record))
    assert [step.result and step.result.error for step in run.calls] == [None, "execution denied"]


@pytest.mark.parametrize("name", ["result_7.json", "on_end_7.jsonl", "on_step_finish_5.jsonl"])
def test_the_steps_of_a_generation_are_one_conversation(name: str) -> None:
    """Shapes that `ai` 7.0.173 and 5.0.277 gave with a mock model; an error is an empty object in JSON."""
    (run,) = trajectories(VERCEL / name)
    check(run)
    assert calls_and_errors(run) == [('{"city":"Bern"}', None), ('{"city":"Basel"}', "Error: no station in Basel")]
    assert [result for _, _, result in calls_of(run)] == [
        '{\n  "type": "rain",\n  "mm": 3\n}',
        "Error: no station in Basel",
    ]
    assert run.piece(run.calls[0].thought) == "Two cities."
    assert run.final_answer == "It rains in Bern; for Basel I have no station."
    assert recorded_usage(run) == Usage(input_tokens=100, cached_tokens=20, output_tokens=20)
    assert [step.usage and step.usage.input_tokens for step in run.steps] == [40, None, 60]
    assert run.agents[0].model == "gpt-5"


def test_a_result_without_a_usable_id_costs_no_other(tmp_path: Path) -> None:
    result = orjson.loads((VERCEL / "result_7.json").read_bytes())
    for step in result["steps"]:
        for message in step["response"]["messages"]:
            if message["role"] == "tool":
                message["content"].append({**message["content"][0], "toolCallId": {"no": "text"}})
    assert calls_of(*trajectories(written(tmp_path, result))) == calls_of(*trajectories(VERCEL / "result_7.json"))


def test_the_result_of_version_4_has_its_prompt_before_its_steps() -> None:
    """Shape that `ai` 4.3.19 gave; the prompt and the system prompt were added by who stored it."""
    (run,) = trajectories(VERCEL / "result_4.json")
    assert (run.task, run.agents[0].description) == ("Is it raining in Bern and in Basel?", "You are a weather desk.")
    assert [(arguments, result) for _, arguments, result in calls_of(run)] == [
        ({"city": "Bern"}, '{\n  "rain": true\n}'),
        ({"city": "Basel"}, "none"),
    ]
    assert recorded_usage(run) == Usage(input_tokens=100, output_tokens=20)
    assert (run.agents[0].model, run.started_at) == ("gpt-4.1", "2025-03-01T08:00:00.000Z")


def test_messages_that_go_on_to_the_answer_are_not_repeated_by_the_steps(tmp_path: Path) -> None:
    result = orjson.loads((VERCEL / "result_7.json").read_bytes())
    answers = [message for step in result["steps"] for message in step["response"]["messages"]]
    (run,) = trajectories(written(tmp_path, {**result, "messages": [{"role": "user", "content": "Rain?"}, *answers]}))
    assert (run.task, len(run.calls)) == ("Rain?", 2)


def test_messages_that_mastra_stores_are_conversations_by_their_thread(tmp_path: Path) -> None:
    def stored(thread: str, role: str, *parts: dict[str, Any]) -> dict[str, Any]:
        content = {"format": 2, "parts": parts, "content": "said"}
        return {"id": "m", "role": role, "threadId": thread, "resourceId": "r", "type": "v2", "content": content}

    thought = {"type": "reasoning", "reasoning": "", "details": [{"type": "text", "text": "I look."}]}
    call = {"state": "result", "toolCallId": "c1", "toolName": "look_up", "args": {"order": 17}, "result": "paid"}
    messages = [
        stored("t1", "user", {"type": "text", "text": "Is order 17 paid?"}),
        stored(
            "t1",
            "assistant",
            thought,
            {"type": "tool-invocation", "toolInvocation": call},
            {"type": "text", "text": "It is paid."},
        ),
        stored("t2", "user", {"type": "text", "text": "Hello."}),
        stored("t2", "assistant", {"type": "text", "text": "Yes?"}),
    ]
    path = written(tmp_path, *messages)
    run, other = trajectories(path)
    assert calls_of(run) == [("look_up", {"order": 17}, "paid")]
    assert run.piece(run.calls[0].thought) == "I look."
    assert (run.task, run.final_answer) == ("Is order 17 paid?", "It is paid.")
    assert (other.task, other.final_answer) == ("Hello.", "Yes?")
    assert summary_of(path).trust == "complete"


def test_steps_of_two_generations_are_two_conversations(tmp_path: Path) -> None:
    result = orjson.loads((VERCEL / "result_7.json").read_bytes())
    other = [{**step, "callId": "call-2"} for step in result["steps"]]
    five = [orjson.loads(line) for line in (VERCEL / "on_step_finish_5.jsonl").read_bytes().splitlines()]
    again = [{**step, "response": {**step["response"], "id": f"again-{index}"}} for index, step in enumerate(five)]
    runs = trajectories(written(tmp_path, *result["steps"], *other, *five, *again))
    assert [len(run.calls) for run in runs] == [2, 2, 2, 2]


@pytest.mark.parametrize("name", ["contents.json", "logs.jsonl"])
def test_calls_of_gemini_have_their_results_and_errors(name: str) -> None:
    (run,) = trajectories(GEMINI / name)
    assert calls_and_errors(run) == [('{"lake":"Thun"}', None), ('{"lake":"Brienz"}', "no survey of Brienz")]
    assert run.piece(run.calls[0].thought) == "Two lakes."
    assert "Thun is 217 m deep. Brienz is unknown." in run.text


def test_logs_of_gemini_have_the_usage_of_each_answer_with_its_reasoning() -> None:
    (run,) = trajectories(GEMINI / "logs.jsonl")
    assert recorded_usage(run) == Usage(input_tokens=90, output_tokens=24)
    assert (run.agents[0].description, run.agents[0].model) == ("You know lakes.", "gemini-2.5-pro")
    assert [tool.name for tool in run.agents[0].tools or ()] == ["depth"]


def test_chunks_of_a_gemini_response_are_one_answer_and_responses_are_apart() -> None:
    first, second = trajectories(GEMINI / "stream.jsonl")
    assert first.piece(first.calls[0].message) == "I measure. "
    assert recorded_usage(first) == Usage(input_tokens=30, output_tokens=6)
    assert second.final_answer == "74 m."


def test_results_of_gemini_answer_the_call_of_their_name_whatever_their_order(tmp_path: Path) -> None:
    def call(name: str) -> dict[str, Any]:
        return {"functionCall": {"name": name, "args": {}}}

    def result(name: str) -> dict[str, Any]:
        return {"functionResponse": {"name": name, "response": {"result": f"of {name}"}}}

    contents = [
        {"role": "user", "parts": [{"text": "Go"}]},
        {"role": "model", "parts": [call("b")]},
        {"role": "user", "parts": [{"text": "Stop, go on"}]},
        {"role": "model", "parts": [call("a"), call("b"), call("a")]},
        {"role": "user", "parts": [result("b"), result("a"), result("a")]},
        {"role": "model", "parts": [{"text": "Done"}]},
    ]
    path = written(tmp_path, {"contents": contents})
    (run,) = trajectories(path)
    assert [(name, found) for name, _, found in calls_of(run)] == [
        ("b", None),
        ("a", "of a"),
        ("b", "of b"),
        ("a", "of a"),
    ]
    assert summary_of(path).repeated_calls == 0


@pytest.mark.parametrize("parts", [list, str])
def test_parts_of_gemini_may_be_plain_texts(tmp_path: Path, parts: Any) -> None:
    said = [("user", "Is it paid?"), ("model", "Yes.")]
    history = [{"role": role, "parts": text if parts is str else [text]} for role, text in said]
    (run,) = trajectories(path := written(tmp_path, {"history": history}))
    assert (run.format, run.task, run.final_answer) == ("gemini", "Is it paid?", "Yes.")
    assert summary_of(path).trust == "complete"


def test_code_that_gemini_runs_is_a_call_with_its_output() -> None:
    (run,) = trajectories(GEMINI / "sdk.jsonl")
    assert [(name, result) for name, _, result in calls_of(run)] == [("code_execution", "4\n")]


@pytest.mark.parametrize("name", ["session.json", "events.jsonl"])
def test_an_adk_session_has_its_agents_calls_and_usage(name: str) -> None:
    (run,) = trajectories(ADK / name)
    assert [agent.id for agent in run.agents] == ["desk", "booker"]
    assert [step.result and step.result.error for step in run.calls] == [None, "closed at 13", None]
    assert recorded_usage(run) == Usage(input_tokens=90, output_tokens=15)
    assert (len(run.turns), run.final_answer) == (1, "Room A is booked.")


def test_results_of_adk_are_the_runs_of_their_cases_with_outcome_and_scores(tmp_path: Path) -> None:
    results = (ADK / "results.evalset_result.json").read_text()
    (tmp_path / "twice.json").write_text(orjson.dumps(results).decode())  # google-adk before 1.20 encodes them twice
    for path in (ADK / "results.evalset_result.json", tmp_path / "twice.json"):
        failed, passed = trajectories(path)
        assert (failed.id, failed.task_id, failed.success) == ("___eval___1", "noon", False)
        assert failed.labels["scores"] == {"tool_trajectory_avg_score": 0.0}
        assert (failed.final_answer, failed.usage) == ("Room B is free.", Usage(input_tokens=50, output_tokens=9))
        assert (passed.task_id, passed.success, passed.final_answer) == ("night", True, "None is free.")
        assert (passed.reference_answer, [agent.id for agent in passed.agents]) == ("No room is free.", ["desk"])
        assert calls_of(failed) == [("rooms", {"hour": 12}, '{\n  "free": [\n    "B"\n  ]\n}')]
        assert calls_and_errors(passed) == [('{"hour":23}', "closed at 23")]


def test_results_of_trpc_agent_go_have_texts_and_tools(tmp_path: Path) -> None:
    called = {"id": "c", "name": "add", "arguments": {"a": 2, "b": 3}, "result": {"sum": 5}}
    answers = [{"role": "assistant", "content": text} for text in ("It is 5.", "5")]
    asked = {"role": "user", "content": "What is 2 + 3?"}
    actual, expected = ({"userContent": asked, "finalResponse": answer, "tools": [called]} for answer in answers)
    tried = [{"actualInvocation": actual, "expectedInvocation": expected}]
    case = {"evalId": "sum", "finalEvalStatus": "failed", "evalMetricResultPerInvocation": tried}
    path = tmp_path / "sum.evalset_result.json"
    path.write_bytes(orjson.dumps({"evalSetId": "sums", "evalCaseResults": [case]}))
    (run,) = trajectories(path)
    assert calls_of(run) == [("add", {"a": 2, "b": 3}, '{\n  "sum": 5\n}')]
    assert (run.task, run.final_answer, run.reference_answer) == ("What is 2 + 3?", "It is 5.", "5")
    assert (run.task_id, run.success) == ("sum", False)


def test_results_of_adk_without_a_session_have_the_calls_of_their_invocations(tmp_path: Path) -> None:
    results = orjson.loads((ADK / "results.evalset_result.json").read_bytes())
    noon, _ = trajectories(ADK / "results.evalset_result.json")
    results["eval_case_results"][0]["session_details"] = None
    read, _ = trajectories(written(tmp_path, results))
    assert (calls_of(read), read.final_answer, read.usage) == (calls_of(noon), noon.final_answer, None)


def test_an_eval_set_of_adk_says_what_is_expected_and_is_no_run(tmp_path: Path) -> None:
    results = orjson.loads((ADK / "results.evalset_result.json").read_bytes())
    expected = results["eval_case_results"][0]["eval_metric_result_per_invocation"][0]["expected_invocation"]
    eval_set = {"eval_set_id": "rooms", "eval_cases": [{"eval_id": "noon", "conversation": [expected]}]}
    with pytest.raises(UnreadableDrop):
        trajectories(written(tmp_path, eval_set))


def test_what_was_rewound_in_an_adk_session_is_no_turn_and_its_tokens_count(tmp_path: Path) -> None:
    """`Runner.rewind_async` of google-adk 2.13 adds an event that names the first invocation that it takes back."""

    def asked(name: str, text: str, answer: str) -> list[dict[str, Any]]:
        call = {"functionCall": {"id": f"{name}-call", "name": "rooms", "args": {}}}
        result = {"functionResponse": {"id": f"{name}-call", "name": "rooms", "response": {"result": "A"}}}
        used = {"usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 2}, "invocationId": name}
        return [
            _adk_event("user", text, invocationId=name),
            _adk_event("desk", None, content={"role": "model", "parts": [call]}, **used),
            _adk_event("desk", None, content={"role": "user", "parts": [result]}, invocationId=name),
            _adk_event("desk", answer, **used),
        ]

    undone = _adk_event("user", None, invocationId="i4", actions={"rewindBeforeInvocationId": "i2"})
    events = [*asked("i1", "At noon?", "A."), *asked("i2", "At one?", "B."), *asked("i3", "At two?", "C.")]
    path = written(tmp_path, {"id": "s", "events": [*events, undone, *asked("i5", "At ten?", "D.")]})
    (run,) = trajectories(path)
    assert [turn.user_message for turn in run.turns] == ["At noon?", "At ten?"]
    assert run.usage == Usage(input_tokens=80, output_tokens=16)
    found = summary_of(path)
    assert (found.rewound_branches, found.rewound_calls, found.trust) == (1, 2, "partial")


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        ({"status": "pending"}, {"result": "yes"}, "yes"),
        ({"error": "This tool call requires confirmation, please approve or reject."}, {"result": "yes"}, "yes"),
        ({"error": "This tool call requires confirmation, please approve or reject."}, None, None),
    ],
)
def test_a_call_of_adk_that_waits_for_a_human_has_the_result_that_it_gets_then(
    tmp_path: Path, first: Any, last: Any, expected: str | None
) -> None:
    """Long-running tools and tools that must be confirmed answer the same call twice."""
    call = {"functionCall": {"id": "f1", "name": "delete", "args": {}}}

    def answer(response: Any) -> dict[str, Any]:
        return {"role": "user", "parts": [{"functionResponse": {"id": "f1", "name": "delete", "response": response}}]}

    events = [
        _adk_event("user", "Delete it."),
        _adk_event("desk", None, content={"role": "model", "parts": [call]}),
        _adk_event("desk", None, content=answer(first)),
        *([] if last is None else [_adk_event("user", None, content=answer(last))]),
        _adk_event("desk", "I am done." if last else "Please confirm."),
    ]
    path = written(tmp_path, *events)
    (run,) = trajectories(path)
    assert (calls_of(run), len(run.turns)) == ([("delete", {}, expected)], 1)
    assert [step.result.error for step in run.calls if step.result] == ([] if expected is None else [None])
    assert summary_of(path).doubts == ()


def test_what_was_said_aloud_to_an_adk_agent_is_read_from_its_transcription(tmp_path: Path) -> None:
    def heard(author: str, name: str, text: str, **more: Any) -> dict[str, Any]:
        return {**_adk_event(author, None, **more), name: {"text": text, "finished": not more}}

    said = heard("user", "inputTranscription", "Is a room free?")
    part = heard("desk", "outputTranscription", "Room", partial=True)
    answer = heard("desk", "outputTranscription", "Room A is free.")
    (run,) = trajectories(written(tmp_path, said, part, answer))
    assert (run.task, run.final_answer, run.text.count("Room")) == ("Is a room free?", "Room A is free.", 1)


@pytest.mark.parametrize("path", files_of_all(BEDROCK, VERCEL, GEMINI, ADK), ids=str)
def test_the_import_report_has_no_doubts(path: Path) -> None:
    found = summary_of(path)
    assert found.doubts == ()
    assert found.calls_in_source == found.calls or path.name == "sdk.jsonl"  # code that ran has no marks


def _adk_event(author: str, text: str | None, **more: Any) -> dict[str, Any]:
    content = {} if text is None else {"content": {"role": author, "parts": [{"text": text}]}}
    return {"id": f"{author}-{text}", "invocationId": "i", "author": author, "actions": {}, **content, **more}


@pytest.mark.parametrize(
    ("code", "flags", "error"),
    [
        ("RESOURCE_EXHAUSTED", ("no_answer", "failed"), "Try later."),
        ("MAX_TOKENS", ("truncated",), None),
        ("SAFETY", ("refused",), None),
    ],
)
def test_an_error_of_google_adk_is_no_answer_of_the_agent(
    tmp_path: Path, code: str, flags: tuple[str, ...], error: str | None
) -> None:
    events = [
        _adk_event("user", "Book a room."),
        _adk_event("desk", "I look."),
        _adk_event("desk", None, errorCode=code, errorMessage="Try later."),
    ]
    (run,) = trajectories(written(tmp_path, *events))
    assert (run.flags, run.extra.get("error")) == (flags, error)
    assert ("[Try later.]" in run.text) == (code != "MAX_TOKENS")
    assert "failed" not in run.flags or run.final_answer is None


def test_what_gemini_cli_says_in_the_place_of_the_user_is_no_task(tmp_path: Path) -> None:
    def content(role: str, *parts: dict[str, Any] | str) -> dict[str, Any]:
        return {"role": role, "parts": [{"text": part} if isinstance(part, str) else part for part in parts]}

    context, thanks = (
        "<session_context>\nThis is the Gemini CLI.\n</session_context>",
        "Got it. Thanks for the context!",
    )
    contents = [
        content("user", context),
        content("model", thanks),
        content("user", "Which oven is free?"),
        content("model", {"functionCall": {"name": "oven_slots", "args": {}}}),
        content("user", {"functionResponse": {"name": "oven_slots", "response": {"output": "north"}}}),
        content("model", "The north oven."),
        content("user", context, "And at noon?"),
        content("model", thanks),
    ]
    (run,) = trajectories(written(tmp_path, contents))
    assert run.task == "Which oven is free?"
    assert [turn.user_message for turn in run.turns] == ["Which oven is free?", f"{context}And at noon?"]
    assert [turn.interactions[-1].response for turn in run.turns] == ["The north oven.", thanks]
