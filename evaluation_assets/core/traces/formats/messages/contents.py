"""The content of chat messages as text: texts, parts with a type, data of a tool."""

import re
from typing import Any

from evaluation_assets.core.traces.formats.images import image_text, states_image
from evaluation_assets.core.traces.formats.transcript import as_text
from evaluation_assets.core.traces.formats.unmapped_fields import Fields

_THOUGHT = re.compile(r"\s*(?:<(think|thinking)>)?(.*?)</(?:think|thinking)>", re.DOTALL)
_OPEN_THOUGHT = re.compile(r"\s*<(?:think|thinking)>(.*)\Z", re.DOTALL)
_MEDIA = {
    "image_url": "image", "input_image": "image", "image": "image", "input_audio": "audio", "audio": "audio",
    "file": "file", "input_file": "file", "container_upload": "file", "document": "document", "video_url": "video",
    "media": "media", "binary": "file", "video": "video",
}  # fmt: skip

TEXTS = ("content", "value", "text", "message", "utterance", "body")
"""Fields of a message that hold what it says."""

CALL_PARTS = ("tool_use", "tool_call", "function_call", "input_json_delta")
"""Content parts that are tool calls. LangChain also lists them in `tool_calls`."""

_HIDDEN = ("redacted_thinking", "redacted_reasoning", "omitted_reasoning")
"""Content parts for a provider's reasoning that it does not show."""

_OF_MCP = ("resource", "resource_link")
"""Content parts of MCP: a resource with its content, and where one is."""

_SAID = ("text", "refusal", "thinking", "reasoning", "content", "json", "value", "tool_result")
"""Fields of a part that hold what it says."""


def content_of(fields: Fields) -> str:
    """The content of a message as text; other media are named in brackets and counted as unmapped."""
    if fields.is_object("content") and "type" not in (content := fields.object("content")) and "text" not in content:
        return as_text(content.rest())  # a tool's output as JSON
    pieces = [part if isinstance(part, str) else part_text(part) for part in fields.parts(*TEXTS)]
    return "\n".join(piece for piece in pieces if piece)


def part_text(part: Fields) -> str:
    """Convert a content part to text."""
    kind = part.text("type") or "text"
    if kind == "document" and (said := part.object("document").value("data")) is not None:  # results of Cohere
        return as_text(said)
    if kind in _OF_MCP:
        return _resource(part)
    if kind in _MEDIA:
        return image_text(part) if _MEDIA[kind] == "image" or states_image(part) else f"[{_MEDIA[kind]}]"
    if kind in _HIDDEN:
        part.rest()
        return ""
    if kind in CALL_PARTS:
        part.set_aside("id", "name", "input", "partial_json", "arguments", "call_id", "tool_call_id", "index")
        return ""
    value = part.value(*_SAID)
    if kind in ("thinking", "reasoning", "reasoning_content") and isinstance(value, str):
        part.set_aside("signature", "id", "summary")
        return f"<think>{value}</think>\n"
    part.set_aside("index", "id")
    if isinstance(value, dict) and isinstance(value.get("value"), str):
        return value["value"]  # a text of the Assistants API, with its citations
    return as_text(value) if value is not None else f"[{part.note_unknown(part.text('type'))}]"


def _resource(part: Fields) -> str:
    """The text of a resource, or its address."""
    held = part.object("resource") if part.is_object("resource") else part
    part.set_aside("name", "title", "description", "annotations", "size", "_meta")
    held.set_aside("uri", "mimeType")
    return held.text("text") or f"[resource: {held.text('uri')}]"


def split_thought(content: str) -> tuple[str | None, str]:
    """Split leading reasoning tags from the rest of the content."""
    thoughts: list[str] = []
    position = 0
    while content.find("</think", position) >= 0 and (match := _THOUGHT.match(content, position)) is not None:
        if match[1] is None and thoughts:
            break
        thoughts.append(match[2].strip())
        position = match.end()
    if (match := _OPEN_THOUGHT.match(content, position)) is not None:
        thoughts.append(match[1].strip())
        position = len(content)
    if not thoughts:
        return None, content
    return "\n\n".join(thought for thought in thoughts if thought) or None, content[position:].lstrip()


def are_data(content: Any) -> bool:
    """Whether what a tool returned is a value of its own, such as a number or an object, and no text and no parts."""
    if isinstance(content, list):
        return not all(isinstance(item, str) for item in content) and not any(map(_is_part, content))
    return content is not None and not isinstance(content, str) and not _is_part(content)


def _is_part(item: Any) -> bool:
    """Whether a value is a part of a message: it has a text, or a type that is known or beside what it says."""
    if not isinstance(item, dict):
        return False
    kind = item.get("type")
    is_known = isinstance(kind, str) and (kind in _MEDIA or kind in (*_HIDDEN, *CALL_PARTS))
    return "text" in item or is_known or ("type" in item and any(name in item for name in _SAID))
