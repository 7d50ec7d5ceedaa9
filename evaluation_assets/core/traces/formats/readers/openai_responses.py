"""OpenAI Responses items: messages, reasoning, function calls and hosted tool calls.

A record is a response, a request with its response, an object with items, or a bare list of items. Lines with single
items form one conversation, as do responses that name the previous one or whose input repeats it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from evaluation_assets.core.text.counted import first_of
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
    trajectory_from,
)
from evaluation_assets.core.traces.formats.messages.asked_beside import REQUESTS, request_in
from evaluation_assets.core.traces.formats.messages.chat import ROLES, prompt_in
from evaluation_assets.core.traces.formats.messages.contents import content_of
from evaluation_assets.core.traces.formats.messages.item_pages import confirm_page, from_first, told_in
from evaluation_assets.core.traces.formats.messages.own_counts import confirm_counts
from evaluation_assets.core.traces.formats.messages.realtime_events import event_in
from evaluation_assets.core.traces.formats.messages.response_calls import (
    CALLS,
    HOSTED,
    SELDOM,
    call_of,
    hosted_call,
    hosted_result,
    result_of,
)
from evaluation_assets.core.traces.formats.messages.tool_definitions import has_hosted_tools, tools_of
from evaluation_assets.core.traces.formats.readers.grok import is_of_grok
from evaluation_assets.core.traces.formats.readers.open_interpreter import is_of_interpreter
from evaluation_assets.core.traces.formats.run_names import run_of
from evaluation_assets.core.traces.formats.run_usage import lacking
from evaluation_assets.core.traces.formats.transcript import Asked, Event
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields
from evaluation_assets.core.traces.formats.untyped import at, first_text, list_in, object_in, objects_in
from evaluation_assets.core.traces.formats.usage import usage_of
from evaluation_assets.core.traces.trajectories.model import JsonObject, Tool, Trajectory, Usage

NAME = "openai_responses"
DESCRIPTION = "OpenAI Responses items: messages, reasoning, function, MCP, search and code calls"
DETECTION = "response objects, or items of types such as function_call, reasoning, web_search_call"

_LISTS = ("input", "output", "items", "data")
_NO_ITEMS = f"the record has no items in any of: {', '.join(_LISTS)}"
_ROLLOUT = "responses_create_params"
"""The request of a rollout of NeMo Gym, beside which the data of its task stand."""
_NAMED = 5
"""Types of items that are named where none says or calls anything."""

_NOT_SAID = (
    "mcp_list_tools", "mcp_approval_request", "mcp_approval_response", "item_reference", "compaction",
    "additional_tools",
)  # fmt: skip
_ITEMS = frozenset((*CALLS, *(f"{kind}_output" for kind in CALLS), *HOSTED, "mcp_list_tools", "mcp_approval_request"))


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
            events += events_of(_without_echo(given[repeated:]) if repeated else given, None)
            events += events_of(response.parts("output"), usage)
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
        held = list(dict.fromkeys(kind for record in records for kind in _kinds_in(record)))
        problem = f"its items say and call nothing: {first_of(held, _NAMED)}" if held else _NO_ITEMS
        raise UnusableRecord("no_trajectory_text", problem)
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


def events_of(items: Iterable[str | Fields], usage: Usage | None) -> Iterator[Event]:
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
        elif kind in (*CALLS, *SELDOM):
            gathered.calls.append(call_of(item, kind))
        elif kind in HOSTED:
            yield from _hosted(item, kind, gathered)
        elif kind.endswith("_output"):
            yield from gathered.told()
            yield result_of(item, kind)
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
    gathered.calls.append(hosted_call(item, kind))
    yield from gathered.told()
    result = hosted_result(item, kind)
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
    if _ROLLOUT not in fields and any(key in fields for key in ("input", "items", "data")):
        return fields
    return fields.object(*REQUESTS)


def _response_of(fields: Fields) -> Fields:
    if "output" in fields:
        return fields
    response = fields.object("response")
    return response if "output" in response else response.object("body")


def _input_of(data: dict[str, Any]) -> list[Any]:
    return next((value for holder in (data, request_in(data)) if isinstance(value := holder.get("input"), list)), [])


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
    if _ROLLOUT in later:  # each has an outcome of its own, also of one task
        return False
    request = request_in(later) or later
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
    return any(map(is_item, _items_in(record)))


def _items_in(record: JsonObject) -> list[Any]:
    """What stands in the lists of a record, or of its request and response."""
    lists = [record.get(key) for key in _LISTS] + [_response_in(record).get("output"), _input_of(record)]
    return [item for items in lists if isinstance(items, list) for item in items]


def _kinds_in(record: Any) -> list[str]:
    items = _items_in(record) if isinstance(record, dict) else list_in(record)
    return [first_text(item, "type") or "message" for item in objects_in(items)]


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
    if kind in HOSTED:
        return "role" not in data
    if kind in _ITEMS:
        return any(key in data for key in ("call_id", "id", "name", "server_label"))
    if kind == "reasoning":
        return isinstance(data.get("summary"), list)
    return kind == "message" and isinstance(data.get("role"), str) and "stop_reason" not in data and "content" in data
