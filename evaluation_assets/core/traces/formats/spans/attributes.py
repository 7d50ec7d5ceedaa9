"""Read span attributes in the supported semantic conventions.

OpenTelemetry GenAI in its versions (messages as attributes, as JSON, as events), OpenLLMetry (`gen_ai.prompt.0.role`),
OpenInference (`llm.input_messages.0.message.role`), Google ADK (`gcp.vertex.agent.*`) and the Vercel AI SDK (`ai.*`).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from evaluation_assets.core.traces.formats.pauses import error_of_run
from evaluation_assets.core.traces.formats.spans.langchain_dumps import tool_message_in
from evaluation_assets.core.traces.formats.spans.messages import (
    Message,
    arguments_of,
    messages_from,
    messages_in,
    messages_of,
    plain_text,
    result_of,
    tools_from,
    with_call_ids,
)
from evaluation_assets.core.traces.formats.spans.naming import AGENT_NAMES, NOBODY, VERSION, agent_of
from evaluation_assets.core.traces.formats.spans.questions import ASKED_KEYS, QUESTIONS
from evaluation_assets.core.traces.formats.spans.tree import Span
from evaluation_assets.core.traces.formats.transcript import Call, as_text
from evaluation_assets.core.traces.formats.unmapped_fields import Fields
from evaluation_assets.core.traces.formats.untyped import at, decoded, first_text, list_in, object_in, parsed
from evaluation_assets.core.traces.formats.usage import Count, settled, usage, usage_of
from evaluation_assets.core.traces.trajectories.model import JsonObject, Tool, Usage

Kind = Literal["agent", "model", "tool", "chain", "check", "other"]
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
    "CHAT_MODEL": "model",
    "RETRIEVER": "tool",
    "AGENT": "agent",
    "CHAIN": "chain",
    "WORKFLOW": "chain",
    "TASK": "chain",
    "EVALUATOR": "check",
    "GUARDRAIL": "check",
}
_LOOKED_UP = (
    "gen_ai.retrieval.query.text", "gen_ai.memory.query.text", "gen_ai.retrieval.documents", "gen_ai.memory.records",
)  # fmt: skip
"""What operations on documents and memories (`retrieval`, `search_memory`) are given, and what they give."""

_MODEL_SIGNS = (
    "gen_ai.prompt", "gen_ai.completion", "llm.input_messages", "gcp.vertex.agent.llm_request", "ai.prompt.messages",
)  # fmt: skip
_TOOL_NAMES = ("gen_ai.tool.name", "tool.name", "tool_call.function.name", "ai.toolCall.name")
_GIVEN_TO_AI_SDK = ("ai.usage.inputTokens", "ai.usage.promptTokens")
_WRITTEN_FOR_AI_SDK = ("ai.usage.outputTokens", "ai.usage.completionTokens")
_MERGED = "(merged tools)"
"""What Google ADK names the span of the results of parallel calls, each of which has a span of its own."""

_HAND_OFF = re.compile(r"handoff to (.+)", re.DOTALL)
_NUMBERED = re.compile(r"(.+?)\.(\d{1,6})(?:\.(.+))?")
_ANSWERED_KEYS = ("output", "answer", "result", "final_output", "response", "messages", "message", "content")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """Input and output messages of a model call, or of an agent's whole work: then `before` its last output."""

    inputs: tuple[Message, ...]
    before: tuple[Message, ...]
    outputs: tuple[Message, ...]
    tools: tuple[Tool, ...]
    model: str | None
    usage: Usage | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRun:
    """A tool call. `result` is `None` if none was recorded."""

    call: Call
    result: str | None
    error: str | None
    description: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRun:
    """An agent invocation, with its input and output if recorded; it `goes_on` with what another one answered."""

    name: str
    description: str | None
    asked: str | None
    answered: str | None
    goes_on: bool
    tools: tuple[Tool, ...]
    usage: Usage | None


