"""OpenAI Responses items: messages, reasoning, function calls and hosted tool calls.

A record is a response, a request with its response, an object with items, or a bare list of items. Lines with single
items form one conversation, as do responses that name the previous one or whose input repeats it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from evaluation_assets.core.traces.formats.base import DropFile, Rejection, Sample, UnusableRecord
from evaluation_assets.core.traces.formats.coding.gemini_stream import is_init
from evaluation_assets.core.traces.formats.context import Context, context_of, ended_by, merged
from evaluation_assets.core.traces.formats.conversation import (
    Conversation,
    Gathered,
    confirmed,
    each_conversation,
    goes_on,
    record_of,
    run_of,
    trajectory_from,
)
from evaluation_assets.core.traces.formats.images import image_text
from evaluation_assets.core.traces.formats.messages.chat import ROLES, first_line, prompt_in, stated_error
from evaluation_assets.core.traces.formats.messages.contents import content_of
from evaluation_assets.core.traces.formats.messages.item_pages import confirm_page, from_first, told_in
from evaluation_assets.core.traces.formats.messages.own_counts import confirm_counts
from evaluation_assets.core.traces.formats.messages.realtime_events import event_in
from evaluation_assets.core.traces.formats.messages.tool_definitions import has_hosted_tools, tools_of
from evaluation_assets.core.traces.formats.readers.grok import is_of_grok
from evaluation_assets.core.traces.formats.readers.open_interpreter import is_of_interpreter
from evaluation_assets.core.traces.formats.run_usage import lacking
from evaluation_assets.core.traces.formats.transcript import Asked, Call, Event, Result, as_text
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields
from evaluation_assets.core.traces.formats.untyped import at, first_text, list_in, object_in, objects_in
from evaluation_assets.core.traces.formats.usage import usage_of
from evaluation_assets.core.traces.trajectories.model import Tool, Trajectory, Usage

NAME = "openai_responses"
DESCRIPTION = "OpenAI Responses items: messages, reasoning, function, MCP, search and code calls"
DETECTION = "response objects, or items of types such as function_call, reasoning, web_search_call"

_LISTS = ("input", "output", "items", "data")
_CALLS = ("function_call", "custom_tool_call", "local_shell_call", "shell_call", "apply_patch_call", "computer_call")
"""Calls that the client executes; their output is a separate item."""

_HOSTED = {
    "mcp_call": "name", "web_search_call": "web_search", "file_search_call": "file_search",
    "code_interpreter_call": "code_interpreter", "image_generation_call": "image_generation",
}  # fmt: skip
"""Hosted tool calls: the item includes the result, if it is reported."""

_SOURCES = "sources"
"""Field of a web search with the pages that it found."""

_SELDOM = ("tool_search_call", "program")
"""Calls, too; their names are too common to tell the format."""

_NOT_SAID = (
    "mcp_list_tools", "mcp_approval_request", "mcp_approval_response", "item_reference", "compaction",
    "additional_tools",
)  # fmt: skip
_ITEMS = frozenset(
    (*_CALLS, *(f"{kind}_output" for kind in _CALLS), *_HOSTED, "mcp_list_tools", "mcp_approval_request")
)


def detect(sample: Sample) -> bool:
    """Whether a record is a response, has items, or is an item."""
    others = (is_init, is_of_grok, is_of_interpreter, event_in)  # with items among others
    is_of_agent = any(is_other(record) for is_other in others for record in sample.records)
    return not is_of_agent and any(is_item(record) or _holds_items(record) for record in sample.records)


def read(files: Sequence[DropFile], unmapped: UnmappedFields) -> Iterator[Trajectory | Rejection]:
    """Yield one trajectory or rejection per conversation."""
    return each_conversation(files, _belongs, partial(trajectory_of, unmapped), _conversation_of)


def trajectory_of(unmapped: UnmappedFields, records: Sequence[Any]) -> Trajectory:
    """Build the trajectory of one conversation from single items or from consecutive exchanges.

    Raises:
        UnusableRecord: there are no items, or no agent message or tool call.
    """
    if _is_line(records[0]) or _is_strange_item(records[0]):
        records = [{"items": list(records)}]
    events, asked, usages = list[Event](), list[Any](), list[Usage | None]()
    context, conversation = Context(), Conversation(events=())
    for record in records:
        data = from_first(record_of(record, "items"))
        with unmapped.reading(data) as fields:
            confirm_page(fields)
            request, response = _request_of(fields), _response_of(fields)
            given = request.parts("input", "items", "data")
            repeated = len(asked) if goes_on(asked, _input_of(data)) else 0
            asked = _input_of(data)
            usage = usage_of(response.object("usage"))
            usages += [usage] if list_in(response.peek("output")) else []
            events += _events(_without_echo(given[repeated:]) if repeated else given, None)
            events += _events(response.parts("output"), usage)
            context = merged(context, _context(fields, request, response))
            conversation = Conversation(
                events=tuple(events),
                system=conversation.system or _instructions(response) or _instructions(request) or told_in(data),
                tools=conversation.tools
                or next(filter(None, (tools_of(each, "tools") for each in (response, request))), None)
                or _listed(request, response),
                has_other_tools=conversation.has_other_tools or has_hosted_tools(request, response),
            )
    kinds = (str(at(item, "type")) for record in records for item in (record, *list_in(at(record, "items"))))
    if not events and any(kind.startswith("response.") for kind in kinds):
        raise UnusableRecord(
            "wrong_type",
            "an event of a streamed response; export the request and the response in its event response.completed",
        )
    if not events:
        raise UnusableRecord("no_trajectory_text", f"the record has no items in any of: {', '.join(_LISTS)}")
    whole = confirmed(unmapped, replace(conversation, usage=lacking(unmapped.stated, usages)))
    trajectory = trajectory_from(NAME, whole, context)
    if len(records) == 1:
        confirm_counts(unmapped.stated, object_in(records[0]), events, trajectory)
    return trajectory


def _context(fields: Fields, request: Fields, response: Fields) -> Context:
    contexts = [context_of(fields)]
    for other in (request, response):
        contexts += [] if other is fields else [context_of(other)]
        other.set_aside(
            "object", "store", "parallel_tool_calls", "truncation", "text", "service_tier", "background", "billing",
            "completed_at", "previous_response_id", "output_text", "usage", "user", "stream", "include", "status",
            "top_logprobs", "max_tool_calls", "prompt_cache_key", "safety_identifier", "presence_penalty",
            "frequency_penalty", "prompt_cache_retention",
        )  # fmt: skip
    incomplete = response.object("incomplete_details").text("reason")
    error = response.object("error")
    failure = error.text("message", "code")
    error.set_aside("code")
    return merged(*contexts, ended_by(incomplete), Context(failure=failure))


def _instructions(fields: Fields) -> str | None:
    return prompt_in(fields, "instructions", "system_prompt", text=content_of)


def _events(items: Iterable[str | Fields], usage: Usage | None) -> Iterator[Event]:
    """Convert items to events. Consecutive reasoning, messages and calls form one event."""
    gathered = Gathered(usage)
    for item in items:
        if isinstance(item, str):
            yield from gathered.told()
            yield Asked(text=item)
            continue
        kind = item.text("type") or "message"
        item.set_aside("status", "id", "phase")
        if kind == "message":
            yield from _message(item, gathered)
        elif kind == "reasoning":
            if gathered.texts or gathered.calls:
                yield from gathered.told()
            gathered.thoughts += _thoughts(item)
        elif kind in (*_CALLS, *_SELDOM):
            gathered.calls.append(_call(item, kind))
        elif kind in _HOSTED:
            yield from _hosted(item, kind, gathered)
        elif kind.endswith("_output"):
            yield from gathered.told()
            yield _result(item, kind)
        elif kind not in _NOT_SAID:
            item.note_unknown(kind)
    yield from gathered.told()


def _message(item: Fields, gathered: Gathered) -> Iterator[Event]:
    role = ROLES.get(item.text("role") or "")
    text = content_of(item)
    if not text.strip():
        return
    if role == "assistant":
        if gathered.calls:
            yield from gathered.told()
        gathered.texts.append(text)
    elif role == "user":
        yield from gathered.told()
        yield Asked(text=text)


def _hosted(item: Fields, kind: str, gathered: Gathered) -> Iterator[Event]:
    """Add a call that has its result; calls that wait for the client are added before it."""
    if gathered.calls:
        yield from gathered.told()
    gathered.calls.append(_hosted_call(item, kind))
    yield from gathered.told()
    result = _hosted_result(item, kind)
    if result is not None:
        yield result


def _thoughts(item: Fields) -> list[str]:
    """The reasoning summary and, if reported, the reasoning text."""
    thoughts = [
        part if isinstance(part, str) else _text(part) for key in ("summary", "content") for part in item.parts(key)
    ]
    item.set_aside("encrypted_content")
    return [text for text in thoughts if text]


def _text(part: Fields) -> str:
    part.set_aside("type")
    return part.text("text") or ""


def _call(item: Fields, kind: str) -> Call:
    arguments = item.value("arguments", "input", "action", "operation", "actions")
    item.set_aside("pending_safety_checks", "caller", "environment", "execution", "fingerprint")
    return Call(
        name=item.text("name") or kind.removesuffix("_call"),
        arguments={"code": item.value("code")} if kind == "program" else arguments,
        id=item.name("call_id", "id"),
        server=item.text("namespace"),
    )


def _result(item: Fields, kind: str) -> Result:
    """The client's output of a call: a text, text parts, or shell output; the tools that a search found."""
    pieces: list[str] = [as_text(item.value("tools"))] if kind == "tool_search_output" else []
    error: str | None = None
    for part in item.parts("output", "result"):
        if isinstance(part, str):
            pieces.append(part)
            continue
        outcome = part.object("outcome")
        code = outcome.whole("exit_code")
        kind = part.text("type") or ""
        if kind in ("computer_screenshot", "input_image"):
            pieces.append(image_text(part))
            continue
        pieces += [text for key in ("text", "stdout", "stderr") if (text := part.text(key))]
        if code or outcome.text("type") == "timeout":
            error = f"exit code {code}" if code else "timeout"
            pieces.append(f"[{error}]")
    content = "\n".join(pieces)
    item.set_aside("acknowledged_safety_checks", "max_output_length", "name", "caller", "execution")
    names_call = ("call_id", "id") if kind == "local_shell_call_output" else ("call_id",)
    return Result(content=content, call_id=item.name(*names_call), error=error or stated_error(item, content))


