"""Messages of Letta: what its API lists or answers, a stream as lines, and agents exported as files (`.af`).

What the user sees is the argument of the tool `send_message`, in agents that have it: it stays a call, and the last one
has the answer. Prompts and results are wrapped in JSON where they are stored.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from evaluation_assets.core.traces.formats.base import DropFile, Rejection, any_record
from evaluation_assets.core.traces.formats.coding.session import CodingSession
from evaluation_assets.core.traces.formats.coding.session_logs import units_in
from evaluation_assets.core.traces.formats.coding.session_spool import Unit
from evaluation_assets.core.traces.formats.endings import is_limit, is_truncation
from evaluation_assets.core.traces.formats.files.records import read_records
from evaluation_assets.core.traces.formats.isolation import each_own_file, usable
from evaluation_assets.core.traces.formats.messages.contents import content_of, split_thought
from evaluation_assets.core.traces.formats.messages.pieces import call_in
from evaluation_assets.core.traces.formats.messages.tool_definitions import tools_of
from evaluation_assets.core.traces.formats.pieces import in_a_row
from evaluation_assets.core.traces.formats.times import chronological
from evaluation_assets.core.traces.formats.transcript import Asked, Call, Result, as_text, one_line, total
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields, ignore_rest
from evaluation_assets.core.traces.formats.untyped import as_object, at, first_text, object_in, objects_in
from evaluation_assets.core.traces.formats.usage import usage
from evaluation_assets.core.traces.trajectories.model import Agent, JsonObject, Trajectory, Usage, arguments_in

NAME = "letta"
DESCRIPTION = "messages of Letta agents, and agents exported as files"
DETECTION = (
    "messages with a message_type such as tool_call_message; or agents whose messages have in_context_message_ids"
)

_KINDS = ("assistant_message", "user_message", "reasoning_message", "tool_call_message", "tool_return_message")
_CALLS = ("tool_call_message", "approval_request_message")
_PIECES = {"assistant_message": "content", "reasoning_message": "reasoning"}
"""Messages that a stream of tokens has in pieces, as it has calls, and their fields with the pieces."""

_SPOKEN = "send_message"
_USUAL_ENDS = ("end_turn", "tool_rule", "no_tool_call", "requires_approval", "cancelled")
_BESIDE = (
    "id", "date", "name", "message_type", "otid", "sender_id", "step_id", "run_id", "is_err", "seq_id", "source",
    "signature", "stdout", "stderr", "type", "agent_id", "model", "group_id", "batch_item_id", "is_deleted",
    "created_at", "updated_at", "approval_request_id", "state",
)  # fmt: skip


def read(files: Sequence[DropFile], unmapped: UnmappedFields) -> Iterator[Trajectory | Rejection]:
    """Yield one trajectory per file of messages, per answer of the API, and per exported agent."""
    for unit in each_own_file(files, detect, NAME, _units_of):
        if isinstance(unit, Rejection):
            yield unit
        elif _is_file(unit[0].data):
            for agent in objects_in(unit[0].data["agents"]):
                yield usable(unit[0], lambda one, agent=agent: _exported(one.json_object(), agent, unmapped))
        elif _is_answer(unit[0].data):
            yield usable(unit[0], lambda one: _answered(one.json_object(), unmapped))
        else:
            yield usable(unit[0], lambda _, own=unit: _listed([one.data for one in own], unmapped), goes_on=True)


def _units_of(file: DropFile) -> Iterator[Unit | Rejection]:
    return units_in(read_records(file), _why_not, is_whole=lambda data: _is_file(data) or _is_answer(data))


def _why_not(data: Any) -> str | None:
    return "a message with a message_type" if first_text(data, "message_type") is None else None


def _is_message(data: Any) -> bool:
    return at(data, "message_type") in _KINDS


def _is_answer(data: Any) -> bool:
    return any(map(_is_message, objects_in(at(data, "messages"))))


def _is_file(data: Any) -> bool:
    return any("in_context_message_ids" in agent and "messages" in agent for agent in objects_in(at(data, "agents")))


def _listed(messages: Sequence[JsonObject], unmapped: UnmappedFields) -> Trajectory:
    return _read(messages, unmapped).trajectory(unmapped)


def _answered(answer: JsonObject, unmapped: UnmappedFields) -> Trajectory:
    letta = _read(list(objects_in(answer["messages"])), unmapped)
    with unmapped.reading(answer) as fields:
        fields.set_aside("messages")
        letta.used(fields.object("usage"))
        letta.stopped(fields.object("stop_reason").rest())
    return letta.trajectory(unmapped)


def _read(messages: Sequence[JsonObject], unmapped: UnmappedFields) -> "_Letta":
    letta = _Letta()
    for message in _joined(_in_order(messages)):
        with unmapped.reading(message, "messages[].") as fields:
            letta.add(fields)
    return letta


def _exported(file: JsonObject, agent: JsonObject, unmapped: UnmappedFields) -> Trajectory:
    letta = _Letta()
    with unmapped.reading({"tools": [each.get("json_schema") for each in objects_in(file.get("tools"))]}) as fields:
        tools = tools_of(fields, "tools")
        fields.rest()
    settings = object_in(agent.get("llm_config"))
    letta.session.agent = Agent(
        id="agent",
        name=first_text(agent, "name"),
        model=first_text(settings, "model"),
        description=first_text(agent, "system"),
        tools=tools,
    )
    letta.session.id = first_text(agent, "id") if len(list(objects_in(file["agents"]))) > 1 else None
    for message in objects_in(agent["messages"]):
        with unmapped.reading(message, "messages[].") as fields:
            letta.add_stored(fields)
    return letta.trajectory(unmapped)


def _in_order(messages: Sequence[JsonObject]) -> list[JsonObject]:
    """The messages from the first to the last; the API lists the newest first, if it is not told otherwise."""
    dates = [date for message in messages if (date := first_text(message, "date")) is not None]
    if len(dates) < 2 or chronological(dates[0]) <= chronological(dates[-1]):
        return list(messages)
    groups = groupby(reversed(messages), key=lambda message: message.get("id"))
    return [one for _, group in groups for one in sorted(group, key=lambda one: "reasoning" not in one)]


def _joined(messages: Sequence[JsonObject]) -> Iterator[JsonObject]:
    """The messages, of which those in a row that are pieces of one, as a stream of tokens has them, are one."""
    for pieces in in_a_row(messages, _of_one):
        yield pieces[0] if len(pieces) == 1 else _whole(pieces)


def _of_one(message: JsonObject) -> tuple[Any, ...] | None:
    """What all pieces of a message have in common; `None` for a message that comes whole."""
    kind, name = first_text(message, "message_type"), first_text(message, "id")
    made = first_text(message.get("tool_call"), "tool_call_id")
    if name is None or not (made if kind in _CALLS else isinstance(message.get(_PIECES.get(kind or "", "")), str)):
        return None
    return kind, name, first_text(message, "otid"), made


def _whole(pieces: Sequence[JsonObject]) -> JsonObject:
    first = pieces[0]
    if (key := _PIECES.get(first["message_type"])) is not None:
        return {**first, key: "".join(piece[key] for piece in pieces)}
    calls = [object_in(piece["tool_call"]) for piece in pieces]
    name = next((name for call in calls if (name := first_text(call, "name")) is not None), None)
    written = "".join(as_text(call.get("arguments")) for call in calls)
    return {
        **{key: value for key, value in first.items() if key != "tool_calls"},
        "tool_call": {**calls[0], "name": name, "arguments": written},
    }


class _Letta:
    """The session of an agent while its messages are read."""

    def __init__(self) -> None:
        self.session = CodingSession(Agent(id="agent"))
        self.usages: list[Usage] = []
        self._thoughts: list[str] = []
        self._told: str | None = None

    def trajectory(self, unmapped: UnmappedFields) -> Trajectory:
        """The trajectory of all messages."""
        if sum(isinstance(event, Asked) for event in self.session.events) <= 1:
            self.session.outcome = self._told
        self.session.spent = total(self.usages)
        return self.session.trajectory(NAME, unmapped)

    def add(self, message: Fields) -> None:
        """Add a message of the API."""
        kind = message.text("message_type") or "unknown"
        self.session.at(message.text("date"))
        message.set_aside(*_BESIDE)
        if kind == "system_message":
            self._prompted(content_of(message))
        elif kind == "user_message":
            self._asked(content_of(message))
        elif kind == "reasoning_message":
            self._thoughts += filter(None, [message.text("reasoning")])
        elif kind == "assistant_message":
            self._said(content_of(message), ())
        elif kind in _CALLS:
            one = [message.object("tool_call")] if message.is_object("tool_call") else []
            self._called(message.objects("tool_calls") or one)
            message.rest()
        elif kind == "tool_return_message":
            several = message.objects("tool_returns")
            for each in several or [message]:
                self._returned(each)
            message.rest()
        elif kind == "usage_statistics":
            self.used(message)
        elif kind == "stop_reason":
            self.stopped(message.rest() | {"stop_reason": message.text("stop_reason")})
        elif kind in ("summary_message", "hidden_reasoning_message", "approval_response_message", "ping"):
            self.session.compactions += kind == "summary_message"
            message.rest()
        else:
            message.ignore_unknown(kind)

    def add_stored(self, message: Fields) -> None:
        """Add a message of an exported agent: of OpenAI's form, with the thoughts of the agent as its content."""
        role, text = message.text("role"), content_of(message)
        self.session.at(message.text("created_at"))
        calls = message.objects("tool_calls")
        message.set_aside(*_BESIDE)
        if role == "user":
            self._asked(text)
        elif role == "assistant":
            thought, said = split_thought(text)
            if calls and thought is None:  # an agent that does not reason by itself thinks in its text
                thought, said = said or None, ""
            self._thoughts += filter(None, [thought])
            if calls:
                self._called(calls, said)
            else:
                self._said(said, ())
        elif role in ("tool", "approval") and "tool_call_id" in message:
            status = at(as_object(text), "status")
            content = as_text(at(as_object(text), "message")) if status in ("OK", "Failed") else text
            self._answer(content, message.name("tool_call_id"), failed=status == "Failed")
        elif role == "system":
            self._prompted(text)
        message.rest()

    def used(self, counts: Fields) -> None:
        """Add the tokens of an answer."""
        given, made = counts.whole("prompt_tokens"), counts.whole("completion_tokens")
        details = counts.object("prompt_tokens_details")
        cached = counts.whole("cached_input_tokens") or details.whole("cached_tokens")
        ignore_rest(details, counts)
        self.usages += filter(None, [usage(given or None, made, None, cached)])

    def stopped(self, reason: JsonObject) -> None:
        """Note why an answer ended."""
        why = first_text(reason, "stop_reason")
        self.session.stopped, self.session.truncated = is_limit(why), is_truncation(why)
        is_broken = why not in (None, *_USUAL_ENDS) and not self.session.stopped and not self.session.truncated
        self.session.error = why if is_broken else None

    def _prompted(self, text: str) -> None:
        if self.session.agent.description is None:
            self.session.agent = replace(self.session.agent, description=text or None)

    def _asked(self, text: str) -> None:
        """What the user said. Others in the user's place are events, such as heartbeats, and summaries."""
        wrapped = object_in(as_object(text))
        kind = wrapped.get("type")
        if kind == "user_message":
            self.session.asked(as_text(wrapped.get("message")))
        elif kind == "system_alert":
            self.session.compactions += 1
        elif kind not in ("heartbeat", "login"):
            self.session.asked(text)

    def _said(self, text: str, calls: tuple[Call, ...]) -> None:
        thought, self._thoughts = "\n\n".join(self._thoughts), []
        self._told = next((_told(call) for call in calls if call.name == _SPOKEN), None)
        self.session.spoke(thought, text, calls)

    def _called(self, calls: Sequence[Fields], text: str = "") -> None:
        made: list[Call] = []
        for call in calls:
            inner = call.object("function") if call.is_object("function") else call
            made.append(replace(call_in(inner, "name", "arguments"), id=call.name("tool_call_id", "id")))
            ignore_rest(inner, call)
        self._said(text, tuple(made))

    def _returned(self, result: Fields) -> None:
        content = as_text(result.value("tool_return", "func_response"))
        self._answer(content, result.name("tool_call_id"), failed=result.text("status") == "error")
        result.rest()

    def _answer(self, content: str, call_id: str | None, *, failed: bool) -> None:
        error = one_line(content) or "error" if failed else None
        self.session.answered(Result(content=content, call_id=call_id, error=error))


def _told(call: Call) -> str | None:
    """What a call tells the user."""
    arguments = call.arguments if isinstance(call.arguments, dict) else arguments_in(as_text(call.arguments))
    return first_text(arguments, "message")


detect = any_record(lambda record: _is_message(record) or _is_answer(record) or _is_file(record))
