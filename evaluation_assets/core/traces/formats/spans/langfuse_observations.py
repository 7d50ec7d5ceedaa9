"""Observations of Langfuse as attributes of spans: those of its exports, and of the spans that its SDKs write."""

from typing import Any

from evaluation_assets.core.text.nullable import sum_of
from evaluation_assets.core.traces.formats.spans.attributes import kind_of
from evaluation_assets.core.traces.formats.spans.langchain_dumps import USER_MESSAGES, is_tool_message, user_messages_in
from evaluation_assets.core.traces.formats.spans.stored import attributes_of, usage_attributes
from evaluation_assets.core.traces.formats.spans.tree import Span
from evaluation_assets.core.traces.formats.stated import Comparisons
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.formats.untyped import at, decoded, list_in, object_in, with_numbers
from evaluation_assets.core.traces.formats.usage import Count, settled
from evaluation_assets.core.traces.trajectories.model import JsonObject

_OWN = "langfuse.observation."
_TYPES = {"agent": "AGENT", "model": "GENERATION", "tool": "TOOL", "chain": "CHAIN"}
_CONTENT = {
    "gen_ai.input.messages": ("gen_ai.prompt.", "llm.input_messages.", "gen_ai.input.messages", "ai.prompt"),
    "gen_ai.output.messages": ("gen_ai.completion.", "llm.output_messages.", "gen_ai.output.messages"),
}
"""Where other conventions have what a model was sent, and what it said."""

_INPUT = ("input", "cache_read_input_tokens", "cache_creation_input_tokens")
_OUTPUT = ("output",)


def observation_attributes(
    kind: str,
    title: str,
    given: Any,
    said: Any,
    unmapped: UnmappedFields,
    *,
    model: str | None,
    usage: JsonObject,
    recorded: JsonObject | None = None,
) -> JsonObject:
    """Attributes of an observation, from its input and output as JSON values or text.

    `recorded` are the attributes of the OpenTelemetry span that it was made of. What they say goes first: Langfuse
    knows fewer conventions, but keeps out of them what it takes for input and output.
    """
    recorded = recorded or {}
    known = kind_of(Span(id="", trace_id="", name=title, attributes=recorded))
    if known == "other" and kind == "SPAN" and is_tool_message(said):
        kind = "TOOL"
    body, tools = _without_tools(decoded(given))
    shown = kind if known == "other" else _TYPES[known]
    attributes = attributes_of(shown, title, body, decoded(said), unmapped, model=model, tools=tools, usage=usage)
    if kind in ("SPAN", "CHAIN") and (said_by_user := user_messages_in(given)):
        attributes[USER_MESSAGES] = said_by_user
    if known == "other":
        return attributes
    for own, signs in _CONTENT.items():
        if any(key.startswith(signs) for key in recorded):
            attributes.pop(own, None)
    return {**attributes, **recorded}


def langfuse_usage(counts: Any, cost: Any, stated: Comparisons) -> JsonObject:
    """Kinds of tokens in Langfuse exclude each other, by its documentation; not all integrations keep to it."""
    numbers = {
        key: int(value) for key, value in with_numbers(object_in(counts)).items() if isinstance(value, int | float)
    }
    from_cache = next((value for key, value in numbers.items() if "cache" in key and "read" in key), None)
    to_cache = [value for key, value in numbers.items() if "cache" in key and ("creation" in key or "write" in key)]
    counted = settled(stated, numbers.get("total"), _count(numbers, _INPUT), _count(numbers, _OUTPUT))
    return usage_attributes(
        {
            "input_tokens": counted[0],
            "output_tokens": counted[1],
            "cache_read_input_tokens": numbers.get("input_cached_tokens", numbers.get("input_cache_read", from_cache)),
            "cache_creation_input_tokens": sum_of(to_cache),
        },
        cost,
    )


def read_sdk_attributes(span: Span, unmapped: UnmappedFields) -> None:
    """Add the attributes of other conventions to a span of the Langfuse SDK, which has only names of its own.

    What a span records in those conventions, too, stays as it is.
    """
    own = {key.removeprefix(_OWN): value for key, value in span.attributes.items() if key.startswith(_OWN)}
    kind = own.pop("type", None)
    if not isinstance(kind, str):
        return
    model, costs = own.pop("model.name", None), decoded(own.pop("cost_details", None))
    attributes = observation_attributes(
        kind,
        span.name,
        own.pop("input", None),
        own.pop("output", None),
        unmapped,
        model=model if isinstance(model, str) else None,
        usage=langfuse_usage(decoded(own.pop("usage_details", None)), at(costs, "total"), unmapped.stated),
    )
    message = own.pop("status_message", None)
    if own.pop("level", None) == "ERROR":
        span.error = span.error or (message if isinstance(message, str) and message else "error")
    others = {key: value for key, value in span.attributes.items() if not key.startswith(_OWN)}
    span.attributes = {**attributes, **{f"{_OWN}{key}": value for key, value in own.items()}, **others}


def _count(counts: dict[str, int], names: tuple[str, ...]) -> Count:
    """The tokens of a kind with the kinds beside it, whose names begin like its own."""
    kinds = {
        key: value
        for key, value in counts.items()
        if (key in names or key.startswith(f"{names[0]}_")) and "priority" not in key and "cost" not in key.lower()
    }
    return Count(kinds.pop(names[0], 0) if kinds else None, sum(kinds.values()), is_beside=True)


def _without_tools(given: Any) -> tuple[Any, list[Any]]:
    """The input without the tool definitions that the LangChain integration appends as messages of role tool."""
    tools: list[Any] = []
    rest: list[Any] = []
    for message in list_in(given):
        content = at(message, "content")
        if at(message, "role") == "tool" and isinstance(content, dict) and isinstance(at(content, "function"), dict):
            tools.append(content)
        else:
            rest.append(message)
    return (rest, tools) if tools else (given, [])
