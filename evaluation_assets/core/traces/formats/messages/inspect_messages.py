"""Inspect AI messages: content parts, tool calls, and attachments stored elsewhere in the sample."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from evaluation_assets.core.traces.formats.transcript import Call, Result, as_text, one_line
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields
from evaluation_assets.core.traces.formats.usage import usage
from evaluation_assets.core.traces.trajectories.model import JsonObject, Usage

_REFERENCES = ("attachment://", "tc://")


class Resolved:
    """Resolves the attachments that texts of a sample refer to."""

    def __init__(self, attachments: Mapping[str, Any]) -> None:
        self._attachments = attachments

    def text(self, value: Any) -> str:
        """A value as text."""
        text = as_text(value)
        for scheme in _REFERENCES:
            if text.startswith(scheme):
                attached = self._attachments.get(text.removeprefix(scheme))
                return attached if isinstance(attached, str) else text
        return text

    def value(self, value: Any) -> Any:
        """The arguments of a call."""
        if isinstance(value, dict):
            return {key: self.text(inner) if isinstance(inner, str) else inner for key, inner in value.items()}
        return self.text(value) if isinstance(value, str) else value


@dataclass(slots=True)
class Content:
    """The parts of a message."""

    said: str = ""
    thought: str | None = None
    calls: list[Call] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)


def content_of(value: Any, resolved: Resolved, unmapped: UnmappedFields) -> Content:
    """The content of a message as text; other media are named in brackets and counted as unmapped."""
    if not isinstance(value, list):
        return Content(said=resolved.text(value))
    content = Content()
    said, thoughts = [], []
    for part in value:
        if not isinstance(part, dict):
            said.append(resolved.text(part))
            continue
        kind = part.get("type")
        if isinstance(part.get("text"), str):
            said.append(resolved.text(part["text"]))
        elif kind == "reasoning":
            thoughts.append(resolved.text(part.get("summary") if part.get("redacted") else part.get("reasoning")))
        elif kind == "tool_use":
            _server_call(part, content, resolved)
        else:
            unmapped.count(f"messages[].content[] ({kind})")
            said.append(f"[{kind}]")
    content.said = "\n".join(said)
    content.thought = "\n".join(thought for thought in thoughts if thought) or None
    return content


def _server_call(part: JsonObject, content: Content, resolved: Resolved) -> None:
    """A server-side tool call inside a message: web search, code execution, MCP."""
    name, call_id, error = part.get("name"), part.get("id"), part.get("error")
    call_id = call_id if isinstance(call_id, str) else None
    content.calls.append(
        Call(
            name=name if isinstance(name, str) and name else "unknown",
            arguments=resolved.value(part.get("arguments")),
            id=call_id,
        )
    )
    told = resolved.text(error) if error else None
    content.results.append(
        Result(content=resolved.text(part.get("result")) or told or "", call_id=call_id, error=one_line(told))
    )


def parsed_calls(message: JsonObject, resolved: Resolved) -> tuple[Call, ...]:
    """The tool calls of a message whose unmapped fields are not counted."""
    return tuple(calls_of(Fields(message), resolved))


def calls_of(message: Fields, resolved: Resolved) -> Iterator[Call]:
    """The tool calls requested by the model."""
    for call in message.objects("tool_calls"):
        call.set_aside("type", "view", "parse_error")
        arguments = call.value("arguments")
        yield Call(name=call.text("function") or "unknown", arguments=resolved.value(arguments), id=call.name("id"))


def usage_in(fields: Fields) -> Usage | None:
    """Inspect includes cached tokens in the input for some providers only; the total always includes them."""
    whole, output = fields.whole("total_tokens"), fields.whole("output_tokens")
    counted = fields.whole("input_tokens")
    fields.set_aside("reasoning_tokens")
    if counted is not None and whole is not None and output is not None and whole - output > counted:
        counted = whole - output
    return usage(
        input_tokens=counted,
        output_tokens=output,
        cost_usd=fields.number("total_cost"),
        cached_tokens=fields.whole("input_tokens_cache_read"),
        cache_write_tokens=fields.whole("input_tokens_cache_write"),
    )
