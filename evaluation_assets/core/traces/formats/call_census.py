"""Tool calls and results that a record seems to hold, found by their shape in any format: a check on readers.

A reader that does not understand a part of a message loses calls silently, and an agent that made no calls made no
mistakes. So calls, and results by the IDs of their calls, are counted a second time, without knowing the format. The
count is a lower bound: a call that is repeated in the history of a later request counts once.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson

from evaluation_assets.core.traces.formats.messages.call_arguments import ARGUMENTS
from evaluation_assets.core.traces.formats.untyped import at, objects_in
from evaluation_assets.core.traces.trajectories.identity import digest

_LISTS = ("tool_calls", "toolCalls", "function_calls", "functionCalls")
"""Fields that hold a list of calls."""

_OBJECTS = ("functionCall", "function_call", "toolUse", "toolRequest")
"""Fields that hold one call."""

_TYPES = frozenset(
    (
        "tool_use", "server_tool_use", "mcp_tool_use", "tool_call", "tool-call", "toolCall", "function_call",
        "custom_tool_call", "mcp_call", "web_search_call", "file_search_call", "code_interpreter_call",
        "computer_call", "local_shell_call",
    )
)  # fmt: skip
"""What parts and items that are calls name as their type."""

_RESULTS = {
    "tool_result": "tool_use_id",
    "tool-result": "toolCallId",
    "function_call_output": "call_id",
    "custom_tool_call_output": "call_id",
    "tool.result": "toolCallId",
}
"""By type of a part or item that holds a result: the field with the ID of the call."""

_CODING = {
    "tool": ("callID", "state"),
    "toolRequest": ("id", "toolCall"),
    "frontendToolRequest": ("id", "toolCall"),
    "ActionEvent": ("tool_call_id", "tool_name"),
    "command_execution": ("id", "aggregated_output"),
    "file_change": ("id", "changes"),
    "mcp_tool_call": ("id", "server"),
    "tool.call": ("toolCallId", "args"),
}
"""By type: the field with the ID of the call, and another one that only such a call has."""
_LISTED = ("ToolCallRequestEvent", "AssistantMessage")
"""Types of AutoGen messages whose content is a list of calls."""

_KINDS = ("type", "part_kind")
_IDS = ("tool_call_id", "call_id", "toolCallId", "toolUseId", "callId", "id")
_NAMES = ("name", "toolName", "tool_name", "function_name", "toolname", "tool")
_SPAN_KINDS = {
    "openinference.span.kind": "TOOL",
    "gen_ai.operation.name": "execute_tool",
    "traceloop.span.kind": "tool",
    "mlflow.spanType": '"TOOL"',
}
_SPAN_IDS = ("spanId", "span_id", "spanID", "context.span_id", "id")
_FLAT_ID = re.compile(r"(?:^|\.)tool_calls\.\d+\.(?:tool_call\.)?id$")
_MARKERS = frozenset((*_KINDS, *_LISTS, *_OBJECTS, "kind", "toolCallId", "attributes", "tags", "object"))
"""An object without any of these fields is neither a call nor a span; most objects are such."""

_COMPARED = re.compile(r"expected|(?:reference|gold|golden|ground_truth|groundTruth)(?![a-z])")
_FEW_SHOT = re.compile(r"few_?shots?(?:_\w+)?|demonstrations?|demos|(?:icl|in_context)_examples", re.IGNORECASE)
_CHATS = frozenset(("messages", "conversation", "conversations", "traj", "trajectory", "steps"))
_CONTAINERS = (dict, list)
_HINTS = ("tool_call", "toolCall", "tool-call", "tool_use", "toolUse", "function_call", "functionCall")
_HINTS_IN_BYTES = tuple(hint.encode() for hint in _HINTS)
_UNIQUE = 16
"""Characters of the ID of a call that no other call has."""
_DEEPEST_TEXT = 2
"""JSON in a JSON text, as attributes of spans have it, is searched this deep."""


@dataclass(frozen=True, slots=True)
class Census:
    """Calls in a record, each by its id or, without one, by its name and arguments; and spans of tools that ran.

    `results` are results by the IDs of their calls. `told_calls` and `told_results` are the same, each with what tells
    it from one of another run that has the same short ID.
    """

    calls: frozenset[str] = frozenset()
    tool_spans: frozenset[str] = frozenset()
    results: frozenset[str] = frozenset()
    told_calls: frozenset[str] = field(default=frozenset(), compare=False)
    told_results: frozenset[str] = field(default=frozenset(), compare=False)


def census_of(data: Any) -> Census:
    """The calls in any JSON value."""
    calls: dict[str, str] = {}
    results: dict[str, str] = {}
    of_users: set[str] = set()
    tool_spans: set[str] = set()
    waiting: list[tuple[Any, int]] = [(data, 0)]
    while waiting:
        value, depth = waiting.pop()
        if isinstance(value, list):
            waiting += [(item, depth) for item in value if isinstance(item, _CONTAINERS)]
        if not isinstance(value, dict):
            continue
        _keep(results, _results_in([value]))
        if value.get("role") == "user":  # a simulated user has tools of its own
            _keep(results, _results_in(objects_in(value.get("content"))))
            of_users.update(dict(_calls_at(value)))
            continue
        if value.get("is_copied_context") is True:  # a step of another document of ATIF
            continue
        if not _MARKERS.isdisjoint(value):
            _keep(calls, _calls_at(value))
            if _is_tool_span(value):
                tool_spans.add(_span_id(value))
        for key, inner in value.items():
            if _is_other(key, value):
                continue
            if key == "events" and isinstance(inner, list):
                inner = _without_scorers(inner)
            if isinstance(inner, _CONTAINERS):
                waiting.append((inner, depth))
            elif isinstance(inner, str) and depth < _DEEPEST_TEXT and _is_attribute(key):
                waiting += [(parsed, depth + 1) for parsed in _parsed(inner)]
    results = {call: shown for call, shown in results.items() if call not in of_users}
    return Census(
        frozenset(calls), frozenset(tool_spans), frozenset(results), frozenset(_told(calls)), frozenset(_told(results))
    )


def _keep(found: dict[str, str], new: Iterable[tuple[str, str]]) -> None:
    """Add what is new; a call that stands in several places of a record is told by the first."""
    for identity, told in new:
        found.setdefault(identity, told)


def _told(found: dict[str, str]) -> Iterator[str]:
    """Calls, or results, by their IDs, of which those that agents count have what they say behind them."""
    for identity, told in found.items():
        yield identity if is_unique(identity) or "\0" in identity else f"{identity}\0{told}"


def is_unique(identity: str) -> bool:
    """Whether no other call has an ID; agents count theirs, as `call_1`."""
    return len(identity) >= _UNIQUE


def may_hold_calls(raw: bytes) -> bool:
    """Whether the bytes of a record have a word that only calls have: a cheap look before `census_of`."""
    return any(hint in raw for hint in _HINTS_IN_BYTES)


def _is_other(key: str, holder: dict[str, Any]) -> bool:
    """Whether a field holds calls of something else than the run.

    Inspect keeps the provider's request beside the messages, whose calls may have no IDs, and the ends of attempts that
    it repeated; Google ADK, NeMo Gym and others what they compare a run with. Examples are those of a prompt.
    """
    return (
        (key == "call" and holder.get("event") == "model")
        or (key == "calls" and "messages" in holder)
        or (key == "error_retries" and "epoch" in holder)
        or _COMPARED.match(key) is not None
        or _FEW_SHOT.fullmatch(key) is not None
        or (key == "examples" and not _CHATS.isdisjoint(holder))
    )


def _without_scorers(events: list[Any]) -> list[Any]:
    """The events of an Inspect sample without those of its scorers, whose models may call tools, too."""
    scoring: set[Any] = set()
    kept: list[Any] = []
    for event in events:
        place = at(event, "span_id")
        if isinstance(event, dict) and event.get("event") == "span_begin" and isinstance(place, str):
            above = event.get("parent_id")
            if event.get("type") in ("scorers", "scorer") or (isinstance(above, str) and above in scoring):
                scoring.add(place)
        if not isinstance(place, str) or place not in scoring:
            kept.append(event)
    return kept


def _calls_at(value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The calls that stand directly in an object, each with its name and arguments, as far as these are known."""
    yield from _of_coding_agents(value)
    if any(value.get(kind) in _TYPES for kind in _KINDS if isinstance(value.get(kind), str)):
        yield from _mark(value, str(value.get("type")))
    for key in _LISTS:
        for item in objects_in(value.get(key)):
            yield from _mark(item)
    for key in _OBJECTS:
        if isinstance(item := value.get(key), dict):
            yield from _mark(item)
    if value.get("type") in _LISTED:
        for item in objects_in(value.get("content")):
            if "arguments" in item:
                yield from _mark(item)
    if isinstance(shown := value.get("toolCallId"), str) and shown and ("input" in value or "args" in value):
        yield shown, ""
    for key, attribute in _attributes(value):
        if isinstance(attribute, str) and attribute and _FLAT_ID.search(key):
            yield attribute, ""


