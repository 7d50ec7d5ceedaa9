"""Parse messages, calls, tools and results from the values of span attributes."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from evaluation_assets.core.traces.formats.messages.tool_definitions import tools_in
from evaluation_assets.core.traces.formats.spans.langchain_dumps import message_in, tool_message_in
from evaluation_assets.core.traces.formats.transcript import Call, as_text, one_line
from evaluation_assets.core.traces.formats.untyped import (
    at,
    decoded,
    first_text,
    list_in,
    object_in,
    objects_in,
    printed_value,
)
from evaluation_assets.core.traces.trajectories.model import JsonObject, Tool

_ROLES = {"model": "assistant", "ai": "assistant", "human": "user", "function": "tool", "tool-response": "tool"}
_TEXT_KEYS = ("content", "text", "value")
_PARTS_IN_TEXT = ('[{"type"', '[{"text"', '[{"json"', '[{"toolUse"', '[{"toolResult"', '[{"reasoningContent"')
_CALLS_IN_TEXT = ('[{"function"', '[{"id"', '[{"type":"function"', '[{"type": "function"')
_DEEPEST = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a model's input or output."""

    role: str
    text: str = ""
    thought: str | None = None
    calls: tuple[Call, ...] = ()
    call_id: str | None = None
    error: str | None = None


def messages_of(value: Any, role: str) -> Iterator[Message]:
    """Messages in a value: a message, a list of messages, or a text. `role` is the default role."""
    if isinstance(value, dict):
        yield from messages_from(value, role)
    elif isinstance(value, list):
        for item in value:
            if isinstance(item, dict):
                yield from messages_from(item, role)
            elif isinstance(item, str) and item.strip():
                yield Message(role=role, text=item)
    elif isinstance(value, str) and value.strip():
        yield Message(role=role, text=value)


def messages_from(item: JsonObject, role: str) -> Iterator[Message]:
    """Parse a message in any supported shape; one with several tool results becomes several messages."""
    data = {key.removeprefix("message."): value for key, value in item.items()}
    if isinstance(inner := data.get("message"), dict):
        data = {**data, **inner}
    named = data.get("role") if isinstance(data.get("role"), str) else role
    named = _ROLES.get(named.lower(), named.lower()) if isinstance(named, str) else role
    texts: list[str] = []
    thoughts: list[str] = []
    calls: list[Call] = []
    for part in _parts_of(data):
        result = _response(part)
        if result is not None:
            yield result
        elif (call := _part_call(part)) is not None:
            calls.append(call)
        elif isinstance(part, str):
            texts.append(part)
        elif part.get("type") in ("reasoning", "thinking") or part.get("thought") is True:
            thoughts.append(_text_in(part))
        else:
            texts.append(_text_in(part))
    calls += map(_call, list_in(data.get("tool_calls") or at(data.get("additional_kwargs"), "tool_calls")))
    if not calls and len(texts) == 1 and (called := _calls_in(texts[0])):
        named, texts, calls = "assistant", [], called
    text, thought = "\n".join(filter(None, texts)), "\n".join(filter(None, thoughts))
    extra = data.get("reasoning_content") or data.get("reasoning") or data.get("thinking")
    thought = thought or (extra if isinstance(extra, str) else "")
    if text.strip() or thought.strip() or calls or named == "tool":
        call_id = data.get("tool_call_id") or (data.get("id") if named == "tool" else None)
        if text or thought or calls or call_id:
            yield Message(
                role=named,
                text=text,
                thought=thought or None,
                calls=tuple(calls),
                call_id=call_id if isinstance(call_id, str) else None,
                error=_stated_error(data, text) if named == "tool" else None,
            )


def with_call_ids(messages: Iterable[Message]) -> Iterator[Message]:
    """The messages; a result without the ID of its call, right after a message with one call, is that of this call."""
    last: Call | None = None
    for message in messages:
        if message.role == "tool" and message.call_id is None and last is not None and last.id is not None:
            message = replace(message, call_id=last.id)
        last = message.calls[0] if len(message.calls) == 1 else None
        yield message


