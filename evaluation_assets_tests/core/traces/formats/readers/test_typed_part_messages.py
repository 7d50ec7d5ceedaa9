"""Messages of frameworks with a role and a list of parts, and what roles mean: all are read as OpenAI messages."""

import json
from pathlib import Path
from typing import Any

import pytest

from evaluation_assets.core.traces.formats.base import UnreadableDrop
from evaluation_assets.core.traces.trajectories.model import JsonObject, Usage
from evaluation_assets_tests.core.traces.formats.readers.summaries import summary_of, written
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, calls_of, recorded_usage, trajectories

ASKED, LOOKS, FOUND, SAID = "Wind at Skagen?", "I look.", "9 m/s", "9 m/s from the west."
PLACE = {"at": "Skagen"}


def haystack(role: str, *parts: JsonObject, **meta: Any) -> JsonObject:
    return {"role": role, "meta": meta, "name": None, "content": list(parts)}


HAYSTACK_CALL = {"tool_name": "wind", "arguments": PLACE, "id": "c1", "extra": None}
HAYSTACK = [
    haystack("system", {"text": "You know the weather."}),
    haystack("user", {"text": ASKED}),
    haystack(
        "assistant",
        {"reasoning": {"reasoning_text": "There is a tool.", "extra": {}}},
        {"text": LOOKS},
        {"tool_call": HAYSTACK_CALL},
        usage={"prompt_tokens": 20, "completion_tokens": 5},
    ),
    haystack("tool", {"tool_call_result": {"result": FOUND, "origin": HAYSTACK_CALL, "error": False}}),
    haystack("assistant", {"text": SAID}, usage={"prompt_tokens": 30, "completion_tokens": 6}),
]


def llama(role: str, *blocks: JsonObject, **more: Any) -> JsonObject:
    return {"role": role, "additional_kwargs": more, "blocks": list(blocks)}


LLAMA_ANSWER = [
    llama("tool", {"block_type": "text", "text": FOUND}, name="wind", tool_call_id="c1"),
    llama("assistant", {"block_type": "text", "text": SAID}),
]
LLAMA = [
    llama("user", {"block_type": "text", "text": ASKED}),
    llama(
        "assistant",
        {"block_type": "text", "text": LOOKS},
        {"block_type": "tool_call", "tool_call_id": "c1", "tool_name": "wind", "tool_kwargs": PLACE},
    ),
    *LLAMA_ANSWER,
]
OPENAI_CALL = {"id": "c1", "type": "function", "function": {"name": "wind", "arguments": json.dumps(PLACE)}}
LLAMA_OF_OPENAI = [
    LLAMA[0],
    llama("assistant", {"block_type": "text", "text": LOOKS}, tool_calls=[OPENAI_CALL]),
    *LLAMA_ANSWER,
]


def typed(key: str, kind: str, role: Any, *parts: JsonObject) -> JsonObject:
    """A message whose parts name their type in `kind`; the type of a part is given as `is`."""
    return {"role": role, key: [{kind: part["is"], **{k: v for k, v in part.items() if k != "is"}} for part in parts]}


def typed_run(
    key: str, kind: str, call: JsonObject, result: JsonObject, user: str | JsonObject = "user"
) -> list[JsonObject]:
    """The run as messages of typed parts."""
    return [
        typed(key, kind, user, {"is": "text", "text": ASKED}),
        typed(key, kind, "assistant", {"is": "text", "text": LOOKS}, {"name": "wind", **call}),
        typed(key, kind, "tool", {"result": FOUND, **result}),
        typed(key, kind, "assistant", {"is": "text", "text": SAID}),
    ]


AGENT_FRAMEWORK = typed_run(
    "contents",
    "type",
    {"is": "function_call", "call_id": "c1", "arguments": json.dumps(PLACE)},
    {"is": "function_result", "call_id": "c1"},
    {"type": "role", "value": "user"},
)
EXTENSIONS_AI = typed_run(
    "contents",
    "$type",
    {"is": "functionCall", "callId": "c1", "arguments": PLACE},
    {"is": "functionResult", "callId": "c1"},
)
SEMANTIC_KERNEL = typed_run(
    "items",
    "content_type",
    {"is": "function_call", "id": "c1", "arguments": json.dumps(PLACE)},
    {"is": "function_result", "id": "c1", "name": "wind"},
)


def dotnet(role: str, *parts: JsonObject) -> JsonObject:
    return {"Role": {"Label": role}, "Items": list(parts)}


