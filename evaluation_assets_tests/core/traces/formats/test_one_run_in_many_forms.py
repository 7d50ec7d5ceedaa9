"""One run, written as the messages of different APIs and frameworks: read the same, with the same findings."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evaluation_assets.core.sections.findings.detecting import detected
from evaluation_assets.core.traces.trajectories.model import JsonObject, Trajectory
from evaluation_assets_tests.core.traces.formats.readers.summaries import calls_and_errors, summary_of, written
from evaluation_assets_tests.core.traces.formats.reading import calls_of, trajectories

Messages = list[JsonObject]


def asked(name: str, arguments: JsonObject, call_id: str, said: str | None = None) -> JsonObject:
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"id": call_id, "type": "function", "function": function}
    return {"role": "assistant", "content": said, "tool_calls": [call]}


RUN: Messages = [
    {"role": "system", "content": "You are the desk of a library."},
    {"role": "user", "content": "Is 'The Wall' in, and when is my loan L-204 due?"},
    asked("find_book", {"title": "The Wall"}, "c1", "I look."),
    {"role": "tool", "tool_call_id": "c1", "content": '{"title": "The Wall", "copies": 2}'},
    asked("find_loan", {"loan": "L-240"}, "c2"),
    {"role": "tool", "tool_call_id": "c2", "content": "Error: no loan L-240"},
    {"role": "assistant", "content": "Two copies are in. Your loan is due on 12 March 2026."},
    {"role": "user", "content": "Renew it, please."},
    asked("renew_loan", {"loan": "L-204", "days": 14}, "c3"),
    {"role": "tool", "tool_call_id": "c3", "content": '{"loan": "L-204", "due": "2026-04-02"}'},
    {"role": "assistant", "content": "It is renewed until 2 April 2026."},
]
NAMES = {"c1": "find_book", "c2": "find_loan", "c3": "renew_loan"}


def calls_in(message: JsonObject) -> list[tuple[str, str, JsonObject]]:
    """ID, name and arguments of the calls of a message."""
    listed = message.get("tool_calls", ())
    return [(call["id"], call["function"]["name"], json.loads(call["function"]["arguments"])) for call in listed]


def blocks(
    messages: Messages, text: Callable[[str], Any], call: Callable[..., Any], result: Callable[[str, str], Any]
) -> Messages:
    """Messages without the system's, whose content is a list of parts; results are said by the user."""
    return [
        {
            "role": "user" if message["role"] == "tool" else message["role"],
            "content": [result(message["tool_call_id"], message["content"])]
            if message["role"] == "tool"
            else [
                *([text(message["content"])] if message["content"] else []),
                *(call(*each) for each in calls_in(message)),
            ],
        }
        for message in messages
        if message["role"] != "system"
    ]


def typed(content: str) -> JsonObject:
    return {"type": "text", "text": content}


def tool_use(call_id: str, name: str, arguments: JsonObject) -> JsonObject:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def tool_result(call_id: str, content: str) -> JsonObject:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content}


def of_anthropic(messages: Messages) -> JsonObject:
    return {"system": messages[0]["content"], "messages": blocks(messages, typed, tool_use, tool_result)}


def of_anthropic_with_system_message(messages: Messages) -> JsonObject:
    return {"messages": [messages[0], *blocks(messages, typed, tool_use, tool_result)]}


def of_bedrock(messages: Messages) -> JsonObject:
    said = blocks(
        messages,
        lambda text: {"text": text},
        lambda call_id, name, given: {"toolUse": {"toolUseId": call_id, "name": name, "input": given}},
        lambda call_id, text: {"toolResult": {"toolUseId": call_id, "content": [{"text": text}]}},
    )
    return {"system": [{"text": messages[0]["content"]}], "messages": said}


def of_gemini(messages: Messages) -> JsonObject:
    said = blocks(
        messages,
        lambda text: {"text": text},
        lambda _, name, given: {"functionCall": {"name": name, "args": given}},
        lambda call_id, text: {"functionResponse": {"name": NAMES[call_id], "response": {"result": text}}},
    )
    contents = [{"role": "model" if each["role"] == "assistant" else "user", "parts": each["content"]} for each in said]
    return {"systemInstruction": {"parts": [{"text": messages[0]["content"]}]}, "contents": contents}