def _hosted_call(item: Fields, kind: str) -> Call:
    item.set_aside("container_id", "approval_request_id", "background", "output_format", "quality", "size")
    arguments = item.value("arguments", "action", "revised_prompt")
    named = {key: value for key in ("queries", "code") if (value := item.value(key)) is not None}
    if isinstance(arguments, dict):
        arguments = {key: value for key, value in arguments.items() if key != _SOURCES}
    return Call(
        name=(item.text("name") or "mcp") if kind == "mcp_call" else _HOSTED[kind],
        arguments=named or arguments,
        id=item.name("id"),
        server=item.text("server_label"),
    )


def _hosted_result(item: Fields, kind: str) -> Result | None:
    """The output of a hosted tool; `None` if the item does not include it."""
    failure, status = item.value("error"), item.text("status")
    failed = failure is not None or status in ("failed", "incomplete")
    if kind == "image_generation_call":
        content = image_text(item) if "result" in item else ""
    elif kind == "web_search_call":
        pages = objects_in(at(item.value("action"), _SOURCES))
        content = "\n".join(url for page in pages if (url := first_text(page, "url", "name")) is not None)
    else:
        pieces = [
            part if isinstance(part, str) else _piece(part) for part in item.parts("output", "outputs", "results")
        ]
        content = "\n".join(piece for piece in pieces if piece)
    if not content and not failed:
        return None
    told = content or _told(failure)
    error = first_line(_told(failure) or told or status or "") if failed else None
    return Result(content=told, call_id=item.name("id"), error=error)