SEMANTIC_KERNEL_DOTNET = [
    dotnet("user", {"$type": "TextContent", "Text": ASKED}),
    dotnet(
        "assistant",
        {"$type": "TextContent", "Text": LOOKS},
        {"$type": "FunctionCallContent", "Id": "c1", "FunctionName": "wind", "Arguments": PLACE},
    ),
    dotnet("tool", {"$type": "FunctionResultContent", "CallId": "c1", "FunctionName": "wind", "Result": FOUND}),
    dotnet("assistant", {"$type": "TextContent", "Text": SAID}),
]
LANGCHAIN4J = [
    {"contents": [{"text": ASKED, "type": "TEXT"}], "type": "USER"},
    {
        "type": "AI",
        "text": LOOKS,
        "toolExecutionRequests": [{"id": "c1", "name": "wind", "arguments": json.dumps(PLACE)}],
    },
    {"id": "c1", "toolName": "wind", "text": FOUND, "type": "TOOL_EXECUTION_RESULT"},
    {"text": SAID, "toolExecutionRequests": [], "type": "AI"},
]


@pytest.mark.parametrize(
    "messages",
    [
        HAYSTACK,
        LLAMA,
        LLAMA_OF_OPENAI,
        AGENT_FRAMEWORK,
        EXTENSIONS_AI,
        SEMANTIC_KERNEL,
        SEMANTIC_KERNEL_DOTNET,
        LANGCHAIN4J,
    ],
    ids="haystack llama llama_of_openai agent_framework extensions_ai sk sk_dotnet langchain4j".split(),
)
@pytest.mark.parametrize("as_record", [False, True])
def test_parts_of_frameworks_are_texts_calls_and_results(
    tmp_path: Path, messages: list[JsonObject], as_record: bool
) -> None:
    path = written(tmp_path, {"messages": messages} if as_record else messages)
    (run,) = trajectories(path)
    assert (run.format, run.task, run.final_answer, len(run.turns)) == ("openai_messages", ASKED, SAID, 1)
    assert calls_of(run) == [("wind", PLACE, FOUND)]
    assert run.piece(run.calls[0].message) == LOOKS
    assert summary_of(path).trust == "complete"


def test_haystack_messages_have_their_reasoning_usage_and_system_prompt(tmp_path: Path) -> None:
    (run,) = trajectories(written(tmp_path, {"messages": HAYSTACK}))
    assert run.piece(run.calls[0].thought) == "There is a tool."
    assert run.usage == Usage(input_tokens=50, output_tokens=11)
    assert run.agents[0].description == "You know the weather."


def test_a_failed_tool_of_a_framework_has_an_error(tmp_path: Path) -> None:
    failed = {"tool_call_result": {"result": "no station", "origin": HAYSTACK_CALL, "error": True}}
    messages = [*HAYSTACK[:3], haystack("tool", failed), HAYSTACK[4]]
    (run,) = trajectories(written(tmp_path, {"messages": messages}))
    assert [step.result.error for step in run.calls if step.result is not None] == ["no station"]


def test_a_part_of_a_framework_that_is_not_understood_makes_the_reading_doubtful(tmp_path: Path) -> None:
    hologram = typed("contents", "type", "assistant", {"is": "hologram", "beams": 3})
    summary = summary_of(written(tmp_path, [*AGENT_FRAMEWORK, hologram]))
    assert (summary.trust, dict(summary.unknown_parts)) == ("doubtful", {"hologram": 1})


def test_a_thread_of_microsoft_agent_framework_has_its_messages_in_a_store(tmp_path: Path) -> None:
    thread = {"service_thread_id": None, "chat_message_store_state": {"messages": AGENT_FRAMEWORK}}
    (run,) = trajectories(written(tmp_path, thread))
    assert (run.task, calls_of(run), run.final_answer) == (ASKED, [("wind", PLACE, FOUND)], SAID)


def test_a_response_of_microsoft_agent_framework_has_its_tokens(tmp_path: Path) -> None:
    used = {"type": "usage_details", "input_token_count": 50, "output_token_count": 7, "total_token_count": 57}
    response = {"type": "agent_run_response", "messages": AGENT_FRAMEWORK, "response_id": "r", "usage_details": used}
    (run,) = trajectories(written(tmp_path, response))
    assert run.usage == Usage(input_tokens=50, output_tokens=7)
    in_dotnet = {"messages": EXTENSIONS_AI, "usage": {"inputTokenCount": 50, "outputTokenCount": 7}}
    (run,) = trajectories(written(tmp_path, in_dotnet))
    assert run.usage == Usage(input_tokens=50, output_tokens=7)


