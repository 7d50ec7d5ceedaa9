"""Runs of OpenAI's Assistants API, also of Azure AI agents: their steps, with the messages of their thread if known.

    {"object": "list", "data": [{"object": "thread.run.step", "step_details": {"tool_calls": [...]}, ...}]}

A list begins with the newest. A step that made a message names it; without the messages, what was said is missing.
"""

from collections.abc import Iterator
from typing import Any

from evaluation_assets.core.traces.formats.endings import is_truncation
from evaluation_assets.core.traces.formats.envelopes.envelope import PARTS, Chat, Envelope, plain_message, without
from evaluation_assets.core.traces.formats.transcript import as_text, one_line
from evaluation_assets.core.traces.formats.untyped import as_number, at, first_text, list_in, object_in, objects_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

_STEP, _MESSAGE, _RUN = "thread.run.step", "thread.message", "thread.run"
_LISTS = ("data", "steps", "run_steps", "messages", "runs", "run", "thread")


def _part_of(data: Any) -> str | None:
    """The thread of a step, or of a message or run among steps, on a line of its own."""
    return first_text(data, "thread_id") or "" if at(data, "object") == _STEP else None


def _objects_in(data: JsonObject) -> list[JsonObject]:
    if PARTS in data:
        return list(objects_in(data[PARTS]))
    found: list[JsonObject] = []
    for name in _LISTS:
        value = data.get(name)
        listed = list_in(at(value, "data")) or (value if isinstance(value, list) else [value])
        found += objects_in(listed)
    return found


def _holds(data: Any) -> bool:
    return any(each.get("object") == _STEP for each in _objects_in(object_in(data)))


def _conversations(data: JsonObject) -> Iterator[Chat]:
    found = sorted(_objects_in(data), key=lambda each: as_number(each.get("created_at")) or 0)
    messages = {first_text(each, "id"): each for each in found if each.get("object") == _MESSAGE}
    steps = [each for each in found if each.get("object") == _STEP]
    runs = [each for each in found if each.get("object") == _RUN]
    made = {name for step in steps if (name := _message_of(step)) is not None}
    told: list[JsonObject] = []
    for each in found:
        if each.get("object") == _MESSAGE and first_text(each, "id") not in made:
            told.append({"role": each.get("role"), "content": each.get("content")})
        elif each.get("object") == _STEP:
            told += _said(each, messages)
    more = sum(at(data.get(name), "has_more") is True for name in _LISTS)
    last = runs[-1] if runs else {}
    error = first_text(last.get("last_error"), "message", "code")
    error = error or next(
        (text for step in steps if (text := first_text(step.get("last_error"), "message", "code"))), None
    )
    reason = first_text(last.get("incomplete_details"), "reason")
    yield Chat(
        {
            **without(data, PARTS, *_LISTS),
            "thread_id": next((name for each in found if (name := first_text(each, "thread_id"))), None),
            "agent_name": next((name for each in found if (name := first_text(each, "assistant_id"))), None),
            "model": first_text(last, "model"),
            "system_prompt": first_text(last, "instructions"),
            "tools": last.get("tools"),
            "stop_reason": reason,
            "messages": told,
        },
        one_line(error) if error is not None and not is_truncation(reason) else None,
        stated={"message": (len(made), len(made & messages.keys())), "page": (1 + more, 1)},
    )


def _message_of(step: JsonObject) -> str | None:
    """The ID of the message that a step made."""
    return first_text(at(step.get("step_details"), "message_creation"), "message_id")


def _said(step: JsonObject, messages: dict[Any, JsonObject]) -> Iterator[JsonObject]:
    """The message that a step made, or its calls with what came back."""
    details, usage = object_in(step.get("step_details")), step.get("usage")
    calls = list(objects_in(details.get("tool_calls")))
    message = messages.get(_message_of(step))
    made = [{"id": call.get("id"), **_call(call)} for call in calls]
    content = None if message is None else message.get("content")
    yield plain_message("assistant", content, usage=usage, **({"tool_calls": made} if made else {}))
    for call in calls:
        shown = _result(call)
        if shown is not None:
            failed = step.get("status") == "failed"
            yield plain_message("tool", shown, tool_call_id=call.get("id"), is_error=failed or None)


def _call(call: JsonObject) -> JsonObject:
    if isinstance(function := call.get("function"), dict):
        return {"name": function.get("name"), "arguments": function.get("arguments")}
    kind = first_text(call, "type") or "unnamed"
    given = call.get(kind)
    hidden = ("outputs", "output", "results")
    return {"name": kind, "arguments": without(given, *hidden) if isinstance(given, dict) else given or {}}


def _result(call: JsonObject) -> str | None:
    """What a call gave back; `None` if the step does not say."""
    inner = object_in(call.get("function")) or object_in(call.get(first_text(call, "type") or ""))
    shown = next((inner[name] for name in ("output", "outputs", "results") if inner.get(name) is not None), None)
    logs = [text for each in objects_in(shown) if (text := first_text(each, "logs")) is not None]
    return None if shown is None else "\n".join(logs) if logs and len(logs) == len(shown) else as_text(shown)


OPENAI_ASSISTANTS = Envelope(
    name="openai_assistants",
    description="run steps of OpenAI's Assistants API, with the messages and runs of the thread",
    detection="objects thread.run.step",
    holds=_holds,
    part_of=_part_of,
    conversations=_conversations,
)