def _told(failure: Any) -> str:
    """What an error says: a text, its message, or the parts that a tool of MCP gave back."""
    content = at(failure, "content")
    texts = [text for part in objects_in(content) if (text := first_text(part, "text")) is not None]
    return "\n".join(texts) or first_text(failure, "message") or as_text(content or failure)


def _piece(part: Fields) -> str:
    """Format a code log or a file search result."""
    if part.text("type") == "image":
        return image_text(part)
    part.set_aside("attributes", "file_id", "vector_store_id")
    score = part.number("score")
    named = [part.text("filename"), None if score is None else f"score {score}"]
    head = ", ".join(piece for piece in named if piece)
    return "\n".join(piece for piece in (head, part.text("logs", "text")) if piece)


def _without_echo(items: Sequence[str | Fields]) -> list[str | Fields]:
    """The input without the output of the previous response, which clients send back."""
    return [item for item in items if isinstance(item, str) or not _is_output(item)]


def _is_output(item: Fields) -> bool:
    kind = item.text("type") or "message"
    if kind == "message":
        return item.text("role") == "assistant"
    return not kind.endswith("_output")


def _listed(*holders: Fields) -> tuple[Tool, ...] | None:
    """Tools listed by MCP servers among the items."""
    items = [item for holder in holders for key in _LISTS for item in holder.parts(key)]
    listed = [item for item in items if isinstance(item, Fields) and item.text("type") == "mcp_list_tools"]
    return tuple(tool for item in listed for tool in tools_of(item, "tools") or ()) or None