def test_approvals_images_and_tokens_in_parts_of_agent_framework_are_read(tmp_path: Path) -> None:
    """Content types of agent-framework 1.0: an approval repeats a call, and its answer is no turn of the user."""
    call = {"is": "function_call", "call_id": "c1", "name": "wind", "arguments": PLACE}
    image = {"is": "data", "uri": "data:image/png;base64,iVBORw0KGgo=", "media_type": "image/png"}
    used = {"is": "usage", "usage_details": {"input_token_count": 9, "output_token_count": 2}}
    plain = {"type": "function_call", **{key: value for key, value in call.items() if key != "is"}}
    parts: list[tuple[str, list[JsonObject]]] = [
        ("user", [{"is": "text", "text": ASKED}, image]),
        ("assistant", [call, {"is": "function_approval_request", "id": "a1", "function_call": plain}, used]),
        ("user", [{"is": "function_approval_response", "id": "a1", "approved": True, "function_call": plain}]),
        ("tool", [{"is": "function_result", "call_id": "c1", "result": FOUND}]),
        ("assistant", [{"is": "error", "message": "It broke off.", "error_code": "E1"}]),
    ]
    path = written(tmp_path, {"messages": [typed("contents", "type", role, *those) for role, those in parts]})
    (run,) = trajectories(path)
    assert (len(run.turns), calls_of(run), run.final_answer) == (1, [("wind", PLACE, FOUND)], "It broke off.")
    assert run.usage is None and run.calls[0].usage == Usage(input_tokens=9, output_tokens=2)
    assert run.task.startswith(f"{ASKED}\n[image: image/png")
    assert summary_of(path).gaps == ("1 answer of 2 without tokens",)


PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


@pytest.mark.parametrize(
    "message",
    [
        haystack("user", {"text": ASKED}, {"image": {"base64_image": PNG, "mime_type": "image/png", "meta": {}}}),
        llama(
            "user",
            {"block_type": "text", "text": ASKED},
            {"block_type": "image", "image": PNG},
            {"block_type": "cache"},
        ),
        typed(
            "items",
            "content_type",
            "user",
            {"is": "text", "text": ASKED},
            {"is": "image", "data_uri": f"data:image/png;base64,{PNG}"},
        ),
        {
            "type": "USER",
            "contents": [
                {"text": ASKED, "type": "TEXT"},
                {"image": {"base64Data": PNG, "mimeType": "image/png"}, "type": "IMAGE"},
            ],
        },
    ],
    ids="haystack llama sk langchain4j".split(),
)
def test_images_of_frameworks_are_kept(tmp_path: Path, message: JsonObject) -> None:
    path = written(tmp_path, {"messages": [message, {"role": "assistant", "content": SAID}]})
    (run,) = trajectories(path)
    assert run.task.startswith(f"{ASKED}\n[image: image/png, 70 bytes, ") and run.task.endswith("]")
    assert summary_of(path).trust == "complete"


def thread_message(number: int, role: str, text: str) -> JsonObject:
    content = [{"type": "text", "text": {"value": text, "annotations": []}}]
    message = {"id": f"msg_{number}", "object": "thread.message", "created_at": 1754000000 + number, "thread_id": "t"}
    return {**message, "role": role, "content": content}


@pytest.mark.parametrize("as_page", [False, True])
def test_messages_of_the_assistants_api_are_read_from_the_first_to_the_last(tmp_path: Path, as_page: bool) -> None:
    newest_first = [thread_message(2, "assistant", SAID), thread_message(1, "user", ASKED)]
    page = {"object": "list", "data": newest_first, "has_more": False}
    (run,) = trajectories(written(tmp_path, page if as_page else newest_first))
    assert (run.task, run.final_answer) == (ASKED, SAID)


def test_a_role_that_is_not_known_is_a_guess(tmp_path: Path) -> None:
    messages = [
        {"role": "USER", "content": ASKED},
        {"role": "thought", "content": LOOKS},
        {"role": "bot", "content": SAID},
    ]
    path = written(tmp_path, {"messages": messages})
    (run,) = trajectories(path)
    assert [agent.id for agent in run.agents] == ["thought", "agent"]
    summary = summary_of(path)
    assert (summary.trust, summary.guessed_speakers) == ("doubtful", ("thought",))
    known = summary_of(written(tmp_path, {"messages": [messages[0], messages[2]]}))
    assert known.trust == "complete"