def _calls_in(text: str) -> list[Call]:
    """The calls that a text consists of, as Koog has them, also where it gives them back to the model."""
    listed = decoded(text) if text.startswith(_CALLS_IN_TEXT) else None
    functions = [at(item, "function") for item in list_in(listed)]
    if not all(isinstance(at(each, "name"), str) and "arguments" in each for each in functions):
        return []
    return [_call(item) for item in list_in(listed)]


def _parts_of(data: JsonObject) -> Iterator[str | JsonObject]:
    """The parts of a message. OpenInference writes a text both as `content` and as the only part of `contents`."""
    content = list(_parts(data.get("content")))
    yield from content
    said = [_text_in(part) for part in content]
    for part in (*_parts(data.get("contents")), *_parts(data.get("parts"))):
        if not any(_text_in(part) in text for text in said) or not _text_in(part):
            yield part


def messages_in(value: Any, role: str = "user") -> Any:
    """Messages in a recorded request or reply."""
    if isinstance(value, dict):
        if isinstance(choices := value.get("choices"), list):
            return choices
        messages = next((value[key] for key in ("messages", "contents", "message") if value.get(key)), None)
        if messages is not None:
            return messages
        if "content" in value or "tool_calls" in value:
            return value
        completed = value.get("text" if role == "assistant" else "prompt")  # of a completion without a chat
        return completed if isinstance(completed, str) else None
    return value if isinstance(value, list | str) and role == "assistant" else None


def _parts(value: Any) -> Iterator[str | JsonObject]:
    if isinstance(value, str):
        parts = decoded(value) if value.lstrip().startswith(_PARTS_IN_TEXT) else value
        if isinstance(parts, list):
            yield from _parts(parts)
        elif value:
            yield value
    elif isinstance(value, dict):
        yield from _parts(value["parts"]) if isinstance(value.get("parts"), list) else [value]
    elif isinstance(value, list):
        for item in value:
            if isinstance(item, dict):
                yield {key.removeprefix("message_content."): inner for key, inner in item.items()}
            elif isinstance(item, str):
                yield item


def _text_in(part: str | JsonObject) -> str:
    if isinstance(part, str):
        return part
    for key in (*_TEXT_KEYS, "thinking", "reasoning"):
        if isinstance(part.get(key), str):
            return part[key]
    kind = part.get("type")
    return f"[{kind}]" if isinstance(kind, str) and kind != "text" else ""


def _response(part: str | JsonObject) -> Message | None:
    """Parse a tool result part of a message."""
    if isinstance(part, str):
        return None
    response = part.get("function_response") or part.get("functionResponse")
    if isinstance(result := part.get("toolResult"), dict):
        response = result
        text = "\n".join(_text_in(item) or as_text(item.get("json")) for item in objects_in(result.get("content")))
        error = _stated_error(result, text)
    elif isinstance(response, dict):
        text, error = result_of(response.get("response"))
    elif part.get("type") in ("tool_call_response", "tool_result", "tool-result"):
        response = part
        keys = ("response", "result", "content", "output")
        text, error = result_of(next((part[key] for key in keys if part.get(key) is not None), None))
        error = error or _stated_error(part, text or "")
    else:
        return None
    name = next((response[key] for key in ("id", "tool_use_id", "toolCallId", "toolUseId") if response.get(key)), None)
    return Message(role="tool", text=text or "", call_id=name if isinstance(name, str) else None, error=error)


def _part_call(part: str | JsonObject) -> Call | None:
    """Parse a tool call part of a message."""
    if isinstance(part, str):
        return None
    inner = part.get("function_call") or part.get("functionCall") or part.get("toolUse")
    if isinstance(inner, dict):
        return _call(inner)
    return _call(part) if part.get("type") in ("tool_call", "tool_use", "tool-call") else None