def _results_in(values: Iterable[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """The results that objects are, by the IDs of their calls: messages of a tool, or parts or items with a result."""
    for value in values:
        kind = value.get("type")
        key = "tool_call_id" if value.get("role") == "tool" else _RESULTS.get(kind) if isinstance(kind, str) else None
        answered = None if key is None else value.get(key)
        if isinstance(answered, str) and answered:
            yield answered, "" if is_unique(answered) else str(value.get("content") or value.get("output"))


def _of_coding_agents(value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Calls in shapes of their own: parts of opencode, content of Goose, events of OpenHands, items of Codex."""
    kind = value.get("type") or value.get("kind")
    key = _CODING.get(kind) if isinstance(kind, str) else None
    if key is not None and key[1] in value and isinstance(calls := value.get(key[0]), str):
        yield calls, ""


def _mark(call: dict[str, Any], kind: str | None = None) -> Iterator[tuple[str, str]]:
    """What tells a call from others; nothing for what has neither a name nor a type that needs none."""
    inner = next((mark for key in ("function", "custom") if isinstance(mark := call.get(key), dict)), call)
    names = (*_NAMES, "function")
    name = next((mark for key in names for one in (inner, call) if isinstance(mark := one.get(key), str)), None)
    if not name and (kind is None or not kind.endswith("_call") or kind in ("tool_call", "function_call")):
        return
    identity = next((mark for key in _IDS if isinstance(mark := call.get(key), str) and mark), None)
    arguments = next((mark for key in ARGUMENTS for one in (inner, call) if (mark := one.get(key)) is not None), "")
    # Not orjson: records hold integers beyond 64 bits.
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, sort_keys=True)
    told = f"{name or kind}\0{text}"
    yield (told, "") if identity is None else (identity, re.sub(r"\s", "", told))


def _attributes(value: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The attributes of a span, as a mapping or as the list of pairs that OTLP and Jaeger have."""
    for holder in ("attributes", "tags"):
        attributes = value.get(holder)
        if isinstance(attributes, dict):
            yield from attributes.items()
        for pair in objects_in(attributes):
            if isinstance(key := pair.get("key"), str):
                inner = pair.get("value")
                yield key, next(iter(inner.values()), None) if isinstance(inner, dict) else inner


def _span_id(span: dict[str, Any]) -> str:
    """The ID of a span; without one, a digest of the span."""
    places = (span, context) if isinstance(context := span.get("context"), dict) else (span,)
    names = (place.get(key) for place in places for key in _SPAN_IDS)
    return next((one for one in names if isinstance(one, str) and one), None) or digest(json.dumps(span, default=str))


def _is_tool_span(value: dict[str, Any]) -> bool:
    if value.get("object") == "trace.span":  # of the OpenAI Agents SDK
        return at(value.get("span_data"), "type") == "function"
    attributes = [(key, text) for key, text in _attributes(value) if isinstance(text, str)]
    if ("gen_ai.tool.name", "(merged tools)") in attributes:  # Google ADK: the results of parallel calls together
        return False
    return any(_SPAN_KINDS.get(key) == text for key, text in attributes)


def _is_attribute(key: str) -> bool:
    """Whether a field may hold JSON in a text that the source wrote: an attribute of a span, not a tool's output."""
    return "." in key or key.endswith("Value")


def _parsed(text: str) -> Iterator[Any]:
    if text[:1] in "[{" and any(hint in text for hint in _HINTS):
        try:
            yield orjson.loads(text)
        except orjson.JSONDecodeError:
            return