def kind_of(span: Span) -> Kind:
    """The kind of operation of a span: `check` looks at the work of others, `other` is no work of agents at all."""
    attributes = span.attributes
    for key, kinds in (("openinference.span.kind", _KINDS), ("traceloop.span.kind", _KINDS)):
        if isinstance(named := attributes.get(key), str):
            return kinds.get(named.upper(), "other")
    if isinstance(named := _quoted(attributes.get("mlflow.spanType")), str):
        return _KINDS.get(named.upper(), "other")
    if isinstance(operation := attributes.get("gen_ai.operation.name"), str):
        if attributes.get("gen_ai.tool.name") == _MERGED:
            return "other"
        return "tool" if any(key in attributes for key in _LOOKED_UP) else _OPERATIONS.get(operation, "other")
    if any(key.startswith(_MODEL_SIGNS) for key in attributes) or "llm.request.type" in attributes:
        return "model"
    if "gen_ai.request.model" in attributes and any(key.startswith("gen_ai.usage.") for key in attributes):
        return "model"
    if any(isinstance(attributes.get(key), str) for key in _TOOL_NAMES):
        return "tool"
    if isinstance(attributes.get("agent_name"), str) and "model_name" in attributes:  # of Pydantic AI
        return "agent"
    return "other"


def hand_off_in(span: Span) -> str | None:
    """The agent that a span of the OpenAI Agents SDK hands over to; `None` for any other span."""
    match = _HAND_OFF.fullmatch(span.name)
    return None if match is None or any(key in span.attributes for key in _TOOL_NAMES) else match[1]


def grouped(attributes: JsonObject) -> JsonObject:
    """Convert numbered attributes (`a.0.b`, `a.1.b`) to lists of objects (`a: [{b}, {b}]`)."""
    plain: JsonObject = {}
    lists: dict[str, dict[int, JsonObject]] = {}
    for key, value in attributes.items():
        match = _NUMBERED.fullmatch(key)
        if match is None:
            plain[key] = value
        else:
            lists.setdefault(match[1], {}).setdefault(int(match[2]), {})[match[3] or "value"] = value
    for key, items in lists.items():
        plain[key] = [grouped(items[index]) for index in sorted(items)]
    return plain


def model_call(span: Span, fields: Fields) -> ModelCall:
    """Read a model span."""
    request, response = (decoded(_value(fields, f"gcp.vertex.agent.llm_{part}")) for part in ("request", "response"))
    inputs, outputs = list(_event_messages(span, inputs=True)), list(_event_messages(span, inputs=False))
    given = [
        _value(fields, "llm.input_messages", "gen_ai.prompt"),
        decoded(_value(fields, "gen_ai.input.messages", "ai.prompt.messages", "gen_ai.request.messages")),
        at(request, "contents"),
        [at(prompt, "prompt.text") or prompt for prompt in list_in(decoded(_value(fields, "llm.prompts")))],
        messages_in(decoded(_value(fields, "input.value", "traceloop.entity.input", "mlflow.spanInputs"))),
    ]
    said = [
        _value(fields, "llm.output_messages", "gen_ai.completion"),
        decoded(_value(fields, "gen_ai.output.messages", "gen_ai.response.messages")),
        _vercel(fields),
        at(response, "content"),
        messages_in(
            _quoted(_value(fields, "output.value", "traceloop.entity.output", "mlflow.spanOutputs")), role="assistant"
        ),
    ]
    inputs += _first(given, "user") if not inputs else []
    outputs += _first(said, "assistant") if not outputs else []
    last = max(len(outputs) - 1, 0) if kind_of(span) == "agent" else 0
    prompt = decoded(_value(fields, "gen_ai.system_instructions", "llm.system_prompt")) or at(
        at(request, "config"), "system_instruction"
    )
    if prompt and not any(message.role == "system" for message in inputs):
        inputs = [*messages_from({"role": "system", "content": prompt}, "system"), *inputs]
    definitions = _value(
        fields, "llm.tools", "mlflow.chat.tools", "llm.request.functions", "gen_ai.tool.definitions", "ai.prompt.tools"
    )
    fields.set_aside(
        "openinference.span.kind", "traceloop.span.kind", "gen_ai.operation.name", "llm.request.type",
        "input.mime_type", "output.mime_type", "llm.is_streaming", "llm.headers", "llm.provider", "llm.system",
        "gen_ai.system", "gen_ai.provider.name", "gen_ai.response.id", "gen_ai.response.finish_reasons",
        "gcp.vertex.agent.event_id", "gcp.vertex.agent.invocation_id", "gcp.vertex.agent.session_id", *VERSION,
    )  # fmt: skip
    return ModelCall(
        inputs=tuple(inputs),
        before=tuple(outputs[:last]),
        outputs=tuple(outputs[last:]),
        tools=tools_from(definitions),
        model=_text(fields, "llm.model_name", "gen_ai.response.model", "gen_ai.request.model", "ai.model.id"),
        usage=usage_in(fields),
    )