def _request_of(fields: Fields) -> Fields:
    return fields if any(key in fields for key in ("input", "items", "data")) else fields.object("request", "body")


def _response_of(fields: Fields) -> Fields:
    if "output" in fields:
        return fields
    response = fields.object("response")
    return response if "output" in response else response.object("body")


def _input_of(data: dict[str, Any]) -> list[Any]:
    request = next((request for key in ("request", "body") if isinstance(request := data.get(key), dict)), {})
    return next((value for holder in (data, request) if isinstance(value := holder.get("input"), list)), [])


def _response_in(data: Any) -> dict[str, Any]:
    """The raw response of a record."""
    if not isinstance(data, dict):
        return {}
    if isinstance(data.get("output"), list):
        return data
    response = data.get("response")
    return object_in(response.get("body", response) if isinstance(response, dict) else None)


def _conversation_of(item: Any) -> str | None:
    """The conversation that an item on a line of its own names; `None` for other records."""
    return run_of(item) if _is_line(item) else None


def _belongs(earlier: Any, later: Any) -> bool:
    """Whether a record continues the last: single-item lines, or a response that names or repeats the previous one."""
    if _is_line(earlier) or _is_strange_item(earlier):
        return _is_line(later) or _is_strange_item(later)
    if not isinstance(earlier, dict) or not isinstance(later, dict):
        return False
    request = next((request for key in ("request", "body") if isinstance(request := later.get(key), dict)), later)
    before = _response_in(later).get("previous_response_id") or request.get("previous_response_id")
    if before is not None and before == _response_in(earlier).get("id"):
        return True
    return bool(_response_in(earlier)) and goes_on(_input_of(earlier), _input_of(later))


def _holds_items(record: Any) -> bool:
    if isinstance(record, list):
        return any(is_item(item) for item in record)
    if not isinstance(record, dict):
        return False
    if _response_in(record).get("object") == "response":
        return True
    lists = [record.get(key) for key in _LISTS] + [_response_in(record).get("output"), _input_of(record)]
    return any(is_item(item) for items in lists if isinstance(items, list) for item in items)


def _is_line(data: Any) -> bool:
    """Whether a value is an item, or a message in the short input form."""
    if not isinstance(data, dict):
        return False
    return is_item(data) or (isinstance(role := data.get("role"), str) and role in ROLES and "content" in data)


def _is_strange_item(data: Any) -> bool:
    """Whether a value is an item of a type that this reader does not know, and holds no items itself."""
    return isinstance(data, dict) and isinstance(data.get("type"), str) and not is_item(data) and not _holds_items(data)


def is_item(data: Any) -> bool:
    """Whether an item is specific to Responses, by its type or its message parts."""
    if not isinstance(data, dict) or not isinstance(kind := data.get("type"), str):
        return False
    if kind in _HOSTED:
        return "role" not in data
    if kind in _ITEMS:
        return any(key in data for key in ("call_id", "id", "name", "server_label"))
    if kind == "reasoning":
        return isinstance(data.get("summary"), list)
    return kind == "message" and isinstance(data.get("role"), str) and "stop_reason" not in data and "content" in data
