"""Four wire protocols: what a request says, and a reply as one JSON body or as server-sent events. Stdlib only."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.frameworks.scenario import Conversation, Reply

Json = Mapping[str, Any]
Event = tuple[str | None, Any]
"""The name of a server-sent event, where the protocol has names, and its data."""


@dataclass(frozen=True)
class Protocol:
    """How one protocol is spoken."""

    read: Callable[[Json], Conversation]
    body: Callable[[Reply, str], dict[str, Any]]
    events: Callable[[Reply, str], Iterator[Event]]


def protocol_of(path: str) -> Protocol | None:
    """The protocol of a request's path; `None` if it is none of them."""
    if path.endswith("/chat/completions"):
        return CHAT
    if path.endswith("/responses"):
        return RESPONSES
    if path.endswith("/messages"):
        return ANTHROPIC
    if path.endswith((":generateContent", ":streamGenerateContent")):
        return GEMINI
    return None


def _text(content: Any) -> str:
    """The text of a content field: a string, or a list of parts."""
    if isinstance(content, list):
        return "\n".join(_text(part) for part in content)
    if isinstance(content, dict):
        return str(content.get("text") or "")
    return str(content or "")


# OpenAI chat completions


def _read_chat(request: Json) -> Conversation:
    items: list[tuple[str, str]] = []
    system = []
    for message in request["messages"]:
        if message["role"] in ("system", "developer"):
            system.append(_text(message.get("content")))
        elif message["role"] == "user":
            items.append(("user", _text(message.get("content"))))
        items += [("call", call["function"]["name"]) for call in message.get("tool_calls") or ()]
    tools = {tool["function"]["name"]: tool["function"].get("parameters") or {} for tool in request.get("tools") or ()}
    return Conversation("\n".join(system), items, tools)


def _chat_message(reply: Reply) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text}
    if reply.thought:
        message["reasoning_content"] = reply.thought
    if reply.calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
            }
            for call in reply.calls
        ]
    return message


def _chat_usage(reply: Reply) -> dict[str, int]:
    total = reply.input_tokens + reply.output_tokens
    return {"prompt_tokens": reply.input_tokens, "completion_tokens": reply.output_tokens, "total_tokens": total}


def _chat_finish(reply: Reply) -> str:
    return "tool_calls" if reply.calls else "stop"


def _chat_body(reply: Reply, model: str) -> dict[str, Any]:
    choice = {"index": 0, "message": _chat_message(reply), "finish_reason": _chat_finish(reply)}
    head = {"id": _id("chatcmpl", reply), "object": "chat.completion", "created": 1, "model": model}
    return {**head, "choices": [choice], "usage": _chat_usage(reply)}


