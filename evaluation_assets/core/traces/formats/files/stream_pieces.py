"""The answer of each API that its streamed events are pieces of."""

from collections.abc import Iterable, Sequence
from typing import Any

from evaluation_assets.core.traces.formats.untyped import at, list_in, object_in, objects_in, parsed, without_none
from evaluation_assets.core.traces.trajectories.model import JsonObject

_TEXTS = {"content", "reasoning_content", "reasoning", "refusal", "thinking", "tool_plan"}
"""Fields of a message that come in pieces."""
_ENDS = ("response.completed", "response.incomplete", "response.failed", "response.cancelled", "response.done")
_RESPONSE, _PIECES = "response", "pieces"


def completions(chunks: Sequence[JsonObject]) -> list[JsonObject | None]:
    """The chat completions that chunks are, by their IDs: answers to requests at the same time may be mixed.

    A chunk without ID belongs to the one before it, or to the first.
    """
    own_id = next((chunk["id"] for chunk in chunks if chunk.get("id")), "")
    answers: dict[str, list[JsonObject]] = {}
    for chunk in chunks:
        own_id = chunk.get("id") or own_id
        answers.setdefault(own_id, []).append(chunk)
    return [_completion(pieces) for pieces in answers.values()]


def _completion(chunks: Sequence[JsonObject]) -> JsonObject | None:
    """The chat completion that its chunks are; `None` if none has a choice, or for one chunk of more."""
    choices: dict[Any, JsonObject] = {}
    whole: JsonObject = {}
    for chunk in chunks:
        whole |= {key: value for key, value in without_none(chunk).items() if key != "choices" and value not in ("", 0)}
        used = at(chunk.get("x_groq"), "usage")
        for choice in objects_in(chunk.get("choices")):
            known = choices.setdefault(choice.get("index", 0), {"message": {"role": "assistant", "content": None}})
            _add_message(known["message"], object_in(choice.get("delta")))
            known |= without_none({key: value for key, value in choice.items() if key not in ("delta", "usage")})
            used = used or choice.get("usage")
        whole |= {} if used is None else {"usage": used}
    if not choices or (len(chunks) == 1 and not any(choice.get("finish_reason") for choice in choices.values())):
        return None
    return {**whole, "object": "chat.completion", "choices": list(choices.values())}


def _add_message(message: JsonObject, delta: JsonObject) -> None:
    """Add what a delta has to a message."""
    for key, value in without_none(delta).items():
        known = message.get(key)
        if key == "tool_calls":
            message[key] = list_in(known)
            for call in objects_in(value):
                _add_call(message[key], call)
        elif key == "function_call" and isinstance(known, dict):
            known["arguments"] = f"{known.get('arguments') or ''}{at(value, 'arguments') or ''}"
        elif isinstance(value, list) and key != "citations":
            message[key] = _parts([*_as_parts(known), *value])
        elif isinstance(known, list) and key in _TEXTS:
            message[key] = _parts([*known, *_as_parts(value)])
        elif key in _TEXTS and isinstance(value, str) and isinstance(known, str):
            message[key] = known + value
        elif value != "" or known is None:
            message[key] = dict(value) if isinstance(value, dict) else value


def _as_parts(content: Any) -> list[Any]:
    return list_in(content) or ([{"type": "text", "text": content}] if content and isinstance(content, str) else [])


def _parts(parts: Iterable[Any]) -> list[Any]:
    """Parts of a content, with texts in a row as one."""
    joined: list[Any] = []
    for part in parts:
        last = joined[-1] if joined else None
        if at(part, "type") == "text" and at(last, "type") == "text":
            joined[-1] = {**object_in(last), "text": f"{at(last, 'text')}{at(part, 'text')}"}
        else:
            joined.append(part)
    return joined


def _add_call(calls: list[JsonObject], piece: JsonObject) -> None:
    """Add a piece to the call of its place, unless it has the ID of another call."""
    place, own_id = piece.get("index"), piece.get("id") or None
    known = next((call for call in reversed(calls) if call.get("index") == place), None)
    if known is None or (own_id and known.get("id") and own_id != known["id"]):
        calls.append({**piece, "function": dict(object_in(piece.get("function")))})
        return
    function, more = known["function"], object_in(piece.get("function"))
    known |= {key: value for key, value in piece.items() if key != "function" and value and not known.get(key)}
    given, new = function.get("arguments"), more.get("arguments")
    if not function.get("name") and more.get("name"):
        function["name"] = more["name"]
    if new is not None:
        function["arguments"] = f"{given}{new}" if isinstance(given, str) and isinstance(new, str) else new


