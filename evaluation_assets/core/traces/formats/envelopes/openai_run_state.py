"""States of runs that the OpenAI Agents SDK saves where a call waits for approval, of JavaScript and of Python.

{"$schemaVersion": "1.0", "originalInput": "...", "generatedItems": [{"type": "tool_call_item", "rawItem": {...}}]}
"""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from evaluation_assets.core.traces.formats.envelopes.envelope import Chat, Envelope, plain_message, without
from evaluation_assets.core.traces.formats.envelopes.turn import Turn
from evaluation_assets.core.traces.formats.transcript import as_text
from evaluation_assets.core.traces.formats.untyped import at, first_text, in_both_cases, list_in, object_in, objects_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

_SCHEMA = "$schemaVersion"
_READ = in_both_cases("original_input", "generated_items", "model_responses", "last_model_response", "current_agent")
_ASIDE = in_both_cases(
    "last_processed_response", "current_step", "session_items", "generated_prompt_artifacts", "input_guardrail_results"
)


_AGENT = "\0agent"
"""Field of an item with the name of its agent, which no source has."""


def _value(data: Any, name: str) -> Any:
    """The value of a field in either case."""
    return next((data[key] for key in in_both_cases(name) if key in object_in(data)), None)


def _holds(data: Any) -> bool:
    return _SCHEMA in object_in(data) and isinstance(_value(data, "generated_items"), list)


def _conversations(data: JsonObject) -> Iterator[Chat]:
    given = _value(data, "original_input")
    items = [each for each in list_in(given) if isinstance(each, dict)]
    agent = first_text(_value(data, "current_agent"), "name")
    made = [
        {**object_in(_value(item, "raw_item")), _AGENT: first_text(item.get("agent"), "name") or agent}
        for item in objects_in(_value(data, "generated_items"))
    ]
    used = [object_in(each.get("usage")) for each in objects_in(_value(data, "model_responses"))]
    record = {
        **without(data, _SCHEMA, *_READ, *_ASIDE),
        "agent": agent,
        "usage": {
            f"{kind}_tokens": sum(_value(each, f"{kind}_tokens") or 0 for each in used)
            for kind in ("input", "output")
            if any(_value(each, f"{kind}_tokens") for each in used)
        }
        or None,
        "messages": [
            *([plain_message("user", given)] if isinstance(given, str) else []),
            *_messages([*items, *made]),
        ],
    }
    yield Chat(record)


def _messages(items: list[JsonObject]) -> Iterator[JsonObject]:
    for agent, own in groupby(items, key=lambda item: item.get(_AGENT)):
        for message in _messages_of(list(own)):
            yield {**message, "name": agent} if agent and message["role"] == "assistant" else message


def _messages_of(items: list[JsonObject]) -> Iterator[JsonObject]:
    turn = Turn()
    for item in items:
        if item.get("role", "assistant") != "assistant":
            yield from turn.messages()
            turn = Turn()
            yield plain_message(item["role"], _text(item.get("content")))
        else:
            _add(turn, item, str(item.get("type", "message")))
    yield from turn.messages()


def _add(turn: Turn, item: JsonObject, kind: str) -> None:
    call_id = _value(item, "call_id")
    if kind == "message":
        turn.said(_text(item.get("content")))
    elif kind == "reasoning":
        turn.thought(_text(item.get("content") or item.get("summary")))
    elif kind.endswith(("_result", "_output")):
        turn.returned(_text(item.get("output")), call_id, failed=item.get("status") == "failed")
    elif kind.endswith("_call"):
        turn.called(item.get("name") or kind, item.get("arguments", item.get("action")), call_id or item.get("id"))


def _text(content: Any) -> str:
    """The texts of a content, or the content as text."""
    parts = content if isinstance(content, list) else [content]
    texts = [at(part, "text") if isinstance(at(part, "text"), str) else part for part in parts if part is not None]
    return "\n".join(as_text(text) for text in texts)


OPENAI_RUN_STATE = Envelope(
    name="openai_run_state",
    description="states of runs that the OpenAI Agents SDK saves for approvals",
    detection="$schemaVersion beside generatedItems or generated_items",
    holds=_holds,
    conversations=_conversations,
)
