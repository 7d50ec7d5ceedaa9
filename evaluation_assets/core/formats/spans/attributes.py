"""What the attributes of a span say, in the conventions that are in use.

OpenTelemetry GenAI in its versions (messages as attributes, as JSON, as events), OpenLLMetry (`gen_ai.prompt.0.role`),
OpenInference (`llm.input_messages.0.message.role`), Google ADK (`gcp.vertex.agent.*`) and the Vercel AI SDK (`ai.*`).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import orjson

from evaluation_assets.core.formats.chat import tools_of
from evaluation_assets.core.formats.losses import Fields
from evaluation_assets.core.formats.spans.tree import Span
from evaluation_assets.core.formats.transcript import Call, as_text
from evaluation_assets.core.formats.usage import usage
from evaluation_assets.core.trajectories.model import JsonObject, Tool, Usage

Kind = Literal["agent", "model", "tool", "chain", "other"]

_OPERATIONS: dict[str, Kind] = {
    "chat": "model",
    "text_completion": "model",
    "completion": "model",
    "generate_content": "model",
    "execute_tool": "tool",
    "invoke_agent": "agent",
    "invoke_workflow": "chain",
}
_KINDS: dict[str, Kind] = {
    "LLM": "model",
    "TOOL": "tool",
    "RETRIEVER": "tool",
    "AGENT": "agent",
    "CHAIN": "chain",
    "WORKFLOW": "chain",
    "TASK": "chain",
}
_MODEL_SIGNS = ("gen_ai.prompt", "gen_ai.completion", "llm.input_messages", "gcp.vertex.agent.llm_request")
_TOOL_NAMES = ("gen_ai.tool.name", "tool.name", "tool_call.function.name", "ai.toolCall.name")

_NUMBERED = re.compile(r"(.+?)\.(\d{1,6})(?:\.(.+))?")
_ROLES = {"model": "assistant", "ai": "assistant", "human": "user", "function": "tool", "tool-response": "tool"}
_TEXT_KEYS = ("content", "text", "value")
_ASKED_KEYS = (
    "task",
    "input",
    "query",
    "question",
    "prompt",
    "user_input",
    "user_message",
    "messages",
    "message",
    "inputs",
)
_ANSWERED_KEYS = ("output", "answer", "result", "final_output", "response", "messages", "message", "content")
_DEEPEST = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a model's input or output."""

    role: str
    text: str = ""
    thought: str | None = None
    calls: tuple[Call, ...] = ()
    call_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """What a model was given and what it said."""

    inputs: tuple[Message, ...]
    outputs: tuple[Message, ...]
    tools: tuple[Tool, ...]
    model: str | None
    usage: Usage | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRun:
    """A tool at work. `result` is `None` where none was recorded."""

    call: Call
    result: str | None
    error: str | None
    description: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRun:
    """An agent at work: what it was asked and what it answered, where that was recorded."""

    name: str
    description: str | None
    asked: str | None
    answered: str | None
    tools: tuple[Tool, ...]
    usage: Usage | None


def kind_of(span: Span) -> Kind:
    """What kind of operation a span is; `other` is everything that is not the agents' own work."""
    attributes = span.attributes
    for key, kinds in (("openinference.span.kind", _KINDS), ("traceloop.span.kind", _KINDS)):
        if isinstance(named := attributes.get(key), str):
            return kinds.get(named.upper(), "other")
    if isinstance(operation := attributes.get("gen_ai.operation.name"), str):
        return _OPERATIONS.get(operation, "other")
    if any(key.startswith(_MODEL_SIGNS) for key in attributes) or "llm.request.type" in attributes:
        return "model"
    if "gen_ai.request.model" in attributes and any(key.startswith("gen_ai.usage.") for key in attributes):
        return "model"
    if any(isinstance(attributes.get(key), str) for key in _TOOL_NAMES):
        return "tool"
    return "other"


def grouped(attributes: JsonObject) -> JsonObject:
    """Attributes with numbered ones (`a.0.b`, `a.1.b`) as lists of objects (`a: [{b}, {b}]`)."""
    plain: JsonObject = {}
    lists: dict[str, dict[int, JsonObject]] = {}
    for key, value in attributes.items():
        found = _NUMBERED.fullmatch(key)
        if found is None:
            plain[key] = value
        else:
            lists.setdefault(found[1], {}).setdefault(int(found[2]), {})[found[3] or "value"] = value
    for key, items in lists.items():
        plain[key] = [grouped(items[index]) for index in sorted(items)]
    return plain