def of_ai_sdk(messages: Messages) -> JsonObject:
    said = blocks(
        messages,
        typed,
        lambda call_id, name, given: {"type": "tool-call", "toolCallId": call_id, "toolName": name, "input": given},
        lambda call_id, text: {
            "type": "tool-result",
            "toolCallId": call_id,
            "toolName": NAMES[call_id],
            "output": {"type": "text", "value": text},
        },
    )
    roles = [message["role"] for message in messages[1:]]
    return {"messages": [messages[0], *({**each, "role": role} for each, role in zip(said, roles, strict=True))]}


def of_responses(messages: Messages) -> JsonObject:
    items: Messages = []
    for message in messages:
        if message["role"] == "tool":
            items.append(
                {"type": "function_call_output", "call_id": message["tool_call_id"], "output": message["content"]}
            )
            continue
        if message["content"]:
            kind = "output_text" if message["role"] == "assistant" else "input_text"
            part = {"type": kind, "text": message["content"]}
            items.append({"type": "message", "role": message["role"], "content": [part]})
        for call_id, name, given in calls_in(message):
            items.append({"type": "function_call", "call_id": call_id, "name": name, "arguments": json.dumps(given)})
    return {"input": items}


def of_langchain(messages: Messages) -> JsonObject:
    kinds = {"system": "system", "user": "human", "assistant": "ai", "tool": "tool"}
    return {
        "messages": [
            {"type": kinds[message["role"]], "content": message["content"] or ""}
            | ({"tool_call_id": message["tool_call_id"]} if message["role"] == "tool" else {})
            | {
                "tool_calls": [
                    {"id": call_id, "name": name, "args": given, "type": "tool_call"}
                    for call_id, name, given in calls_in(message)
                ]
            }
            for message in messages
        ]
    }


def with_parts(messages: Messages) -> JsonObject:
    return {"messages": [{**each, "content": [typed(each["content"])] if each["content"] else []} for each in messages]}


def with_flat_calls(messages: Messages) -> JsonObject:
    flat = [
        {**each, "tool_calls": [{"id": one, "name": name, "args": given} for one, name, given in calls_in(each)]}
        for each in messages
    ]
    return {"messages": [each if each["tool_calls"] else {**each, "tool_calls": None} for each in flat]}


def without_ids(messages: Messages) -> JsonObject:
    return {
        "messages": [
            {key: value for key, value in each.items() if key not in ("tool_call_id", "tool_calls")}
            | ({"tool_calls": [{"function": call["function"]} for call in calls]} if calls else {})
            for each in messages
            for calls in [each.get("tool_calls")]
        ]
    }


def with_functions(messages: Messages) -> JsonObject:
    """As before OpenAI had tools."""
    return {
        "messages": [
            {"role": "function", "name": NAMES[each["tool_call_id"]], "content": each["content"]}
            if each["role"] == "tool"
            else {"role": each["role"], "content": each["content"]}
            | ({"function_call": each["tool_calls"][0]["function"]} if "tool_calls" in each else {})
            for each in messages
        ]
    }


FORMS = (
    of_anthropic, of_anthropic_with_system_message, of_bedrock, of_gemini, of_ai_sdk, of_responses, of_langchain,
    with_parts, with_flat_calls, without_ids, with_functions,
)  # fmt: skip


def told(folder: Path, record: JsonObject) -> tuple[Any, ...]:
    path = written(folder, {"task_id": "loan", "success": False, **record})
    (run,) = trajectories(path)
    said = [turn.user_message for turn in run.turns]
    found = [(each.kind, each.severity, each.evidence) for each in detected(run)]
    return summary_of(path).trust, calls_of(run), calls_and_errors(run), said, answers(run), run.success, found


def answers(run: Trajectory) -> list[str]:
    """What the agent said, in order."""
    return [run.piece(step.message) for step in run.steps if step.message]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_a_run_is_read_the_same_in_every_form(tmp_path: Path, form: Callable[[Messages], JsonObject]) -> None:
    expected = told(tmp_path, {"messages": RUN})
    assert expected[0] == "complete" and len(expected[1]) == 3 and expected[-1], "a run with something to find"
    assert told(tmp_path, form(RUN)) == expected
