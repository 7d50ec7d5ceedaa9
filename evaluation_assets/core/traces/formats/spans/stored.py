"""Spans of trace stores that record inputs and outputs as the program had them, in the attributes of OpenInference."""

from typing import Any

from evaluation_assets.core.traces.formats.spans.bodies import reply_messages, request_messages, tool_definitions
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.formats.untyped import at, decoded, first_text, list_in, object_in, with_numbers
from evaluation_assets.core.traces.trajectories.model import JsonObject, Usage

_KINDS = {
    "AGENT": "AGENT",
    "TOOL": "TOOL",
    "RETRIEVER": "RETRIEVER",
    "LLM": "LLM",
    "CHAT_MODEL": "LLM",
    "GENERATION": "LLM",
    "CHAIN": "CHAIN",
    "WORKFLOW": "CHAIN",
    "TASK": "CHAIN",
    "SPAN": "CHAIN",
}


def attributes_of(
    kind: str,
    name: str,
    given: Any,
    said: Any,
    unmapped: UnmappedFields,
    *,
    model: str | None = None,
    tools: Any = None,
    usage: JsonObject | None = None,
) -> JsonObject:
    """Attributes of a span of this kind (e.g. TOOL, CHAT_MODEL), from its input and output.

    `usage` has the names of OpenTelemetry (`gen_ai.usage.input_tokens`).
    """
    attributes: JsonObject = {"openinference.span.kind": _KINDS.get(kind.upper(), kind), **(usage or {})}
    known = attributes["openinference.span.kind"]
    if known == "LLM":
        offered = tools or tool_definitions(given)
        attributes |= {
            "gen_ai.input.messages": request_messages(given, unmapped),
            "gen_ai.output.messages": reply_messages(said, unmapped),
            "gen_ai.request.model": model or first_text(decoded(given), "model"),
            "gen_ai.tool.definitions": list_in(decoded(offered)),
        }
    elif known in ("TOOL", "RETRIEVER"):
        result = decoded(said)
        is_message = isinstance(result, dict) and isinstance(result.get("tool_call_id"), str) and "content" in result
        attributes |= {
            "tool.name": name,
            "input.value": given,
            "output.value": result["content"] if is_message else said,
            "tool_call.id": first_text(result, "tool_call_id") if is_message else None,
        }
    elif known == "CHAIN":
        attributes["input.value"] = given
    elif known == "AGENT":
        attributes |= {"agent.name": name, "input.value": given, "output.value": said}
    return {key: value for key, value in attributes.items() if value is not None and value != []}


def usage_attributes(counts: Any, cost: Any = None) -> JsonObject:
    """The attributes of token counts and of a cost in dollars."""
    counts = with_numbers({**object_in(counts), "cost": cost})
    attributes = {
        "gen_ai.usage.input_tokens": _first(counts, "input_tokens", "input", "promptTokens", "prompt_tokens"),
        "gen_ai.usage.output_tokens": _first(
            counts, "output_tokens", "output", "completionTokens", "completion_tokens"
        ),
        "gen_ai.usage.cache_read.input_tokens": _first(counts, "cache_read_input_tokens", "input_cached_tokens"),
        "gen_ai.usage.cache_creation.input_tokens": _first(counts, "cache_creation_input_tokens"),
        "gen_ai.usage.cost": counts["cost"],
    }
    return {key: value for key, value in attributes.items() if isinstance(value, int | float)}


def attributes_of_usage(used: Usage | None) -> JsonObject:
    """The attributes of tokens and a cost that are known."""
    if used is None:
        return {}
    counts = {
        "input_tokens": used.input_tokens,
        "output_tokens": used.output_tokens,
        "cache_read_input_tokens": used.cached_tokens,
        "cache_creation_input_tokens": used.cache_write_tokens,
    }
    return usage_attributes(counts, used.cost_usd)


def _first(counts: Any, *keys: str) -> Any:
    return next((value for key in keys if (value := at(counts, key)) is not None), None)
