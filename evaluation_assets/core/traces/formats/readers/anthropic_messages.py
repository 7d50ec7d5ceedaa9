"""Anthropic messages: content blocks with tool_use and tool_result, thinking, and server-side tools.

A record is a request, with or without its response, or a bare list of messages. Lines with single messages form one
conversation, as do requests that repeat the conversation so far.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from evaluation_assets.core.traces.formats.base import DropFile, Rejection, Sample, UnusableRecord
from evaluation_assets.core.traces.formats.coding.client_context import is_of_cline
from evaluation_assets.core.traces.formats.context import Context, context_of, ended_by, merged
from evaluation_assets.core.traces.formats.conversation import (
    Conversation,
    Gathered,
    answered_in,
    confirm_requests,
    confirmed,
    each_conversation,
    goes_on,
    grows,
    has_answer,
    record_of,
    trajectory_from,
    usages_by_answer,
)
from evaluation_assets.core.traces.formats.messages.asked_beside import REQUESTS, request_in
from evaluation_assets.core.traces.formats.messages.call_arguments import given_to
from evaluation_assets.core.traces.formats.messages.chat import (
    first_line,
    has_parts_of_others,
    part_kinds,
    prompt_in,
    stated_error,
)
from evaluation_assets.core.traces.formats.messages.contents import are_data, content_of, part_text
from evaluation_assets.core.traces.formats.messages.message_lists import chats_in, with_full_names
from evaluation_assets.core.traces.formats.messages.own_counts import confirm_counts
from evaluation_assets.core.traces.formats.messages.pieces import user_events
from evaluation_assets.core.traces.formats.messages.several_runs import record_of_rows
from evaluation_assets.core.traces.formats.messages.tool_definitions import has_hosted_tools, tools_of
from evaluation_assets.core.traces.formats.readers.goose import has_tools
from evaluation_assets.core.traces.formats.run_names import run_of
from evaluation_assets.core.traces.formats.run_usage import usage_in_record, usage_of_answer, with_stated_cost
from evaluation_assets.core.traces.formats.transcript import Call, Event, Result, Said, as_text, total
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields
from evaluation_assets.core.traces.formats.untyped import (
    as_object,
    at,
    first_text,
    list_in,
    listed,
    object_in,
    objects_in,
)
from evaluation_assets.core.traces.formats.usage import usage_of
from evaluation_assets.core.traces.trajectories.model import JsonObject, Trajectory, Usage

NAME = "anthropic_messages"
DESCRIPTION = "Anthropic messages: content blocks with tool_use and tool_result, with or without requests and responses"
DETECTION = "messages whose content has tool_use, tool_result or thinking blocks, or that come with a system prompt"

_UNANSWERED = ("errored", "canceled", "expired")
"""Types of the results of a batch that are no answers."""
_CHUNKS = "chunks"
"""Field of a response of which a log of Bedrock has only the chunks that were streamed."""
_BLOCKS = frozenset(
    (
        "tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "mcp_tool_use",
        "mcp_tool_result", "web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result",
        "bash_code_execution_tool_result", "text_editor_code_execution_tool_result", "tool_search_tool_result",
    )
)  # fmt: skip
_CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")
_SUMMARY = "compaction"
"""What the API put in place of earlier messages: nobody said it."""


def is_anthropic(data: Any) -> bool:
    """Whether an object is a request, a response or both, with fields that only Anthropic uses."""
    if not isinstance(data, dict):
        return False
    if _is_response(data) or _is_response(_response_in(data)):
        return True
    request = _request_in(data)
    messages = request.get("messages")
    if not isinstance(messages, list):
        return False
    roles = {message.get("role") for message in messages if isinstance(message, dict) and _is_role(message)}
    if not roles or not roles <= {"user", "assistant", "system"}:
        return False
    if "system" in roles and not {"tool_use", "tool_result"} <= part_kinds(messages):  # told between turns
        return False
    if any("tool_calls" in message or "type" in message for message in messages if isinstance(message, dict)):
        return False
    if has_parts_of_others(messages):
        return False
    system = request.get("system")
    return not part_kinds(messages).isdisjoint(_BLOCKS) or (isinstance(system, str | list) and bool(system))


def detect(sample: Sample) -> bool:
    """Whether a record is an Anthropic conversation, or a message of one."""
    if any(is_of_cline(record) for record in sample.records):
        return False
    return not any(has_tools(record) for record in sample.records) and any(
        is_anthropic(_request_of(_unlogged(record))) for record in sample.records
    )


def read(files: Sequence[DropFile], unmapped: UnmappedFields) -> Iterator[Trajectory | Rejection]:
    """Yield one trajectory or rejection per conversation."""
    return each_conversation(
        files, _belongs, partial(trajectory_of, unmapped), _conversation_of, chats_in, _is_later_request
    )


def trajectory_of(unmapped: UnmappedFields, records: Sequence[Any]) -> Trajectory:
    """Build the trajectory of one conversation from single messages, or from requests of which the last is complete.

    Raises:
        UnusableRecord: there are no messages, or none from an agent.
    """
    records = [_unlogged(record) for record in records]
    are_messages = _is_message(records[0]) and (len(records) > 1 or not _is_response(records[0]))
    data = record_of_rows(records) if are_messages else record_of(_request_of(records[-1]))
    if _CHUNKS in object_in(data.get("response")):
        raise UnusableRecord("streamed_response", "the log has the response as chunks, which are not supported")
    with unmapped.reading(data) as fields:
        request = fields if isinstance(data.get("messages"), list) else fields.object(*REQUESTS)
        response = _response_of(fields)
        messages = request.objects("messages")
        answer = [response] if response is not None else []
        context = context_of(fields)
        if not messages and not answer and context.success is None:
            told = _failure_in(data) or "'messages' is not a list of messages, and there is no response"
            raise UnusableRecord("no_trajectory_text", told)
        if request is not fields:
            context = merged(context, context_of(request))
        model = request.text("model") or fields.text("model")
        if response is not None:
            model = response.text("model") or model
            response.set_aside("id", "stop_sequence", "usage", "container", "context_management", "stop_details")
        logged = [data for data in records if _is_response(data) or not _is_message(data)]
        usages = usages_by_answer(unmapped, logged, _used_in, _messages_in)
        answered = answered_in(logged, lambda data: bool(at(_response_in(data), "content")), _messages_in)
        lacking = confirm_requests(unmapped.stated, [message.text("role") for message in messages], usages, answered)
        events = tuple(events_of([*messages, *answer], usages))
        counted = total(event.usage for event in events if isinstance(event, Said))
        conversation = Conversation(
            events=events,
            system=_system_in(request, messages),
            tools=tools_of(request, "tools"),
            has_other_tools=has_hosted_tools(request),
            usage=lacking if response is fields else usage_in_record(fields, is_counted=counted is not None) or lacking,
        )
        request.set_aside("stream", "betas", "anthropic_version", "service_tier", "context_management")
        context = merged(context, *(ended_by(last.text("stop_reason")) for last in [*messages, *answer][-1:]))
        context = merged(context, Context(model=model))
        conversation = confirmed(unmapped, conversation, each_counted=not usages)
        if response is not fields and not usages:
            used = with_stated_cost(unmapped.stated, conversation.usage or counted, fields)
            conversation = replace(conversation, usage=used)
        trajectory = trajectory_from(NAME, conversation, context)
        if request is fields and response is None:
            confirm_counts(unmapped.stated, data, data["messages"], trajectory)
        return trajectory


def events_of(messages: Iterable[Fields], usages: Mapping[int, Usage]) -> Iterator[Event]:
    """Convert messages to events. `usages` holds the usage of answers by message index."""
    for index, message in enumerate(messages):
        role = message.text("role")
        message.set_aside("type", "id", "model", "stop_reason", "stop_sequence")
        own = usage_of_answer(message)
        if role == "system":
            continue
        if role == "assistant":
            yield from _answer(message.parts("content"), usages.get(index) or own)
        elif role is not None:
            yield from _request(message.parts("content"))


def _system_in(request: Fields, messages: Sequence[Fields]) -> str | None:
    """The system prompt, with what the system said between turns."""
    told = (prompt_in(message, "content", text=part_text) for message in messages if message.text("role") == "system")
    return "\n\n".join(filter(None, [prompt_in(request, "system", text=part_text), *told])) or None


def _request(blocks: Sequence[str | Fields]) -> Iterator[Event]:
    """Add a user message: tool results and text."""
    return user_events(map(_given, blocks))


def _given(block: str | Fields) -> str | Result:
    if isinstance(block, str):
        return block
    return _result(block) if (block.text("type") or "").endswith("tool_result") else _text(block)


def _answer(blocks: Sequence[str | Fields], usage: Usage | None) -> Iterator[Event]:
    """Add an assistant message: thinking, text and tool calls, interleaved with results of server-side tools."""
    gathered = Gathered(usage)
    for block in blocks:
        kind = "text" if isinstance(block, str) else block.text("type") or "text"
        if isinstance(block, Fields) and kind in _CALLS:
            gathered.calls.append(_call(block))
            continue
        if isinstance(block, Fields) and kind.endswith("tool_result"):
            yield from gathered.told()
            yield _result(block)
            continue
        if kind == _SUMMARY:
            continue
        if gathered.calls:
            yield from gathered.told()
        if isinstance(block, Fields) and kind in ("thinking", "redacted_thinking"):
            block.set_aside("signature")
            gathered.thoughts.append(block.text("thinking") or "[redacted]")
        else:
            text = block if isinstance(block, str) else _text(block)  # citations split a text into blocks
            gathered.texts = ["".join((*gathered.texts, text))]
    yield from gathered.told()


def _call(block: Fields) -> Call:
    block.set_aside("type", "caller", "cache_control")
    return Call(
        name=block.text("name") or "unnamed",
        arguments=given_to(block),
        id=block.name("id"),
        server=block.text("server_name"),
    )


def _result(block: Fields) -> Result:
    """Read a tool result: a text, blocks, or an object of a server-side tool."""
    pieces: list[str] = []
    error: str | None = None
    returned = block.peek("content")
    is_data = are_data(returned) and not any("type" in item for item in objects_in(listed(returned)))
    for part in [as_text(block.value("content"))] if is_data else block.parts("content"):
        if isinstance(part, str):
            pieces.append(part)
            continue
        part.set_aside("type")
        code = part.text("error_code")
        if code is not None:
            error = code
            pieces.append(": ".join(piece for piece in (code, part.text("error_message")) if piece))
        else:
            pieces.append(_text(part))
        if part.whole("return_code"):
            error = first_line(part.text("stderr") or f"return code {part.whole('return_code')}")
    content = "\n".join(piece for piece in pieces if piece)
    if block.flag("is_error") is True:
        error = error or first_line(content)
    if "content" not in block:
        content, error = _run_of(block.object("run") if "run" in block else block)
    block.set_aside("type", "cache_control", "caller")
    return Result(content=content, call_id=block.name("tool_use_id", "toolUseID"), error=error)


def _run_of(run: Fields) -> tuple[str, str | None]:
    """What a tool returned and its error, as Amp has them: the run of the tool, with a status."""
    returned, status = as_text(run.value("result", "output")), run.text("status")
    error = stated_error(run, returned) or (None if status == "done" else status)
    run.set_aside("progress", "trackFiles")
    return returned or error or "", error


def _text(block: Fields) -> str:
    """Convert a block to text. Objects of server-side tools become JSON, without encrypted content."""
    kind = block.text("type") or "text"
    block.set_aside("cache_control", "encrypted_content", "encrypted_index", "encrypted_stdout")
    if kind in ("text", "image", "document", "search_result", "container_upload"):
        if kind == "search_result":
            texts = [block.text("title"), block.text("source"), content_of(block)]
            return "\n".join(piece for piece in texts if piece)
        return part_text(block)
    return as_text(block.rest())


def _used_in(fields: Fields) -> Usage | None:
    response = _response_of(fields)
    return None if response is None else usage_of(response.object("usage"))


def _response_of(fields: Fields) -> Fields | None:
    """The response in a record, at any of the places that logs and batches use."""
    if "content" in fields and fields.text("role") == "assistant":
        return fields
    response = fields.object("response")
    for candidate in (response, response.object("body"), fields.object("result").object("message")):
        if "content" in candidate:
            return candidate
    return None


def _response_in(data: dict[str, Any]) -> Any:
    response = data.get("response")
    return response.get("body", response) if isinstance(response, dict) else at(data.get("result"), "message")


def _is_response(data: Any) -> bool:
    return (
        isinstance(data, dict)
        and data.get("type") == "message"
        and data.get("role") == "assistant"
        and isinstance(data.get("content"), list)
        and ("stop_reason" in data or "stop_sequence" in data)
    )


def _request_in(data: dict[str, Any]) -> dict[str, Any]:
    return data if isinstance(data.get("messages"), list) else request_in(data)


def _messages_in(data: dict[str, Any]) -> Any:
    return _request_in(data).get("messages")


def _failure_in(data: JsonObject) -> str | None:
    """Why a request of a batch has no answer."""
    result = object_in(data.get("result"))
    if (kind := result.get("type")) not in _UNANSWERED:
        return None
    error = object_in(result.get("error"))
    return f"the request failed: {first_text(object_in(error.get('error')) or error, 'message', 'type') or kind}"


def _request_of(data: Any) -> Any:
    """Wrap a list of messages or a single message in a request object."""
    if isinstance(data, list):
        return {"messages": data}
    return {"messages": [data]} if _is_message(data) and not _is_response(data) else data


def _is_role(message: dict[str, Any]) -> bool:
    return isinstance(message.get("role"), str)


def _is_message(data: Any) -> bool:
    return isinstance(data, dict) and data.get("role") in ("user", "assistant") and "messages" not in data


def _conversation_of(message: Any) -> str | None:
    """The conversation that a message on a line of its own names; `None` for other records."""
    return run_of(message) if _is_message(message) and not _is_response(message) else None


def _belongs(earlier: Any, later: Any) -> bool:
    """Whether a record continues the last: single-message lines, or a request that repeats the conversation."""
    earlier, later = _unlogged(earlier), _unlogged(later)
    if _is_message(earlier):
        return _is_message(later) and not (_is_response(earlier) and _is_response(later))
    if not isinstance(earlier, dict) or not isinstance(later, dict):
        return False
    if _response_in(earlier) is None or _response_in(later) is None:
        return grows(earlier, later, lambda data: list_in(data.get("messages")))
    before, after = _request_in(earlier).get("messages"), _request_in(later).get("messages")
    return isinstance(before, list) and isinstance(after, list) and goes_on(before, after, _response_in(earlier))


def _is_later_request(data: Any) -> bool:
    """Whether a record of a log is a request of a conversation that began before."""
    data = _unlogged(data)
    if not isinstance(data, dict) or _response_in(data) is None:
        return False
    return has_answer(list_in(_request_in(data).get("messages")))


def _unlogged(data: Any) -> Any:
    """An entry of `InvokeModel` of a log of Amazon Bedrock, as a request with its response; other values unchanged.

    The bodies are objects, or JSON texts; that of a streamed response is the list of its chunks. Short names
    of requests are written out, and a response without a role is one of the assistant.
    """
    data = with_full_names(data)
    response = at(data, "response")
    if (
        isinstance(response, dict)
        and "role" not in response
        and any(at(part, "type") for part in list_in(response.get("content")))
    ):
        return {**data, "response": {"role": "assistant", **response}}
    if at(data, "schemaType") != "ModelInvocationLog" or not str(at(data, "operation")).startswith("InvokeModel"):
        return data
    request = as_object(at(at(data, "input"), "inputBodyJson"))
    if request is None or not isinstance(request.get("messages"), list):
        return data
    body = at(at(data, "output"), "outputBodyJson")
    response = {_CHUNKS: body} if isinstance(body, list) else as_object(body)
    about = {"id": data.get("requestId"), "timestamp": data.get("timestamp"), "model": data.get("modelId")}
    return {**about, "request": request, "response": response}