def tool_run(span: Span, fields: Fields) -> ToolRun:
    """Read a tool span."""
    fields.set_aside("openinference.span.kind", "traceloop.span.kind", "gen_ai.operation.name", "gen_ai.tool.type")
    fields.set_aside("input.mime_type", "output.mime_type", "gen_ai.system", "gen_ai.provider.name", "tool.parameters")
    fields.set_aside("gcp.vertex.agent.llm_request", "gcp.vertex.agent.llm_response", "gcp.vertex.agent.event_id")
    looked_up = next(
        (at(span.attributes, "gen_ai.operation.name") for key in _LOOKED_UP if key in span.attributes), None
    )
    name = _text(fields, *_TOOL_NAMES) or fields.text("traceloop.entity.name") or looked_up or span.name
    arguments = arguments_of(
        _value(fields,
            "gen_ai.tool.call.arguments", "gcp.vertex.agent.tool_call_args", "ai.toolCall.args",
            "tool_call.function.arguments", "tool_arguments", "traceloop.entity.input", "input.value",
            "mlflow.spanInputs", *_LOOKED_UP[:2],
        )
    )  # fmt: skip
    returned = _value(fields,
        "gen_ai.tool.call.result", "gcp.vertex.agent.tool_response", "ai.toolCall.result", "tool_response",
        "traceloop.entity.output", "output.value", "mlflow.spanOutputs", *_LOOKED_UP[2:],
    )  # fmt: skip
    if arguments is None:
        arguments = decoded(_event_value(span, "gen_ai.tool.message", "content"))
    if returned is None and isinstance(said := decoded(_event_value(span, "gen_ai.choice", "message")), str | list):
        returned = said if isinstance(said, str) else {"content": said}
    if isinstance(returned, str) and "mlflow.spanOutputs" in span.attributes:
        returned = _quoted(returned)
    documents = fields.items("retrieval.documents")
    if returned is None and documents:
        returned = "\n\n".join(as_text(at(document, "document.content")) for document in documents)
    result, failed = result_of(returned)
    failed = failed or (result or "error" if fields.text("gen_ai.tool.status") == "error" else None)
    error = span.error or error_of_run(_text(fields, "error.message", "error.type"))
    call_id = _text(fields, "gen_ai.tool.call.id", "tool_call.id", "ai.toolCall.id")
    return ToolRun(
        call=Call(
            name=name,
            arguments=arguments,
            id=call_id or first_text(tool_message_in(returned), "tool_call_id"),
        ),
        result=error if result is None else result,
        error=error or failed,
        description=_text(fields, "gen_ai.tool.description", "tool.description"),
    )


def agent_run(span: Span, fields: Fields) -> AgentRun:
    """Read an agent span."""
    fields.set_aside("openinference.span.kind", "traceloop.span.kind", "gen_ai.operation.name", "gen_ai.system")
    fields.set_aside("input.mime_type", "output.mime_type", "gen_ai.provider.name", *VERSION)
    given = list(messages_of(decoded(_value(fields, "gen_ai.input.messages")), "user"))
    given = given or list(_event_messages(span, inputs=True))
    said = list(messages_of(decoded(_value(fields, "gen_ai.output.messages")), "assistant"))
    said = said or list(_event_messages(span, inputs=False))
    asked = next((message.text for message in reversed(given) if message.role == "user" and message.text), None)
    answered = next((message.text.strip() for message in reversed(said) if message.text.strip()), None)
    question = _value(fields, *QUESTIONS)
    if "crew_key" in span.attributes and "task_id" in span.attributes:
        # The input of a crew's agent has the agent and its tools; the output has the task, unless the agent failed.
        output = object_in(decoded(span.attributes.get("output.value")))
        question, asked, answered = None, first_text(output, "description"), first_text(output, "raw")
    fields.set_aside(*AGENT_NAMES)
    return AgentRun(
        name=agent_of(span) or NOBODY,
        description=_text(fields, "gen_ai.agent.description", "agent.description"),
        asked=asked or plain_text(question, ASKED_KEYS),
        answered=answered
        or plain_text(
            _quoted(_value(fields, "output.value", "final_result", "traceloop.entity.output", "mlflow.spanOutputs")),
            _ANSWERED_KEYS,
        ),
        goes_on=next((message.role for message in reversed(given) if message.role != "system"), None) == "assistant",
        tools=tools_from(_value(fields, "gen_ai.tool.definitions", "llm.tools")),
        usage=usage_in(fields),
    )


