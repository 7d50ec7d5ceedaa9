"""Messages of the Vercel AI SDK: model messages with tool-call and tool-result parts, and UI messages with their parts.

Reads version 4 (`args`, `result`, `toolInvocations`) and later ones (`input`, `output`). A result of `generateText`, an
event of `onFinish` (`onEnd`) and the steps of `onStepFinish` are lists of steps, each read like a message of the agent.
Mastra stores UI messages whose parts are in an object as content.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evaluation_assets.core.traces.formats.images import image_text, states_image
from evaluation_assets.core.traces.formats.messages.ai_sdk_steps import REPEATED, goes_on_with, is_step, unwrapped
from evaluation_assets.core.traces.formats.messages.chat import first_line
from evaluation_assets.core.traces.formats.messages.contents import content_of
from evaluation_assets.core.traces.formats.messages.lists import MessageShape, first_text_of
from evaluation_assets.core.traces.formats.messages.pieces import Piece, Thought, agent_events, user_events
from evaluation_assets.core.traces.formats.transcript import Call, Event, Result, as_text
from evaluation_assets.core.traces.formats.unmapped_fields import Fields
from evaluation_assets.core.traces.formats.untyped import at, first_text, object_in, objects_in
from evaluation_assets.core.traces.formats.usage import usage_of
from evaluation_assets.core.traces.trajectories.model import JsonObject, Usage

NAME = "vercel_ai"
DESCRIPTION = "Vercel AI SDK: ModelMessage and UIMessage lists, results of generateText, events with their steps"
DETECTION = (
    "messages with content parts tool-call and tool-result, or with parts such as tool-<name> or step-start; "
    "or steps with a finishReason"
)

_ROLES = ("system", "user", "assistant", "tool", "data")
_NAMES, _IDS = ("toolName", "tool_name"), ("toolCallId", "tool_call_id", "id")
"""Fields with the name and the ID of a call; BeeAI has the parts of the AI SDK with names of its own."""

_MODEL_PARTS = ("tool-call", "tool-result", "tool-approval-request", "tool-approval-response")
_SHOWN = {"file": "file", "image": "image", "reasoning-file": "file", "source-document": "document"}
_NOT_SAID = ("step-start", "source", "source-url", "tool-approval-request", "tool-approval-response", "custom")
_REFUSED = "execution denied"


def _is_message(data: Any) -> bool:
    return is_step(data) or (
        isinstance(data, dict)
        and data.get("role") in _ROLES
        and "messages" not in data
        and (isinstance(data.get("content"), str | list) or isinstance(_holder_in(data).get("parts"), list))
    )


def _holder_in(data: Any) -> JsonObject:
    """The object that has the parts of a UI message: the message, or its content."""
    content = at(data, "content")
    return content if isinstance(content, dict) else object_in(data)


def _is_typical(data: Any) -> bool:
    if is_step(data):
        return True
    kinds = [kind for part in objects_in(at(data, "content")) if isinstance(kind := part.get("type"), str)]
    shown = [kind for part in objects_in(_holder_in(data).get("parts")) if isinstance(kind := part.get("type"), str)]
    return any(kind in _MODEL_PARTS for kind in kinds) or bool(shown) or bool(at(data, "toolInvocations"))


def _events(messages: Sequence[Fields], usages: Mapping[int, Usage]) -> Iterator[Event]:
    for index, message in enumerate(messages):
        if "finishReason" in message:
            yield from agent_events(_step_pieces(message), usage=usage_of(message.object("usage")))
            continue
        role = message.text("role")
        message.set_aside("id", "createdAt", "providerOptions", "providerMetadata", "experimental_attachments")
        message.set_aside("threadId", "resourceId", "type")
        message = _inner(message)
        message.set_aside("format")
        metadata = message.object("metadata")
        used = usages.get(index) or usage_of(metadata.object("usage", "totalUsage"))
        if role == "assistant":
            yield from agent_events(_pieces(message), usage=used)
        elif role in ("user", "tool"):
            yield from user_events(_pieces(message))


def _inner(message: Fields) -> Fields:
    """The message, or its content where that is an object with the parts."""
    return message.object("content") if message.is_object("content") else message


def _pieces(message: Fields, *, of_step: bool = False) -> Iterator[Piece]:
    if message.is_list("parts"):
        message.set_aside("content", "toolInvocations", "reasoning")  # repeat the parts
    else:
        for call in message.objects("toolInvocations"):
            yield from _invoked(call)
    for part in message.parts("parts" if message.is_list("parts") else "content"):
        if isinstance(part, str):
            yield part
            continue
        kind = part.text("type") or ("text" if "text" in part else next(part.filled(), "text"))
        part.set_aside("state", "providerMetadata", "providerOptions", "callProviderMetadata", "providerExecuted")
        if kind == "text":
            yield as_text(part.value("text"))
        elif kind in ("reasoning", "redacted-reasoning"):
            details = [text for detail in objects_in(part.value("details")) if (text := first_text(detail, "text"))]
            part.set_aside("signature", "data")
            yield Thought(part.text("text", "reasoning") or "\n".join(details) or "[redacted]")
        elif kind == "tool-call":
            yield _call(part, part.text(*_NAMES))
        elif kind == "tool-result":
            yield _returned(part) if of_step else _result(part)
        elif kind == "tool-error":
            yield _failure(part)
        elif kind == "tool-invocation":
            yield from _invoked(part.object("toolInvocation"))
        elif kind == "dynamic-tool" or (kind.startswith("tool-") and kind not in _NOT_SAID):
            yield from _shown_call(part, kind)
        elif kind in _SHOWN:
            yield image_text(part) if kind == "image" or states_image(part) else f"[{_SHOWN[kind]}]"
        elif kind in _NOT_SAID or kind.startswith("data-"):
            part.rest()
        else:
            yield f"[{part.note_unknown(kind)}]"


def _call(part: Fields, name: str | None) -> Call:
    part.set_aside("type", "title", "dynamic", "invalid", "error")
    return Call(name=name or "unnamed", arguments=part.value("input", "args", "rawInput"), id=part.name(*_IDS))


def _result(part: Fields) -> Result:
    """The result in a tool message: an output that says what it is, or in version 4 any value."""
    part.set_aside(*_NAMES, "input", "dynamic")
    call_id = part.name(*_IDS)
    output = part.object("output") if part.is_object("output") else None
    kind = None if output is None else output.text("type")
    if output is None or kind is None:
        content = as_text(part.value("output", "result"))
        failed = part.flag("isError") is True
    elif kind == "execution-denied":
        content, failed = output.text("reason") or _REFUSED, True
    elif kind == "content":
        content, failed = content_of(output), False
    else:
        content, failed = as_text(output.value("value")), kind.startswith("error")
    part.set_aside("isError", "experimental_content")
    return Result(content=content, call_id=call_id, error=first_line(content) if failed else None)


def _returned(part: Fields) -> Result:
    """The result in a step: what the tool returned, as it is."""
    part.set_aside("type", *_NAMES, "input", "args", "dynamic", "preliminary", "title", "toolMetadata")
    return Result(content=as_text(part.value("output", "result")), call_id=part.name(*_IDS))


def _failure(part: Fields) -> Result:
    """The error of a call, in a step; one that is an object of JavaScript is empty in JSON."""
    part.set_aside(*_NAMES, "input", "dynamic", "title", "toolMetadata")
    error = part.value("error")
    content = as_text(error) if error else ""
    return Result(content=content, call_id=part.name(*_IDS), error=first_line(content))


def _step_pieces(step: Fields) -> Iterator[Piece]:
    """A step of a generation; what its results told the model is in the messages of its response."""
    step.set_aside(*REPEATED, "callId", "stepNumber", "stepType", "isContinued", "rawFinishReason", "model", "request")
    step.set_aside("finishReason", "performance", "runtimeContext", "toolsContext", "providerMetadata")
    response = step.object("response").rest()
    parts = [part for message in objects_in(response.get("messages")) for part in objects_in(message.get("content"))]
    results = [_result(Fields(part)) for part in parts if part.get("type") == "tool-result"]
    told = {result.call_id: result for result in results}
    open_calls: list[str | None] = []
    for piece in _pieces(step, of_step=True) if step.is_list("content") else _summed_up(step):
        if isinstance(piece, Call):
            open_calls.append(piece.id)
        elif isinstance(piece, Result):
            open_calls = [call for call in open_calls if call != piece.call_id]
            yield piece if piece.content else told.get(piece.call_id, piece)
            continue
        yield piece
    yield from (told[call] for call in open_calls if call in told)


def _summed_up(step: Fields) -> Iterator[Piece]:
    """A step without its parts, as version 4 has it: its reasoning, text, calls and results."""
    reasoning = step.text("reasoningText") or (None if step.is_list("reasoning") else step.text("reasoning"))
    if reasoning is not None:
        yield Thought(reasoning)
    for part in step.objects("reasoning") if reasoning is None else ():
        part.set_aside("type")
        yield Thought(part.text("text") or "")
    yield step.text("text") or ""
    yield from (_call(call, call.text(*_NAMES)) for call in step.objects("toolCalls"))
    yield from (_returned(result) for result in step.objects("toolResults"))


def _shown_call(part: Fields, kind: str) -> Iterator[Call | Result]:
    """A call in a UI message, with its result once there is one."""
    name = part.text(*_NAMES) if kind == "dynamic-tool" else kind.removeprefix("tool-")
    state = part.text("state") or ""
    call = _call(part, name)
    part.set_aside("approval", "preliminary", "resultProviderMetadata", "toolMetadata")
    yield call
    if state == "output-error":
        told = part.text("errorText") or "error"
        yield Result(content=told, call_id=call.id, error=first_line(told))
    elif state == "output-denied":
        yield Result(content=_REFUSED, call_id=call.id, error=_REFUSED)
    elif state == "output-available":
        yield Result(content=as_text(part.value("output")), call_id=call.id)


def _invoked(call: Fields) -> Iterator[Call | Result]:
    """A call of version 4, with its result once there is one."""
    made = _call(call, call.text(*_NAMES))
    call.set_aside("step")
    yield made
    if call.text("state") == "result" or "result" in call:
        yield Result(content=as_text(call.value("result")), call_id=made.id)


def _system(request: Fields, messages: Sequence[Fields]) -> str | None:
    prompts = [
        content_of(message)
        for message in messages
        if message.text("role") == "system" and not message.is_object("content")
    ]
    shown = [
        as_text(part.value("text"))
        for message in messages
        if message.text("role") == "system"
        for part in _inner(message).objects("parts")
    ]
    said = [request.text("system", "instructions"), *prompts, *shown]
    return "\n\n".join(prompt for prompt in said if prompt and prompt.strip()) or None


def _model(fields: Fields, messages: Sequence[Fields]) -> str | None:
    return first_text_of([holder.object("response") for holder in (fields, *reversed(messages))], "modelId")


_SHAPE = MessageShape(
    name=NAME,
    is_message=_is_message,
    is_typical=_is_typical,
    events=_events,
    system=_system,
    messages_at=(("messages",), ("request", "messages"), ("prompt",)),
    answers_at=(("responseMessages",), ("response", "messages")),
    usage_at=(("totalUsage",), ("usage",), ("response", "usage")),
    stopped_at=(("finishReason",),),
    model=_model,
    unwrapped=unwrapped,
    continues=goes_on_with,
)
detect, read = _SHAPE.detects, _SHAPE.read