def model_call(span: Span, fields: Fields) -> ModelCall:
    """What a span of a model says."""
    request, response = (_json(_value(fields, f"gcp.vertex.agent.llm_{part}")) for part in ("request", "response"))
    inputs, outputs = list(_event_messages(span, inputs=True)), list(_event_messages(span, inputs=False))
    given = [
        _value(fields, "llm.input_messages", "gen_ai.prompt"),
        _json(_value(fields, "gen_ai.input.messages", "ai.prompt.messages", "gen_ai.request.messages")),
        _at(request, "contents"),
        _messages_in(_json(_value(fields, "input.value", "traceloop.entity.input"))),
    ]
    said = [
        _value(fields, "llm.output_messages", "gen_ai.completion"),
        _json(_value(fields, "gen_ai.output.messages", "gen_ai.response.messages")),
        _vercel(fields),
        _at(response, "content"),
        _messages_in(_json(_value(fields, "output.value", "traceloop.entity.output")), role="assistant"),
    ]
    inputs += _first(given, "user") if not inputs else []
    outputs += _first(said, "assistant") if not outputs else []
    prompt = _json(_value(fields, "gen_ai.system_instructions", "llm.system_prompt")) or _at(
        _at(request, "config"), "system_instruction"
    )
    if prompt and not any(message.role == "system" for message in inputs):
        inputs = [*_messages({"role": "system", "content": prompt}, "system"), *inputs]
    definitions = _value(fields, "llm.tools", "llm.request.functions", "gen_ai.tool.definitions", "ai.prompt.tools")
    fields.set_aside(
        "openinference.span.kind", "traceloop.span.kind", "gen_ai.operation.name", "llm.request.type",
        "input.mime_type", "output.mime_type", "llm.is_streaming", "llm.headers", "llm.provider", "llm.system",
        "gen_ai.system", "gen_ai.provider.name", "gen_ai.response.id", "gen_ai.response.finish_reasons",
        "gcp.vertex.agent.event_id", "gcp.vertex.agent.invocation_id", "gcp.vertex.agent.session_id",
    )  # fmt: skip
    return ModelCall(
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        tools=_tools(definitions),
        model=_text(fields, "llm.model_name", "gen_ai.response.model", "gen_ai.request.model"),
        usage=usage_in(fields),
    )


def tool_run(span: Span, fields: Fields) -> ToolRun:
    """What a span of a tool says."""
    fields.set_aside("openinference.span.kind", "traceloop.span.kind", "gen_ai.operation.name", "gen_ai.tool.type")
    fields.set_aside("input.mime_type", "output.mime_type", "gen_ai.system", "gen_ai.provider.name", "tool.parameters")
    fields.set_aside("gcp.vertex.agent.llm_request", "gcp.vertex.agent.llm_response", "gcp.vertex.agent.event_id")
    name = _text(fields, *_TOOL_NAMES) or fields.text("traceloop.entity.name") or span.name
    arguments = _arguments(
        _value(fields,
            "gen_ai.tool.call.arguments", "gcp.vertex.agent.tool_call_args", "ai.toolCall.args",
            "tool_call.function.arguments", "tool_arguments", "traceloop.entity.input", "input.value",
        )
    )  # fmt: skip
    found = _value(fields,
        "gen_ai.tool.call.result", "gcp.vertex.agent.tool_response", "ai.toolCall.result", "tool_response",
        "traceloop.entity.output", "output.value",
    )  # fmt: skip
    documents = fields.items("retrieval.documents")
    if found is None and documents:
        found = "\n\n".join(as_text(_at(document, "document.content")) for document in documents)
    result, failed = _result(found)
    error = span.error or _text(fields, "error.message", "error.type")
    return ToolRun(
        call=Call(
            name=name,
            arguments=arguments,
            id=_text(fields, "gen_ai.tool.call.id", "tool_call.id", "ai.toolCall.id"),
        ),
        result=error if result is None else result,
        error=error or failed,
        description=_text(fields, "gen_ai.tool.description", "tool.description"),
    )


def agent_run(span: Span, fields: Fields) -> AgentRun:
    """What a span of an agent says."""
    fields.set_aside("openinference.span.kind", "traceloop.span.kind", "gen_ai.operation.name", "gen_ai.system")
    fields.set_aside("input.mime_type", "output.mime_type", "gen_ai.provider.name", "gen_ai.agent.id")
    given = list(_messages_of(_json(_value(fields, "gen_ai.input.messages")), "user"))
    said = list(_messages_of(_json(_value(fields, "gen_ai.output.messages")), "assistant"))
    asked = next((message.text for message in reversed(given) if message.role == "user" and message.text), None)
    answered = next((message.text for message in reversed(said) if message.text), None)
    name = _text(fields, "gen_ai.agent.name", "agent.name", "agent_name", "traceloop.entity.name", "graph.node.id")
    return AgentRun(
        name=name or re.sub(r"^invoke_agent\s+|\.(?:run|invoke|kickoff)$", "", span.name) or "agent",
        description=_text(fields, "gen_ai.agent.description", "agent.description"),
        asked=asked or _plain(_value(fields, "input.value", "traceloop.entity.input"), _ASKED_KEYS),
        answered=answered
        or _plain(_value(fields, "output.value", "final_result", "traceloop.entity.output"), _ANSWERED_KEYS),
        tools=_tools(_value(fields, "gen_ai.tool.definitions", "llm.tools")),
        usage=usage_in(fields),
    )