def test_a_message_without_a_role_is_not_skipped_silently(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": ASKED}, {"content": FOUND}, {"role": "assistant", "content": SAID}]
    summary = summary_of(written(tmp_path, {"messages": messages}))
    assert (summary.trust, dict(summary.unknown_parts)) == ("doubtful", {"message without a role": 1})


def test_a_message_may_have_its_text_under_another_name(tmp_path: Path) -> None:
    call = {"toolCallId": "c1", "toolName": "wind", "args": PLACE}
    messages = [
        {"role": "user", "text": ASKED},
        {"role": "assistant", "text": LOOKS, "toolCalls": [call]},
        {"role": "tool", "toolCallId": "c1", "message": FOUND},
        {"role": "assistant", "message": SAID},
    ]
    path = written(tmp_path, {"messages": messages})
    (run,) = trajectories(path)
    assert (run.task, calls_of(run), run.final_answer) == (ASKED, [("wind", PLACE, FOUND)], SAID)
    assert summary_of(path).trust == "complete"


def test_messages_with_calls_in_a_form_of_their_own_are_not_read_without_them(tmp_path: Path) -> None:
    """As in files of test conversations: they would be a dialogue in which nothing was called."""
    call = {"request": {"api_name": "AddAlarm", "parameters": {"time": "18:30"}}, "response": {"id": 1}}
    said = [{"role": "user", "text": "Wake me at 6:30 PM."}, {"role": "assistant", "text": "Done.", "apis": [call]}]
    path = written(tmp_path, {"name": "alarm", "conversation": said})
    with pytest.raises(UnreadableDrop, match="in no supported format"):
        list(trajectories(path))
    said[1].pop("apis")
    (run,) = trajectories(written(tmp_path, {"conversation": said}))
    assert run.final_answer == "Done."


def test_a_session_of_agno_has_each_turn_once() -> None:
    run, member = trajectories(FIXTURES / "agno")
    assert [turn.user_message for turn in run.turns] == [ASKED, "And at Grenen?"]
    assert calls_of(run) == [("wind", PLACE, FOUND), ("wind", {"at": "Grenen"}, "no station")]
    assert [step.result.error for step in run.calls if step.result is not None] == [None, "no station"]
    assert recorded_usage(run) == Usage(input_tokens=250, output_tokens=35)
    assert (run.id, run.agents[0].model, run.started_at) == ("s-wind", "gpt-4o", "2025-07-31T22:13:20+00:00")
    assert (member.task, member.final_answer) == ("Is 9 m/s a storm?", "No.")
    assert summary_of(FIXTURES / "agno").trust == "complete"


def test_tokens_of_agno_that_its_messages_lack_are_told(tmp_path: Path) -> None:
    session = json.loads((FIXTURES / "agno" / "session.json").read_bytes())
    session["runs"][0]["metrics"]["input_tokens"] += 40
    summary = summary_of(written(tmp_path, session))
    assert (summary.trust, summary.gaps) == ("partial", ("290 input tokens stated by the source, 250 read",))


BEEAI = [
    {"role": "system", "content": "You know the weather."},
    {"role": "user", "content": [{"type": "text", "text": ASKED}]},
    {
        "role": "assistant",
        "content": [
            {"type": "text", "text": LOOKS},
            {"type": "tool-call", "id": "c1", "tool_name": "wind", "args": json.dumps(PLACE)},
        ],
    },
    {
        "role": "tool",
        "content": [{"type": "tool-result", "result": FOUND, "tool_name": "wind", "tool_call_id": "c1"}],
    },
    {"role": "assistant", "content": [{"type": "text", "text": SAID}]},
]


def test_calls_of_beeai_have_their_names_and_results(tmp_path: Path) -> None:
    path = written(tmp_path, {"messages": BEEAI})
    (run,) = trajectories(path)
    assert (run.task, calls_of(run), run.final_answer) == (ASKED, [("wind", PLACE, FOUND)], SAID)
    assert run.calls[0].call is not None and run.calls[0].call.id == "c1"
    assert summary_of(path).trust == "complete"


def test_a_call_without_the_name_of_its_tool_makes_the_reading_doubtful(tmp_path: Path) -> None:
    messages = json.loads(json.dumps(BEEAI))
    del messages[2]["content"][1]["tool_name"]
    summary = summary_of(written(tmp_path, {"messages": messages}))
    assert (summary.trust, summary.doubts) == ("doubtful", ("1 call whose tool has no name",))


def test_each_chat_of_a_store_of_llama_index_is_a_run(tmp_path: Path) -> None:
    """`SimpleChatStore.persist` and `ChatMemoryBuffer.to_dict` of llama-index-core 0.14."""
    asked = llama("user", {"block_type": "text", "text": ASKED})
    store = {
        "store": {"ann": [asked, *LLAMA_ANSWER], "bob": [asked, LLAMA_ANSWER[-1]]},
        "class_name": "SimpleChatStore",
    }
    for record in (store, {"token_limit": 3000, "chat_store": store, "chat_store_key": "ann"}):
        ann, bob = trajectories(written(tmp_path, record))
        assert [(run.id, run.task, run.final_answer) for run in (ann, bob)] == [
            ("ann", ASKED, SAID),
            ("bob", ASKED, SAID),
        ]
