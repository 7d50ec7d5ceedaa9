"""OpenAI chat messages with tool calls: bare lists, records with metadata, or logs of requests and responses.

A record is a list of messages, an object with such a list, or a request with its response. Lines with single messages
form one conversation, as do requests that repeat the conversation so far.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from evaluation_assets.core.traces.formats.base import DropFile, Rejection, Sample, UnusableRecord
from evaluation_assets.core.traces.formats.coding.client_context import is_of_cline
from evaluation_assets.core.traces.formats.coding.gemini_stream import is_init
from evaluation_assets.core.traces.formats.context import NOTHING_KNOWN, Context, context_of, ended_by, merged
from evaluation_assets.core.traces.formats.conversation import (
    Conversation,
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
from evaluation_assets.core.traces.formats.durations import times_of
from evaluation_assets.core.traces.formats.messages.acts import is_act, is_no_message, with_fields
from evaluation_assets.core.traces.formats.messages.ag2_history import ag2_events, is_ag2
from evaluation_assets.core.traces.formats.messages.asked_beside import PROXIED, REQUESTS, request_in
from evaluation_assets.core.traces.formats.messages.calls_beside import with_calls_beside
from evaluation_assets.core.traces.formats.messages.chat import (
    MADE,
    ROLES,
    events_of,
    has_parts_of_others,
    meaning_of,
    role_of,
    system_of,
)
from evaluation_assets.core.traces.formats.messages.contents import TEXTS
from evaluation_assets.core.traces.formats.messages.evalscope_samples import samples_in
from evaluation_assets.core.traces.formats.messages.framework_messages import as_chat_messages, is_of_framework
from evaluation_assets.core.traces.formats.messages.item_pages import confirm_page
from evaluation_assets.core.traces.formats.messages.message_lists import (
    LISTS,
    chats_in,
    messages_in,
    with_choices,
    with_messages,
)
from evaluation_assets.core.traces.formats.messages.own_counts import confirm_counts
from evaluation_assets.core.traces.formats.messages.several_runs import record_of_rows
from evaluation_assets.core.traces.formats.messages.tool_definitions import tools_of
from evaluation_assets.core.traces.formats.messages.typed_events import are_events
from evaluation_assets.core.traces.formats.messages.users_calls import with_users_calls
from evaluation_assets.core.traces.formats.messages.written_calls import WrittenMessages, with_written_calls
from evaluation_assets.core.traces.formats.readers.ag_ui import is_event
from evaluation_assets.core.traces.formats.readers.anthropic_messages import is_anthropic
from evaluation_assets.core.traces.formats.readers.goose import has_tools
from evaluation_assets.core.traces.formats.readers.kimi_code import is_mark
from evaluation_assets.core.traces.formats.readers.openai_responses import is_item
from evaluation_assets.core.traces.formats.readers.own_spans import is_own_span
from evaluation_assets.core.traces.formats.run_names import run_of
from evaluation_assets.core.traces.formats.run_usage import usage_in_record, with_stated_cost
from evaluation_assets.core.traces.formats.transcript import Said, one_line, total
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields
from evaluation_assets.core.traces.formats.untyped import at, list_in, object_in
from evaluation_assets.core.traces.formats.usage import usage_of
from evaluation_assets.core.traces.trajectories.model import Trajectory, Usage

NAME = "openai_messages"
DESCRIPTION = "OpenAI chat messages with tool_calls: bare lists, records with a list, logs of requests and responses"
DETECTION = (
    "messages (or traj, trajectory, conversation, conversations) with roles and text content or text parts; prompt and "
    "completion of a rollout"
)

_RESPONSES = ("response", "response_body")

_COSTS = ("response_cost", "spend", "costUSD", "cost")
"""What LiteLLM and Helicone computed as the cost of a request in US dollars."""

_MEANINGS = frozenset(ROLES.values())
_TOOLS = ("tools", "functions", "tool_definitions")

_OTHERS = ("trajectory_format", "simulations", "sessionId", "steps", "intermediate_steps", "run_type", "samples")
"""Fields of more specific formats whose records also have messages."""


def detect(sample: Sample) -> bool:
    """Whether a record has chat messages, or is one."""
    if any(is_of_cline(one) or is_mark(one) or is_event(one) or is_own_span(one) for one in sample.records):
        return False
    if any(map(samples_in, sample.records)) or _are_logged_events(sample.records):
        return False
    return not any(is_item(record) or is_init(record) or has_tools(record) for record in sample.records) and any(
        _is_message(record) or _holds_messages(record) for record in sample.records
    )


def _are_logged_events(records: Sequence[Any]) -> bool:
    """Whether records are the events of runs, some of which have what a model was given."""
    return len(records) > 1 and not any(map(_is_message, records)) and are_events(records)


def read(files: Sequence[DropFile], unmapped: UnmappedFields) -> Iterator[Trajectory | Rejection]:
    """Yield one trajectory or rejection per conversation."""
    return each_conversation(
        files, _belongs, partial(trajectory_of, unmapped), _conversation_of, chats_in, _is_later_request
    )


def trajectory_of(
    unmapped: UnmappedFields, records: Sequence[Any], known: Context = NOTHING_KNOWN, *, by_turn: bool = False
) -> Trajectory:
    """Build the trajectory of one conversation from single messages, or from requests of which the last is complete.

    `known` is what its reader knows of it. `by_turn` says that tokens are stated with one message of each turn.

    Raises:
        UnusableRecord: there are no messages, or none from an agent.
    """
    records = records if _is_message(records[0]) else [with_choices(record, *_RESPONSES) for record in records]
    data = record_of_rows(records) if _is_message(records[0]) else record_of(records[-1])
    if data.get("object") == "chat.completion.chunk":
        raise UnusableRecord(
            "wrong_type", "a chunk of a streamed completion; export the request's messages and the completed answer"
        )
    data, written = _with_written_calls(with_messages(data))
    with unmapped.reading(data) as fields:
        unmapped.note("unknown_part", "<tool_call>", written.unread)
        for entry in filter(is_no_message, messages_in(data) or ()):
            unmapped.note("unknown_part", entry["type"])
        confirm_page(fields)
        request = fields if messages_in(data) is not None else fields.object(*REQUESTS)
        request = request.object("body") if messages_in(object_in(request.peek("body"))) else request
        response = _response_of(fields)
        choices, others = response.objects("choices")[:1], response.items("choices")[1:]
        if others:
            unmapped.note("unknown_part", "further choices of an answer (n > 1)", len(others))
        messages = request.objects(*LISTS)
        answers = [choice.object("message") for choice in choices]
        if messages and answers and _is_same(_request_messages(data)[-1], response.items("choices")[0]):
            answers[0].rest()  # the log holds the reply among the messages already
            answers = []
        for choice in choices:
            choice.set_aside("index", "logprobs")
        failure = None if answers else _failure_of(fields)
        stated = context_of(fields)
        if request is not fields and failure is None and not choices and _lacks_answer(data):
            unmapped.note("unknown_part", "a response without choices")
        if not messages and not choices and (failure is not None or stated.success is None):
            what = f"the record has no list of messages in {', '.join(LISTS)}"
            raise UnusableRecord("no_trajectory_text", what if failure is None else f"the request failed: {failure}")
        written_context = Context(task=written.task, final_answer=written.answer, failure=failure)
        context = merged(
            stated,
            known,
            written_context,
            *([] if request is fields else [context_of(request)]),
            *(ended_by(choice.text("finish_reason")) for choice in choices),
            Context(model=response.text("model")),
        )
        started, lasted = times_of(messages)
        context = replace(
            context,
            started_at=context.started_at or started,
            duration_s=lasted if context.duration_s is None else context.duration_s,
        )
        usages = usages_by_answer(unmapped, records, _used_in, _request_messages)
        answered = answered_in(records, lambda data: _answer_in(data) is not None, _request_messages)
        lacking = confirm_requests(unmapped.stated, [message.text("role") for message in messages], usages, answered)
        events = tuple(
            ag2_events(messages)
            if not answers and is_ag2(_request_messages(data))
            else events_of([*messages, *answers], usages=usages)
        )
        counted = total(event.usage for event in events if isinstance(event, Said))
        conversation = Conversation(
            events=events,
            system=system_of(messages) or request.text("system", "system_prompt"),
            tools=tools_of(request, *_TOOLS) or tools_of(request.object("model_parameters"), *_TOOLS),
            usage=lacking if response is fields else usage_in_record(fields, is_counted=counted is not None) or lacking,
        )
        request.set_aside("stream", "stream_options", "n", "store", "parallel_tool_calls")
        fields.set_aside(*_COSTS)
        response.set_aside("id", "object", "system_fingerprint", "created", "usage", "service_tier")
        conversation = confirmed(unmapped, conversation, each_counted=not usages and not by_turn)
        if response is not fields and not usages:
            used = with_stated_cost(unmapped.stated, conversation.usage or counted, fields)
            conversation = replace(conversation, usage=used)
        trajectory = trajectory_from(NAME, conversation, context)
        if request is fields:
            confirm_counts(unmapped.stated, data, _request_messages(data), trajectory)
        return trajectory


def _with_written_calls(data: dict[str, Any]) -> tuple[dict[str, Any], WrittenMessages]:
    """A record whose messages have the calls that were written into their text, and what was written."""
    name = next((key for key in LISTS if isinstance(data.get(key), list)), None)
    if name is None:
        return data, WrittenMessages([])
    written = with_written_calls(list(with_fields(with_users_calls(data[name])[0])))
    data, messages = with_calls_beside(data, written.messages)
    return {**data, name: messages}, written


def _is_same(message: Any, choice: Any) -> bool:
    """Whether a message of the conversation is the reply that a choice holds."""
    reply = at(choice, "message")
    if not isinstance(message, dict) or not isinstance(reply, dict) or message.get("role") != "assistant":
        return False
    return all((message.get(key) or None) == (reply.get(key) or None) for key in ("content", "tool_calls"))


def _response_of(fields: Fields) -> Fields:
    if "choices" in fields:
        return fields
    response = fields.object(*_RESPONSES)
    return response if "choices" in response else response.object("body")


def _lacks_answer(data: dict[str, Any]) -> bool:
    """Whether a log of a request has a response, and the last of its messages is none of an agent."""
    messages = _request_messages(data)
    is_answered = not messages or role_of(messages[-1]) == "assistant"
    return not is_answered and any(at(data.get(name), "body") or data.get(name) for name in _RESPONSES)


def _failure_of(fields: Fields) -> str | None:
    """Why a request failed, in a log of requests or the output of a batch: by its own error, or by its response."""
    response = fields.object(*_RESPONSES)
    for holder in (fields, response, response.object("body")):
        error = holder.object("error") if holder.is_object("error") else Fields({})
        told = error.text("message", "code")
        error.rest()
        if told is not None:
            return one_line(told)
    return one_line(fields.text("error_str"))  # LiteLLM


def _used_in(fields: Fields) -> Usage | None:
    """The usage of an answer in a log, with what LiteLLM computed as its cost."""
    usage, cost = usage_of(_response_of(fields).object("usage")), fields.number(*_COSTS)
    return replace(usage, cost_usd=cost) if usage is not None and cost and usage.cost_usd is None else usage


def _conversation_of(message: Any) -> str | None:
    """The conversation that a message on a line of its own names; `None` for other records."""
    return run_of(message) if _is_message(message) else None


def _belongs(earlier: Any, later: Any) -> bool:
    """Whether a record continues the last: single-message lines, or a request that repeats the conversation."""
    if _is_message(earlier) or _is_of_unknown_role(earlier):
        return _is_message(later) or _is_of_unknown_role(later)
    earlier, later = (with_choices(data, *_RESPONSES) for data in (earlier, later))
    if not _is_logged(earlier) or not _is_logged(later):
        return grows(earlier, later, _request_messages)
    return goes_on(_request_messages(earlier), _request_messages(later), _answer_in(earlier))


def _is_of_unknown_role(data: Any) -> bool:
    """Whether a line may be a message although its role is not known: it says something, and nothing else."""
    return isinstance(data, dict) and isinstance(data.get("role"), str) and isinstance(data.get("content"), str)


def _is_logged(data: Any) -> bool:
    return isinstance(data, dict) and any(key in data for key in (*_RESPONSES, "choices", "message"))


def _is_later_request(data: Any) -> bool:
    """Whether a record of a log is a request of a conversation that began before."""
    return _is_logged(data) and has_answer(_request_messages(data))


def _answer_in(data: Any) -> Any:
    """The first answer in a log of a request with its response."""
    response = data if "choices" in data else next((data[key] for key in _RESPONSES if key in data), None)
    choices = list_in(at(response, "choices") or at(at(response, "body"), "choices"))
    return at(choices[0], "message") if choices else None


def _holds_messages(record: Any) -> bool:
    if isinstance(record, list):
        return _are_messages(as_chat_messages(record))
    if chats_in(record):
        return True
    record = with_messages(with_choices(object_in(record), *_RESPONSES))
    if not isinstance(record, dict) or any(key in record for key in _OTHERS) or is_anthropic(record):
        return False
    info = record.get("info")
    if isinstance(info, dict) and ("exit_status" in info or "task" in info):
        return False
    names = _RESPONSES if isinstance(record.get(PROXIED), dict) else _RESPONSES[:-1]  # others have an `output`, too
    response = next((record[key] for key in names if key in record), record)
    body = response.get("body", response) if isinstance(response, dict) else None
    if isinstance(body, dict) and isinstance(body.get("choices"), list):
        return True
    return _are_messages(_request_messages(record))


def _are_messages(messages: list[Any]) -> bool:
    return (
        any(_is_message(message) or _is_shared(message) for message in messages)
        and not is_anthropic({"messages": messages})
        and not any(is_item(message) for message in messages)
        and not has_parts_of_others(messages)
        and not any(map(_may_have_calls, messages))
    )


def _is_message(data: Any) -> bool:
    return is_of_framework(data) or (
        isinstance(data, dict)
        and isinstance(role := data.get("role"), str)
        and meaning_of(role) in _MEANINGS
        and not any(key in data for key in (*LISTS, *_OTHERS))
        and (
            any(isinstance(data.get(key), str | list) for key in TEXTS)
            or any(key in data for key in MADE)
            or is_act(data)
        )
        and not is_anthropic({"messages": [data]})
        and not has_parts_of_others([data])
    )


def _may_have_calls(data: Any) -> bool:
    """Whether a message in a form of its own has a list of objects beside its text, which may be calls."""
    if not isinstance(data, dict) or is_of_framework(data) or any(key in data for key in ("content", *MADE)):
        return False
    others = (value for key, value in data.items() if key not in TEXTS and isinstance(value, list))
    return any(key in data for key in TEXTS) and any(isinstance(each, dict) for value in others for each in value)


def _is_shared(data: Any) -> bool:
    """Whether a message is in the ShareGPT form."""
    return isinstance(data, dict) and role_of(data) in _MEANINGS and isinstance(data.get("value"), str)


def _request_messages(data: Any) -> list[Any]:
    if not isinstance(data, dict):
        return data if isinstance(data, list) else []
    messages = messages_in(with_messages(data))
    if messages is not None:
        return messages
    request = request_in(data)
    return messages_in(request) or messages_in(object_in(request.get("body"))) or []