def usage_in(fields: Fields) -> Usage | None:
    """Tokens and cost of a span."""
    mlflow = object_in(decoded(_value(fields, "mlflow.chat.tokenUsage", "usage")))
    if isinstance(mlflow.get("input_tokens"), int) and isinstance(mlflow.get("output_tokens"), int):
        return usage_of(Fields(mlflow))
    cached = _whole(
        fields,
        "gen_ai.usage.cache_read.input_tokens",
        "gen_ai.usage.cache_read_input_tokens",
        "llm.token_count.prompt_details.cache_read",
        "ai.usage.cachedInputTokens",
    )
    written = _whole(
        fields,
        "gen_ai.usage.cache_creation.input_tokens",
        "gen_ai.usage.cache_creation_input_tokens",
        "llm.token_count.prompt_details.cache_write",
        "ai.usage.inputTokenDetails.cacheWriteTokens",
    )
    inputs = _whole(
        fields, "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt", *_GIVEN_TO_AI_SDK
    )
    outputs = _whole(
        fields, "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion",
        *_WRITTEN_FOR_AI_SDK,
    )  # fmt: skip
    reasoning = _whole(fields, "gen_ai.usage.reasoning_tokens", "llm.token_count.completion_details.reasoning")
    counts = settled(
        fields.stated,
        _whole(fields, "gen_ai.usage.total_tokens", "llm.token_count.total", "llm.usage.total_tokens"),
        Count(inputs, (cached or 0) + (written or 0), (cached or 0) > (inputs or 0)),
        Count(outputs, reasoning or 0),
    )
    cost = fields.number("gen_ai.usage.cost", "llm.cost.total", "gen_ai.usage.cost_usd")
    return usage(*counts, cost, cached, written)


def _quoted(value: Any) -> Any:
    """A value that may be JSON, even of a text: MLflow writes all attributes so."""
    return parsed(value) if isinstance(value, str) and value.startswith('"') else decoded(value)


def _value(fields: Fields, *keys: str) -> Any:
    """The first of these values that is present. The others repeat it and are marked as read."""
    fields.set_aside(*keys)
    return fields.value(*keys)


def _text(fields: Fields, *keys: str) -> str | None:
    fields.set_aside(*keys)
    return fields.text(*keys)


def _whole(fields: Fields, *keys: str) -> int | None:
    fields.set_aside(*keys)
    return fields.whole(*keys)


def _first(candidates: list[Any], role: str) -> list[Message]:
    """The messages of the first record that has any."""
    for candidate in candidates:
        if messages := list(with_call_ids(messages_of(candidate, role))):
            return messages
    return []


def _event_messages(span: Span, *, inputs: bool) -> Iterator[Message]:
    """Messages recorded as span events."""
    for event in span.events:
        role = re.fullmatch(r"gen_ai\.(system|user|assistant|tool)\.message", event.name)
        if role is not None and inputs:
            yield from messages_from({"role": role[1], **_decoded(event.attributes)}, role[1])
        elif event.name == "gen_ai.choice" and not inputs:
            data = _decoded(event.attributes)
            message = data.pop("message", None)
            said = message if isinstance(message, dict) else {"content": message}
            yield from messages_from({**data, **said, "role": "assistant"}, "assistant")
        elif event.name == "gen_ai.content.prompt" and inputs:
            yield from messages_of(decoded(event.attributes.get("gen_ai.prompt")), "user")
        elif event.name == "gen_ai.content.completion" and not inputs:
            yield from messages_of(decoded(event.attributes.get("gen_ai.completion")), "assistant")
        elif event.name == "gen_ai.client.inference.operation.details":
            key, default = ("gen_ai.input.messages", "user") if inputs else ("gen_ai.output.messages", "assistant")
            yield from messages_of(decoded(event.attributes.get(key)), default)


def _event_value(span: Span, name: str, key: str) -> Any:
    """A value of the last event with this name."""
    return next((event.attributes.get(key) for event in reversed(span.events) if event.name == name), None)


def _decoded(attributes: JsonObject) -> JsonObject:
    return {key: decoded(value) if key in ("message", "tool_calls") else value for key, value in attributes.items()}


def _vercel(fields: Fields) -> JsonObject | None:
    text = _value(fields, "ai.response.text", "ai.response.object")
    calls = decoded(_value(fields, "ai.response.toolCalls"))
    return None if text is None and calls is None else {"role": "assistant", "content": text, "tool_calls": calls}
