"""Messages in recorded requests and replies of providers, for trace stores that keep them as they were sent.

OpenAI (chat and Responses), Anthropic, Gemini, Bedrock and LangChain bodies become lists of chat messages, which
`messages` parses.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.formats.untyped import at, decoded, first_text, list_in, objects_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

_REQUEST = ("messages", "contents", "input", "inputs", "prompt", "chat_history")
_REPLY = ("choices", "candidates", "generations", "output", "outputs", "messages", "message", "content")
_SYSTEM = ("system", "instructions", "system_instruction", "systemInstruction")
_ROLES = {"human": "user", "ai": "assistant", "AIMessageChunk": "assistant", "system": "system", "tool": "tool"}
_KNOWN_ROLES = ("system", "developer", "user", "assistant", "tool", "function", "model")
_SPEAKER = re.compile(r"^(system|developer|user|assistant|tool): ", re.MULTILINE)
_PROMPT_FIRST = re.compile(r"(?:system|developer): ")
_DEEPEST = 5


def request_messages(value: Any, unmapped: UnmappedFields) -> list[JsonObject]:
    """The messages of a request, its system prompt first."""
    body = decoded(value)
    prompt = next((messages for key in _SYSTEM if (messages := at(body, key))), None)
    system = [{"role": "system", "content": prompt}] if prompt else []
    messages = _spoken(body) if isinstance(body, str) else _messages(body, _REQUEST, "user", unmapped)
    return [*system, *_with_results(messages)]


def reply_messages(value: Any, unmapped: UnmappedFields) -> list[JsonObject]:
    """The messages of a reply."""
    return list(_messages(decoded(value), _REPLY, "assistant", unmapped))


def tool_definitions(value: Any) -> list[Any]:
    """The tools that a request offers."""
    return list_in(at(decoded(value), "tools"))


def _spoken(text: str) -> Iterator[JsonObject]:
    """The messages in a text that begins with a system prompt and has a speaker before each: `user: Hello`."""
    starts = [*_SPEAKER.finditer(text)]
    if not _PROMPT_FIRST.match(text) or "user" not in {start[1] for start in starts}:
        yield from _messages(text, (), "user", UnmappedFields())
        return
    for start, end in pairwise((*(start.start() for start in starts), len(text))):
        role, _, said = text[start:end].partition(": ")
        if said.strip() and said.strip() != "None":
            yield {"role": "system" if role == "developer" else role, "content": said.strip("\n")}


def _with_results(messages: Iterable[JsonObject]) -> Iterator[JsonObject]:
    """The messages, of which some have the name of the tool that answers as their role."""
    open_calls: dict[Any, Any] = {}
    for message in messages:
        for call in objects_in(message.get("tool_calls")):
            open_calls[first_text(call.get("function"), "name") or call.get("name")] = call.get("id")
        role = message.get("role")
        if role in open_calls and role not in _KNOWN_ROLES:
            message = {**message, "role": "tool", "tool_call_id": open_calls.pop(role)}
        yield message


def _messages(
    value: Any, keys: tuple[str, ...], role: str, unmapped: UnmappedFields, depth: int = 0
) -> Iterator[JsonObject]:
    """The messages in a body: a text, a message, a list of them, or an object around one of these."""
    if isinstance(value, str):
        if value.strip():
            yield {"role": role, "content": value}
    elif isinstance(value, list) and depth < _DEEPEST:
        for item in value:
            yield from _messages(item, keys, role, unmapped, depth + 1)
    elif isinstance(value, dict):
        item = _item(value, role, unmapped)
        if item is not None:
            yield from item
            return
        inner = next((inside for key in keys if (inside := value.get(key))), None)
        if inner is not None and depth < _DEEPEST:
            yield from _messages(inner, keys, role, unmapped, depth + 1)


def _item(value: JsonObject, role: str, unmapped: UnmappedFields) -> list[JsonObject] | None:
    """A message, or an item of the Responses API as messages; `None` if it is an object around messages."""
    kind = first_text(value, "type")
    if kind == "function_call" or kind == "custom_tool_call":
        call = {
            "id": value.get("call_id") or value.get("id"),
            "name": value.get("name"),
            "arguments": value.get("arguments") or value.get("input"),
        }
        return [{"role": "assistant", "tool_calls": [call]}]
    if kind in ("function_call_output", "custom_tool_call_output"):
        return [{"role": "tool", "tool_call_id": value.get("call_id"), "content": value.get("output")}]
    if kind == "reasoning" and "role" not in value:
        texts = [first_text(part, "text") for part in objects_in(value.get("summary") or value.get("content"))]
        return [{"role": "assistant", "reasoning": "\n".join(text for text in texts if text)}]
    if isinstance(value.get("toolCallId"), str) and "toolName" in value and role == "assistant":  # AI SDK
        return [{"role": "assistant", "tool_calls": [value]}]
    if isinstance(value.get("role"), str):
        return [{**value, "content": _content(value.get("content"))}]
    if kind in _ROLES and ("content" in value or isinstance(value.get("data"), dict)):
        inner = value["data"] if isinstance(value.get("data"), dict) else value
        return [{**inner, "role": _ROLES[kind]}]
    if isinstance(value.get("message"), dict):
        return _item({"role": role, **value["message"]}, role, unmapped)
    if isinstance(value.get("parts"), list):  # Gemini
        return [{"role": role, **value}]
    if kind == "text" and isinstance(value.get("text"), str):
        return [{"role": role, "content": value["text"]}]
    if kind is not None and kind.endswith("_call"):
        unmapped.note("unknown_part", kind)
        return []
    return None


def _content(value: Any) -> Any:
    """The content of a message; JSON text of content parts is parsed."""
    return decoded(value) if isinstance(value, str) and value.startswith('[{"type"') else value
