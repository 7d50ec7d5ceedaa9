"""Spans of Monocle, whose attributes and events have conventions of their own, in those of OpenInference and GenAI.

What was given and said stands in the events `data.input` and `data.output`, tokens in `metadata`, and the model, the
tool and the agent are numbered entities with their types.
"""

from collections.abc import Iterator
from typing import Any

from evaluation_assets.core.traces.formats.spans.tree import Span
from evaluation_assets.core.traces.formats.untyped import as_object, at, first_text, list_in, parsed
from evaluation_assets.core.traces.trajectories.model import JsonObject

_VERSION, _TYPE = "monocle_apptrace.version", "span.type"
_KINDS = {
    "inference": "LLM", "agentic.tool.invocation": "TOOL", "agentic.mcp.invocation": "TOOL", "retrieval": "RETRIEVER",
    "agentic.invocation": "AGENT",
}  # fmt: skip
"""Kinds of spans; any other is a part of a workflow."""
_ROLES = {
    "system": "system", "developer": "system", "user": "user", "human": "user", "assistant": "assistant",
    "ai": "assistant", "model": "assistant", "tool": "tool", "function": "tool",
}  # fmt: skip
_OWN = ("monocle", "entity.", "scope.", "span.", "workflow.", "last.inference", "inference.decision", "span_source")
"""Prefixes of attributes in these conventions."""
_GIVEN, _SAID, _COUNTS = "data.input", "data.output", "metadata"


def translated(span: Span) -> Span:
    """A span of Monocle with the attributes of the usual conventions; any other span unchanged."""
    if _VERSION not in span.attributes or not isinstance(kind := span.attributes.get(_TYPE), str):
        return span
    own, events = span.attributes, {event.name: event.attributes for event in span.events}
    given, said = at(events.get(_GIVEN), "input"), at(events.get(_SAID), "response")
    known = _KINDS.get(kind) or ("LLM" if kind.startswith("inference.") and events else "CHAIN")
    span.attributes = {
        "openinference.span.kind": known,
        **{key: value for key, value in own.items() if not key.startswith(_OWN)},
        **({"session.id": session} if (session := own.get("scope.agentic.session")) else {}),
    }
    if known == "LLM":
        counts = events.get(_COUNTS, {})
        said = None if span.error is not None else said  # it is the error
        span.attributes |= {
            "llm.model_name": first_text(counts, "model") or _entity(own, "model."),
            "gen_ai.input.messages": list(_messages(given, "user")),
            "gen_ai.output.messages": list(_messages(said, "assistant")),
            "gen_ai.usage.input_tokens": counts.get("prompt_tokens"),
            "gen_ai.usage.output_tokens": counts.get("completion_tokens"),
        }
    else:
        texts = list_in(given)
        asked = "\n".join(map(_unquoted, texts)) if texts and all(isinstance(text, str) for text in texts) else given
        named = {"TOOL": {"tool.name": _entity(own, "tool.")}, "AGENT": {"agent.name": _entity(own, "agent.")}}
        span.attributes |= {**named.get(known, {}), "input.value": asked, "output.value": said}
    span.attributes = {key: value for key, value in span.attributes.items() if value is not None}
    span.events = [event for event in span.events if event.name not in (_GIVEN, _SAID, _COUNTS)]
    return span


def _entity(attributes: JsonObject, of_type: str) -> str | None:
    """The name of the first entity with a type that begins so."""
    places = (key.removesuffix(".type") for key in sorted(attributes) if key.startswith("entity."))
    typed = (place for place in places if str(attributes.get(f"{place}.type")).startswith(of_type))
    return next((name for place in typed if (name := first_text(attributes, f"{place}.name"))), None)


def _messages(value: Any, role: str) -> Iterator[JsonObject]:
    """The messages in texts that have a role with what it said: `{"user": "Hello"}`; plain texts are of the `role`."""
    for text in map(_unquoted, list_in(value) or [value]):
        said = as_object(text) if isinstance(text, str) else None
        if said is None or not said.keys() <= _ROLES.keys():
            yield from [{"role": role, "content": text}] if isinstance(text, str) and text.strip() else []
            continue
        for speaker, words in said.items():
            calls = [call for call in list_in(words) or [words] if first_text(call, "name")]
            made = [{"id": at(call, "id"), "name": at(call, "name"), "arguments": at(call, "args")} for call in calls]
            if made:
                yield {"role": "assistant", "tool_calls": made}
            elif words:
                yield {"role": _ROLES[speaker], "content": words}


def _unquoted(text: Any) -> Any:
    """A text, without the quotes of JSON that it may be in."""
    return parsed(text) if isinstance(text, str) and text.startswith('"') else text