def _call(value: Any) -> Call:
    data = {key.removeprefix("tool_call."): inner for key, inner in object_in(value).items()}
    function = data.get("function")
    if isinstance(function, dict):
        data = {**data, **function}
    names = ("function.name", "name", "toolName", "tool_name")
    keys = ("function.arguments", "arguments", "args", "input")
    call_id = data.get("id") or data.get("toolCallId") or data.get("toolUseId")
    return Call(
        name=first_text(data, *names) or "unknown",
        arguments=next((data[key] for key in keys if data.get(key) is not None), None),
        id=call_id if isinstance(call_id, str) else None,
    )


def tools_from(value: Any) -> tuple[Tool, ...]:
    """Parse tool definitions, which OpenInference nests under an extra key."""
    return tools_in([at(decoded(item), "tool.json_schema") or item for item in list_in(decoded(value))])


def arguments_of(value: Any) -> Any:
    """The arguments of a call; arguments of a Python function by name, if all have one."""
    data = decoded(value)
    if isinstance(data, dict) and isinstance(data.get("input_str"), str):  # of LangChain's callbacks
        return printed_value(data["input_str"])
    if isinstance(data, dict) and data.keys() <= {"args", "kwargs", "sanitize_inputs_outputs"} and "kwargs" in data:
        return data["kwargs"] if not data.get("args") else {"args": data["args"], **object_in(data["kwargs"])}
    return printed_value(data) if isinstance(data, str) and data.startswith("{'") else data


def result_of(value: Any) -> tuple[str | None, str | None]:
    """The output of a tool as text, and its error; results of MCP and Strands and LangChain messages are unwrapped."""
    if (message := tool_message_in(value)) is not None:
        text = "\n".join(map(_text_in, _parts(message["content"])))
        return text, _stated_error(message, text)
    data = _without_wrapper(decoded(value))
    if isinstance(data, dict) and isinstance(data.get("content"), list):
        texts = [text for part in data["content"] if (text := _result_text(part)) is not None]
        if len(texts) == len(data["content"]):
            text = "\n".join(texts)
            return text, _stated_error(data, text)
    return (None if value is None else as_text(value)), None


def _without_wrapper(data: Any) -> Any:
    """A tool's result with its content as `content`, without what instrumentations put around it."""
    if (
        isinstance(data, dict)
        and data.keys() <= {"message", "id"}
        and str(data.get("message")).startswith(_PARTS_IN_TEXT)
    ):
        data = decoded(data["message"])  # Strands in Langfuse
    alone = data[0] if isinstance(data, list) and len(data) == 1 else data
    if isinstance(result := at(alone, "toolResult"), dict):
        return result
    if isinstance(data, list) and data and all(_result_text(part) is not None for part in data):
        return {"content": data}
    return data


def _result_text(part: Any) -> str | None:
    """The content of a part that has nothing but content."""
    if not isinstance(part, dict) or not part.keys() <= {"type", "text", "json", "annotations", "_meta"}:
        return None
    if isinstance(text := part.get("text"), str) and part.get("type", "text") == "text":
        return text
    return as_text(part["json"]) if "json" in part else None


def _stated_error(result: JsonObject, text: str) -> str | None:
    """The error of a result whose own fields say that the call failed."""
    failed = result.get("status") == "error" or True in (result.get("isError"), result.get("is_error"))
    return (one_line(text) or "error") if failed else None


def plain_text(value: Any, keys: tuple[str, ...], depth: int = 0) -> str | None:
    """The text of a recorded input or output: the value itself, or that of a known field."""
    data = message_in(value) or decoded(value)
    if isinstance(data, str):
        return data if data.strip() not in ("", "null") else None
    if isinstance(data, list) and data and depth < _DEEPEST:
        return plain_text(data[-1], keys, depth + 1)
    if isinstance(data, dict) and depth < _DEEPEST:
        for key in (*keys, *_TEXT_KEYS, "kwargs", "parts"):
            if data.get(key) and (text := plain_text(data[key], keys, depth + 1)):
                return text
        return as_text(data) if depth == 0 else None
    return None