def response(events: Sequence[JsonObject]) -> JsonObject | None:
    """The response that its events are pieces of: as the last says, or the items that were done before it broke off."""
    stated = [event[_RESPONSE] for event in events if isinstance(event.get(_RESPONSE), dict)]
    if not stated:
        return None
    is_over = any(event.get("type") in _ENDS for event in events)
    if is_over and stated[-1].get("output"):
        return stated[-1]
    items: dict[Any, JsonObject] = {}
    for event in events:
        item, place = object_in(event.get("item")), event.get("output_index", 0)
        if event.get("type") == "response.output_item.done":
            items[place] = item
        elif event.get("type") == "response.output_item.added":
            items[place] = {**item, "content": list_in(item.get("content"))} if "content" in item else dict(item)
        elif place in items and isinstance(delta := event.get("delta"), str):
            _add_to_item(items[place], str(event.get("type")), delta)
    return {**stated[-1], "output": list(items.values())}


def _add_to_item(item: JsonObject, kind: str, delta: str) -> None:
    if kind == "response.output_text.delta":
        item["content"] = _parts([*list_in(item.get("content")), {"type": "text", "text": delta}])
    elif kind == "response.function_call_arguments.delta":
        item["arguments"] = f"{item.get('arguments') or ''}{delta}"


def anthropic_message(events: Sequence[JsonObject]) -> JsonObject | None:
    """The message that events of Anthropic's Messages API are; `None` without its beginning."""
    begun = object_in(events[0].get("message"))
    if events[0].get("type") != "message_start" or begun.get("type") != "message" or len(events) < 2:
        return None
    blocks: dict[Any, JsonObject] = {}
    message = dict(begun)
    for event in events:
        kind, place = event.get("type"), event.get("index")
        delta = object_in(event.get("delta"))
        if kind == "content_block_start":
            blocks[place] = dict(object_in(event.get("content_block")))
        elif kind == "content_block_delta" and place in blocks:
            _add_to_block(blocks[place], delta)
        elif kind == "message_delta":
            used = {**object_in(message.get("usage")), **without_none(object_in(event.get("usage")))}
            message |= {**without_none(delta), "usage": used}
    return {**message, "content": [_with_input(block, "partial_json") for block in blocks.values()]}


def _add_to_block(block: JsonObject, delta: JsonObject) -> None:
    if delta.get("type") == "citations_delta":
        block["citations"] = [*list_in(block.get("citations")), delta.get("citation")]
        return
    for key, value in delta.items():
        if key != "type":
            known = block.get(key)
            block[key] = known + value if isinstance(known, str) and isinstance(value, str) else value


def _with_input(block: JsonObject, pieces: str) -> JsonObject:
    """A block with the input of a call, which was streamed as pieces of a text."""
    text = block.get(pieces)
    rest = {key: value for key, value in block.items() if key != pieces}
    return rest if text is None else {**rest, "input": parsed(text) if text else {}}


def cohere_answer(events: Sequence[JsonObject]) -> JsonObject | None:
    """The answer that events of Cohere's chat API are; `None` without its beginning."""
    if events[0].get("type") != "message-start" or len(events) < 2:
        return None
    message: JsonObject = {"role": "assistant"}
    calls: dict[Any, JsonObject] = {}
    ended: JsonObject = {}
    for event in events:
        kind = event.get("type")
        new = object_in(at(event.get("delta"), "message"))
        call = object_in(new.get("tool_calls"))
        if kind == "message-end":
            ended = object_in(event.get("delta"))
        elif kind == "tool-call-start":
            calls[event.get("index")] = {**call, "function": dict(object_in(call.get("function")))}
        elif kind == "tool-call-delta" and (known := calls.get(event.get("index"))):
            function = known["function"]
            more = at(call.get("function"), "arguments") or ""
            function["arguments"] = f"{function.get('arguments') or ''}{more}"
        elif kind in ("content-start", "content-delta"):
            _add_message(message, {"content": _content_of(object_in(new.get("content")))})
        elif kind == "tool-plan-delta":
            _add_message(message, {"tool_plan": new.get("tool_plan")})
    return {"id": events[0].get("id"), "message": {**message, "tool_calls": list(calls.values())}, **ended}


def _content_of(part: JsonObject) -> list[JsonObject]:
    thought = part.get("thinking")
    return (
        [{"type": "thinking", "thinking": thought}] if thought else [{"type": "text", "text": part.get("text") or ""}]
    )