def _chat_events(reply: Reply, model: str) -> Iterator[Event]:
    head = {"id": _id("chatcmpl", reply), "object": "chat.completion.chunk", "created": 1, "model": model}
    message = _chat_message(reply)
    for number, call in enumerate(message.get("tool_calls", ())):
        call["index"] = number
    yield None, {**head, "choices": [{"index": 0, "delta": message, "finish_reason": None}]}
    yield None, {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": _chat_finish(reply)}]}
    yield None, {**head, "choices": [], "usage": _chat_usage(reply)}
    yield None, "[DONE]"


CHAT = Protocol(_read_chat, _chat_body, _chat_events)


# OpenAI Responses


def _read_responses(request: Json) -> Conversation:
    given = request["input"]
    system = [str(request.get("instructions") or "")]
    items: list[tuple[str, str]] = []
    for item in [{"role": "user", "content": given}] if isinstance(given, str) else given:
        if item.get("type") == "function_call":
            items.append(("call", item["name"]))
        elif item.get("role") in ("system", "developer"):
            system.append(_text(item.get("content")))
        elif item.get("role") == "user":
            items.append(("user", _text(item.get("content"))))
    tools = {tool["name"]: tool.get("parameters") or {} for tool in request.get("tools") or () if "name" in tool}
    return Conversation("\n".join(system), items, tools)


def _responses_output(reply: Reply) -> list[dict[str, Any]]:
    output: list[dict[str, Any]] = []
    if reply.thought:
        summary = [{"type": "summary_text", "text": reply.thought}]
        output.append({"type": "reasoning", "id": _id("rs", reply), "summary": summary})
    for call in reply.calls:
        said = {"call_id": call.id, "name": call.name, "arguments": json.dumps(call.arguments)}
        output.append({"type": "function_call", "id": f"fc_{call.id}", **said, "status": "completed"})
    if reply.text is not None:
        part = {"type": "output_text", "text": reply.text, "annotations": []}
        head = {"type": "message", "id": _id("msg", reply), "role": "assistant", "status": "completed"}
        output.append({**head, "content": [part]})
    return output


def _responses_body(reply: Reply, model: str) -> dict[str, Any]:
    usage = {
        "input_tokens": reply.input_tokens,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": reply.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": reply.input_tokens + reply.output_tokens,
    }
    head = {"id": _id("resp", reply), "object": "response", "created_at": 1, "status": "completed", "model": model}
    settings = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
    return {**head, **settings, "output": _responses_output(reply), "usage": usage}


def _responses_events(reply: Reply, model: str) -> Iterator[Event]:
    for number, event in enumerate(_responses_sequence(_responses_body(reply, model))):
        yield event["type"], {**event, "sequence_number": number}


def _responses_sequence(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"type": "response.created", "response": {**body, "status": "in_progress", "output": [], "usage": None}}
    for index, item in enumerate(body["output"]):
        place = {"output_index": index, "item_id": item["id"]}
        open_item = {**item, **{key: empty for key, empty in _OPEN.items() if key in item}}
        yield {"type": "response.output_item.added", "output_index": index, "item": open_item}
        if item["type"] == "function_call":
            yield {"type": "response.function_call_arguments.delta", **place, "delta": item["arguments"]}
            yield {"type": "response.function_call_arguments.done", **place, "arguments": item["arguments"]}
        for number, part in enumerate(item.get("content", ())):
            inner = {**place, "content_index": number}
            yield {"type": "response.content_part.added", **inner, "part": {**part, "text": ""}}
            yield {"type": "response.output_text.delta", **inner, "delta": part["text"], "logprobs": []}
            yield {"type": "response.output_text.done", **inner, "text": part["text"], "logprobs": []}
            yield {"type": "response.content_part.done", **inner, "part": part}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": "response.completed", "response": body}


_OPEN: dict[str, Any] = {"arguments": "", "content": [], "status": "in_progress"}
"""Fields of an output item that are empty when it is added to a stream."""

RESPONSES = Protocol(_read_responses, _responses_body, _responses_events)


# Anthropic messages


def _read_anthropic(request: Json) -> Conversation:
    items: list[tuple[str, str]] = []
    for message in request["messages"]:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for block in blocks:
            if block["type"] == "tool_use":
                items.append(("call", block["name"]))
            elif block["type"] == "text" and message["role"] == "user":
                items.append(("user", block["text"]))
    tools = {tool["name"]: tool.get("input_schema") or {} for tool in request.get("tools") or ()}
    return Conversation(_text(request.get("system")), items, tools)


def _anthropic_body(reply: Reply, model: str) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    if reply.thought:
        content.append({"type": "thinking", "thinking": reply.thought, "signature": "signed"})
    if reply.text is not None:
        content.append({"type": "text", "text": reply.text})
    content += [
        {"type": "tool_use", "id": f"toolu_{call.id}", "name": call.name, "input": call.arguments}
        for call in reply.calls
    ]
    head = {"id": _id("msg", reply), "type": "message", "role": "assistant", "model": model, "content": content}
    usage = {"input_tokens": reply.input_tokens, "output_tokens": reply.output_tokens}
    return {**head, "stop_reason": "tool_use" if reply.calls else "end_turn", "stop_sequence": None, "usage": usage}


def _anthropic_events(reply: Reply, model: str) -> Iterator[Event]:
    for event in _anthropic_sequence(_anthropic_body(reply, model)):
        yield event["type"], event


def _anthropic_sequence(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    start = {**body, "content": [], "stop_reason": None, "usage": {**body["usage"], "output_tokens": 1}}
    yield {"type": "message_start", "message": start}
    for index, block in enumerate(body["content"]):
        if block["type"] == "text":
            opened, deltas = {**block, "text": ""}, [{"type": "text_delta", "text": block["text"]}]
        elif block["type"] == "thinking":
            opened = {**block, "thinking": "", "signature": ""}
            deltas = [
                {"type": "thinking_delta", "thinking": block["thinking"]},
                {"type": "signature_delta", "signature": block["signature"]},
            ]
        else:
            opened = {**block, "input": {}}
            deltas = [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]
        yield {"type": "content_block_start", "index": index, "content_block": opened}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ended = {"stop_reason": body["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ended, "usage": {"output_tokens": body["usage"]["output_tokens"]}}
    yield {"type": "message_stop"}


ANTHROPIC = Protocol(_read_anthropic, _anthropic_body, _anthropic_events)


# Gemini generateContent


def _read_gemini(request: Json) -> Conversation:
    items: list[tuple[str, str]] = []
    for content in request["contents"]:
        for part in content.get("parts") or ():
            if "functionCall" in part:
                items.append(("call", part["functionCall"]["name"]))
            elif "text" in part and content.get("role", "user") == "user":
                items.append(("user", part["text"]))
    tools = {}
    for tool in request.get("tools") or ():
        for declared in tool.get("functionDeclarations") or ():
            tools[declared["name"]] = declared.get("parametersJsonSchema") or declared.get("parameters") or {}
    system = request.get("systemInstruction") or {}
    return Conversation(_text(system.get("parts")), items, tools)


def _gemini_body(reply: Reply, model: str) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [{"text": reply.thought, "thought": True}] if reply.thought else []
    if reply.text is not None:
        parts.append({"text": reply.text})
    parts += [{"functionCall": {"name": call.name, "args": call.arguments}} for call in reply.calls]
    usage = {
        "promptTokenCount": reply.input_tokens,
        "candidatesTokenCount": reply.output_tokens,
        "totalTokenCount": reply.input_tokens + reply.output_tokens,
    }
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
    head = {"modelVersion": model, "responseId": _id("gemini", reply)}
    return {"candidates": [candidate], "usageMetadata": usage, **head}


def _gemini_events(reply: Reply, model: str) -> Iterator[Event]:
    yield None, _gemini_body(reply, model)


GEMINI = Protocol(_read_gemini, _gemini_body, _gemini_events)


def _id(prefix: str, reply: Reply) -> str:
    """An ID that differs between the replies of a run: no two of them have the same usage."""
    return f"{prefix}_{reply.input_tokens}"