def usage_in(fields: Fields) -> Usage | None:
    """Tokens and cost of a span."""
    fields.set_aside(
        "llm.token_count.total", "llm.usage.total_tokens", "gen_ai.usage.total_tokens", "gen_ai.usage.reasoning_tokens"
    )
    return usage(
        input_tokens=_whole(
            fields, "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt"
        ),
        output_tokens=_whole(
            fields, "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion"
        ),
        cost_usd=fields.number("gen_ai.usage.cost", "llm.cost.total", "gen_ai.usage.cost_usd"),
        cached_tokens=_whole(
            fields,
            "gen_ai.usage.cache_read.input_tokens",
            "gen_ai.usage.cache_read_input_tokens",
            "llm.token_count.prompt_details.cache_read",
        ),
    )


def _value(fields: Fields, *keys: str) -> Any:
    """The first of these that is there. The others say the same, and are taken too."""
    fields.set_aside(*keys)
    return fields.value(*keys)


def _text(fields: Fields, *keys: str) -> str | None:
    fields.set_aside(*keys)
    return fields.text(*keys)


def _whole(fields: Fields, *keys: str) -> int | None:
    fields.set_aside(*keys)
    return fields.whole(*keys)


def _first(candidates: list[Any], role: str) -> list[Message]:
    """The messages of the first record of them that has any."""
    for candidate in candidates:
        if messages := list(_messages_of(candidate, role)):
            return messages
    return []


def _messages_of(value: Any, role: str) -> Iterator[Message]:
    if isinstance(value, dict):
        yield from _messages(value, role)
    elif isinstance(value, list):
        for item in value:
            if isinstance(item, dict):
                yield from _messages(item, role)
            elif isinstance(item, str) and item.strip():
                yield Message(role=role, text=item)
    elif isinstance(value, str) and value.strip():
        yield Message(role=role, text=value)


def _messages(item: JsonObject, role: str) -> Iterator[Message]:
    """A message in any of the shapes; one that holds results of several tools is one message each."""
    data = {key.removeprefix("message."): value for key, value in item.items()}
    if isinstance(inner := data.get("message"), dict):
        data = {**data, **inner}
    named = data.get("role") if isinstance(data.get("role"), str) else role
    named = _ROLES.get(named.lower(), named.lower()) if isinstance(named, str) else role
    texts: list[str] = []
    thoughts: list[str] = []
    calls: list[Call] = []
    for part in (*_parts(data.get("content")), *_parts(data.get("contents")), *_parts(data.get("parts"))):
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
    calls += map(_call, _list(data.get("tool_calls")))
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
            )


def _parts(value: Any) -> Iterator[str | JsonObject]:
    if isinstance(value, str):
        found = _json(value) if value.lstrip().startswith(('[{"type"', '[{"text"')) else value
        if isinstance(found, list):
            yield from _parts(found)
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
    """The result of a tool as a part of a message."""
    if isinstance(part, str):
        return None
    response = part.get("function_response") or part.get("functionResponse")
    if isinstance(response, dict):
        text, _ = _result(response.get("response"))
    elif part.get("type") in ("tool_call_response", "tool_result", "tool-result"):
        response = part
        keys = ("response", "result", "content", "output")
        text, _ = _result(next((part[key] for key in keys if part.get(key) is not None), None))
    else:
        return None
    name = next((response[key] for key in ("id", "tool_use_id", "toolCallId") if response.get(key)), None)
    return Message(role="tool", text=text or "", call_id=name if isinstance(name, str) else None)


def _part_call(part: str | JsonObject) -> Call | None:
    """A call as a part of a message."""
    if isinstance(part, str):
        return None
    inner = part.get("function_call") or part.get("functionCall")
    if isinstance(inner, dict):
        return _call(inner)
    return _call(part) if part.get("type") in ("tool_call", "tool_use", "tool-call") else None


def _call(value: Any) -> Call:
    data = {key.removeprefix("tool_call."): inner for key, inner in value.items()} if isinstance(value, dict) else {}
    function = data.get("function")
    if isinstance(function, dict):
        data = {**data, **function}
    names = ("function.name", "name", "toolName", "tool_name")
    keys = ("function.arguments", "arguments", "args", "input")
    name = next((data[key] for key in names if isinstance(data.get(key), str) and data[key]), "unknown")
    call_id = data.get("id") or data.get("toolCallId")
    return Call(
        name=name,
        arguments=next((data[key] for key in keys if data.get(key) is not None), None),
        id=call_id if isinstance(call_id, str) else None,
    )