def ollama_answer(events: Sequence[JsonObject]) -> JsonObject | None:
    """The answer that events of Ollama's API are; `None` for one that was not streamed."""
    if len(events) < 2:
        return None
    message: JsonObject = {}
    for event in events:
        for key, value in object_in(event.get("message")).items():
            is_list = isinstance(value, list)
            known = message.get(key)
            message[key] = [*list_in(known), *value] if is_list else f"{known or ''}{value}" if key in _TEXTS else value
    said = "".join(event[_RESPONSE] for event in events if isinstance(event.get(_RESPONSE), str))
    return {**events[-1], **({"message": message} if message else {_RESPONSE: said})}


def converse_answer(events: Sequence[JsonObject]) -> JsonObject | None:
    """The answer that events of Bedrock's ConverseStream are; `None` without its beginning."""
    if "messageStart" not in events[0] or len(events) < 2:
        return None
    blocks: dict[Any, JsonObject] = {}
    ended: JsonObject = {}
    for event in events:
        begun, delta = object_in(event.get("contentBlockStart")), object_in(event.get("contentBlockDelta"))
        if begun:
            blocks[begun.get("contentBlockIndex")] = {
                key: dict(object_in(value)) for key, value in object_in(begun.get("start")).items()
            }
        elif delta:
            _add_to_converse(blocks.setdefault(delta.get("contentBlockIndex"), {}), object_in(delta.get("delta")))
        elif "metadata" in event:
            ended |= object_in(event["metadata"])
        ended |= object_in(event.get("messageStop"))
    content = [
        {**block, "toolUse": _with_input(block["toolUse"], _PIECES)} if "toolUse" in block else block
        for block in blocks.values()
    ]
    return {"output": {"message": {"role": "assistant", "content": content}}, **ended}


def _add_to_converse(block: JsonObject, delta: JsonObject) -> None:
    if "text" in delta:
        block["text"] = f"{block.get('text') or ''}{delta['text']}"
    elif "toolUse" in delta:
        call = block.setdefault("toolUse", {})
        call[_PIECES] = f"{call.get(_PIECES) or ''}{at(delta['toolUse'], 'input') or ''}"
    elif "reasoningContent" in delta:
        text = block.setdefault("reasoningContent", {}).setdefault("reasoningText", {})
        for key, value in object_in(delta["reasoningContent"]).items():
            text[key] = f"{text.get(key) or ''}{value}"


def ui_message(events: Sequence[JsonObject]) -> JsonObject | None:
    """The message of the Vercel AI SDK that events of its UI streams are; `None` for other events."""
    if any(
        str(event["type"]).endswith("-delta") and not {"delta", "inputTextDelta"} & event.keys() for event in events
    ):
        return None
    parts: list[JsonObject] = []
    known: dict[Any, JsonObject] = {}
    message: JsonObject = {"id": "", "role": "assistant"}
    for event in events:
        name = str(event["type"])
        kind, _, end = name.rpartition("-")
        own_id = event.get("toolCallId") or f"{kind} {event.get('id')}"
        if name == "start":
            message["id"] = event.get("messageId") or ""
        elif name in ("start-step", "source-url", "source-document", "file"):
            parts.append({**event, "type": "step-start" if name == "start-step" else name})
        elif kind in ("text", "reasoning") or kind.startswith("tool-"):
            if own_id not in known or end == "start":  # IDs of texts are those of earlier ones, too
                called = {"type": "dynamic-tool", "toolCallId": own_id}
                known[own_id] = called if kind.startswith("tool-") else {"type": kind, "text": ""}
                parts.append(known[own_id])
            _add_to_ui(known[own_id], event, kind.removeprefix("tool-"), end)
        if isinstance(event.get("messageMetadata"), dict):
            message["metadata"] = {**object_in(message.get("metadata")), **event["messageMetadata"]}
    for part in parts:
        if (text := part.pop(_PIECES, None)) and "input" not in part:
            part |= {"input": parsed(text), "state": part.get("state", "input-available")}
    return {**message, "parts": parts} if known else None


def _add_to_ui(part: JsonObject, event: JsonObject, kind: str, end: str) -> None:
    """Add what an event has to a part. The input of a call may come in pieces and whole."""
    if "text" in part:
        part["text"] += event.get("delta") or ""
        return
    part |= {name: event[name] for name in ("toolName", "input", "output", "errorText") if name in event}
    part[_PIECES] = f"{part.get(_PIECES) or ''}{event.get('inputTextDelta') or ''}"
    if end in ("available", "error", "denied"):
        part["state"] = f"{kind}-{end}"