def _event_messages(span: Span, *, inputs: bool) -> Iterator[Message]:
    """Messages that are recorded as events of the span."""
    for event in span.events:
        role = re.fullmatch(r"gen_ai\.(system|user|assistant|tool)\.message", event.name)
        if role is not None and inputs:
            yield from _messages({"role": role[1], **_decoded(event.attributes)}, role[1])
        elif event.name == "gen_ai.choice" and not inputs:
            data = _decoded(event.attributes)
            message = data.pop("message", None)
            yield from _messages(
                {**data, **(message if isinstance(message, dict) else {}), "role": "assistant"}, "assistant"
            )
        elif event.name == "gen_ai.content.prompt" and inputs:
            yield from _messages_of(_json(event.attributes.get("gen_ai.prompt")), "user")
        elif event.name == "gen_ai.content.completion" and not inputs:
            yield from _messages_of(_json(event.attributes.get("gen_ai.completion")), "assistant")
        elif event.name == "gen_ai.client.inference.operation.details":
            key, default = ("gen_ai.input.messages", "user") if inputs else ("gen_ai.output.messages", "assistant")
            yield from _messages_of(_json(event.attributes.get(key)), default)


def _decoded(attributes: JsonObject) -> JsonObject:
    return {key: _json(value) if key in ("message", "tool_calls") else value for key, value in attributes.items()}


def _vercel(fields: Fields) -> JsonObject | None:
    text, calls = _value(fields, "ai.response.text"), _json(_value(fields, "ai.response.toolCalls"))
    return None if text is None and calls is None else {"role": "assistant", "content": text, "tool_calls": calls}


def _messages_in(value: Any, role: str = "user") -> Any:
    """The messages in a record of a whole request or reply."""
    if isinstance(value, dict):
        if isinstance(choices := value.get("choices"), list):
            return choices
        found = next((value[key] for key in ("messages", "contents", "message") if value.get(key)), None)
        if found is not None:
            return found
        return value if "content" in value or "tool_calls" in value else None
    return value if isinstance(value, list | str) and role == "assistant" else None


def _tools(value: Any) -> tuple[Tool, ...]:
    """Tools from their definitions, which some conventions write as JSON in a text each."""
    definitions = [_json(item) for item in _list(_json(value))]
    plain = [_json(item["tool.json_schema"]) if _at(item, "tool.json_schema") else item for item in definitions]
    schemas = [
        {**item, "parameters": _json(item["parameters"])} if isinstance(_at(item, "parameters"), str) else item
        for item in plain
    ]
    return tools_of(Fields({"tools": schemas}, "", {}), "tools") or ()


def _arguments(value: Any) -> Any:
    """The arguments of a call; those of a Python function by their names where all have one."""
    data = _json(value)
    if isinstance(data, dict) and data.keys() <= {"args", "kwargs", "sanitize_inputs_outputs"} and "kwargs" in data:
        return data["kwargs"] if not data.get("args") else {"args": data["args"], **_object(data["kwargs"])}
    return data


def _result(value: Any) -> tuple[str | None, str | None]:
    """What a tool returned as text, and its failure; results of MCP servers are taken out of their envelope."""
    data = _json(value)
    if isinstance(data, dict) and isinstance(data.get("content"), list):
        texts = [
            part["text"] for part in data["content"] if isinstance(part, dict) and isinstance(part.get("text"), str)
        ]
        if len(texts) == len(data["content"]):
            text = "\n".join(texts)
            return text, " ".join(text.split())[:200] or "isError" if data.get("isError") is True else None
    return (None if value is None else as_text(value)), None


def _plain(value: Any, keys: tuple[str, ...], depth: int = 0) -> str | None:
    """The words in a record of an input or output: the text itself, or what stands in a field of a known name."""
    data = _json(value)
    if isinstance(data, str):
        return data if data.strip() else None
    if isinstance(data, list) and data and depth < _DEEPEST:
        return _plain(data[-1], keys, depth + 1)
    if isinstance(data, dict) and depth < _DEEPEST:
        for key in (*keys, *_TEXT_KEYS, "kwargs", "parts"):
            if data.get(key) and (found := _plain(data[key], keys, depth + 1)):
                return found
        return as_text(data) if depth == 0 else None
    return None


def _json(value: Any) -> Any:
    """What a JSON text says; everything else as it is."""
    if not isinstance(value, str) or not value.lstrip().startswith(("{", "[")):
        return value
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError:
        return value


def _at(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _object(value: Any) -> JsonObject:
    return value if isinstance(value, dict) else {}
