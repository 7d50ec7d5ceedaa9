"""Build trajectories from conversations, and group the records that belong to one conversation."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from evaluation_assets.core.traces.formats.answering_models import models_of_agents, requests_of_answers
from evaluation_assets.core.traces.formats.base import DropFile, Record, Rejection, UnusableRecord
from evaluation_assets.core.traces.formats.context import OUTCOMES, TASK_IDS, Context, ended_by, merged
from evaluation_assets.core.traces.formats.files.records import read_records
from evaluation_assets.core.traces.formats.final_answers import final_message, final_submission
from evaluation_assets.core.traces.formats.isolation import usable
from evaluation_assets.core.traces.formats.repeated_records import TRIALS
from evaluation_assets.core.traces.formats.run_names import own_run_of
from evaluation_assets.core.traces.formats.stated import ANSWERS, Comparisons
from evaluation_assets.core.traces.formats.transcript import (
    UNNAMED,
    Asked,
    Call,
    Event,
    Said,
    flags_of,
    results_of_no_call,
    total,
    written,
)
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields, type_name
from evaluation_assets.core.traces.formats.untyped import at, objects_in, without_none
from evaluation_assets.core.traces.formats.usage import UNKNOWN, confirm
from evaluation_assets.core.traces.trajectories.identity import task_id_of
from evaluation_assets.core.traces.trajectories.model import Agent, JsonObject, Tool, Trajectory, Usage
from evaluation_assets.core.traces.trajectories.requests import KEPT

_END = re.compile(r"\s*###[A-Z][A-Z-]*###\s*")
"""A message in which a simulated user says nothing and ends the conversation: `###STOP###`, `###TRANSFER###`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """Events of a conversation with its system prompt and tools. `usage` is the total, if only the total is known, or
    `UNKNOWN` if the events have only a part of it.

    `has_other_tools` says that `tools` are not all; see `Agent`.
    """

    events: tuple[Event, ...]
    system: str | None = None
    tools: tuple[Tool, ...] | None = None
    has_other_tools: bool = False
    usage: Usage | None = None


class Gathered:
    """Accumulates consecutive thoughts, messages and calls of an agent into one event; usage is reported once."""

    def __init__(self, usage: Usage | None = None) -> None:
        self.thoughts: list[str] = []
        self.texts: list[str] = []
        self.calls: list[Call] = []
        self._usage = usage

    def told(self) -> Iterator[Said]:
        """Return the accumulated event, if any, and reset."""
        if self.thoughts or self.texts or self.calls:
            yield Said(
                thought="\n\n".join(self.thoughts) or None,
                message="\n".join(self.texts) or None,
                calls=tuple(self.calls),
                usage=self._usage,
            )
            self._usage = None
        self.thoughts, self.texts, self.calls = [], [], []


def trajectory_from(format_name: str, conversation: Conversation, context: Context) -> Trajectory:
    """Build the trajectory of a conversation. One in which no agent said or did anything is a run without an answer.

    Raises:
        UnusableRecord: nobody said or did anything, and no task is stated with an outcome.
    """
    events = conversation.events
    if events and isinstance(last := events[-1], Asked) and _END.fullmatch(last.text):
        events = events[:-1]
    said = [event for event in events if isinstance(event, Said)]
    context = merged(context, ended_by(said[-1].stop_reason)) if said else context
    spoken = [event for event in said if event.thought or event.message or event.calls]
    if not spoken:
        events = _unanswered(events, context)
    text, turns = written(events)
    asked = next((event.text for event in events if isinstance(event, Asked) and event.text.strip()), "")
    task = context.task or asked
    ended = not context.cut_off and context.failure is None
    submitted = final_submission(text, turns) if ended and spoken and spoken[-1].calls else None
    final_answer = context.final_answer or submitted or (final_message(turns) if ended else None)
    task_id = task_id_of(context.task_id, task, text)
    return Trajectory(
        id=context.id or task_id,
        task_id=task_id,
        trial=context.trial,
        format=format_name,
        task=task,
        text=text,
        turns=turns,
        agents=_agents(said, conversation, context),
        final_answer=final_answer,
        reference_answer=context.reference_answer,
        success=context.success,
        started_at=context.started_at,
        duration_s=context.duration_s,
        usage=None if conversation.usage == UNKNOWN else conversation.usage or total(event.usage for event in said),
        flags=flags_of(
            cut_off=context.cut_off,
            unanswered=final_answer is None and (len(turns) == 1 or not spoken),
            truncated=context.truncated,
            failed=context.failure is not None,
            refused=context.refused,
            disputed=context.disputed,
        ),
        labels=context.labels,
        extra=context.extra | without_none({"error": context.failure, KEPT: requests_of_answers(said)}),
    )


def _unanswered(events: Sequence[Event], context: Context) -> tuple[Event, ...]:
    """The events of a run in which no agent said or did anything, which its record states nevertheless.

    Raises:
        UnusableRecord: the user said nothing either, and the record has no task with an outcome.
    """
    asked = tuple(event for event in events if isinstance(event, Asked) and event.text.strip())
    if asked:
        return asked
    if not (context.task or "").strip() or context.success is None:
        raise UnusableRecord("no_trajectory_text", "the conversation has no agent message or tool call")
    return (Asked(text=context.task or ""),)


_OF_ONE_RUN = ("id", "uuid", *TASK_IDS, *TRIALS)
"""What the records of one run have in common, if any."""
IN_TURN = 32
_HELD = 8_000_000
"""Conversations of a file that may go on in turn, and their bytes, of all but the last."""


def grouped(
    files: Sequence[DropFile],
    belongs: Callable[[Any, Any], bool],
    name_of: Callable[[Any], str | None] = lambda _: None,
    in_turn: Callable[[Any], bool] | None = None,
) -> Iterator[list[Record] | Rejection]:
    """Group records that belong to one conversation; rejections are yielded immediately.

    `belongs` decides whether the second of two records continues the conversation of the first: the last one, or for a
    record that is `in_turn` also one of those before, which go on in turn in the log of a proxy. Records with a name
    are grouped by it, wherever they are in a file; these groups are held until the end of the file. A name that each
    record has for itself is none of a conversation.
    """
    for file in files:
        open_groups: list[list[Record]] = []
        held = 0
        named: dict[tuple[type[str], str], list[Record]] = {}
        for record in read_records(file):
            if isinstance(record, Rejection):
                yield record
                continue
            if (name := name_of(record.data)) is not None:
                named.setdefault((type(name), name), []).append(record)
                continue
            near = open_groups if in_turn is not None and in_turn(record.data) else open_groups[-1:]
            group = next((one for one in reversed(near) if belongs(one[-1].data, record.data)), None)
            if group is None:
                open_groups.append(group := [])
            group.append(record)
            held += len(record.raw)
            while len(open_groups) > (1 if in_turn is None else IN_TURN) or (len(open_groups) > 1 and held > _HELD):
                held -= sum(len(one.raw) for one in open_groups[0])
                yield open_groups.pop(0)
        yield from open_groups
        names_messages = len(named) > 1 and all(len(group) == 1 for group in named.values())
        yield from [list(chain.from_iterable(named.values()))] if names_messages else named.values()


def each_conversation(
    files: Sequence[DropFile],
    belongs: Callable[[Any, Any], bool],
    trajectory_of: Callable[[Sequence[Any]], Trajectory],
    name_of: Callable[[Any], str | None] = lambda _: None,
    runs_in: Callable[[Any], Sequence[Any]] = lambda _: (),
    in_turn: Callable[[Any], bool] | None = None,
) -> Iterator[Trajectory | Rejection]:
    """Yield one trajectory or rejection per conversation. `trajectory_of` takes the data of its records.

    `runs_in` gives the records of several conversations that are one record of a file.
    """
    for group in grouped(files, belongs, name_of, in_turn):
        if isinstance(group, Rejection):
            yield group
            continue
        whole = joined(group)
        runs = [[run] for run in runs_in(group[0].data)] or [whole.data]
        for run in runs:
            yield usable(whole, lambda _, run=run: trajectory_of(run), is_whole=len(group) == len(runs) == 1)


def has_answer(messages: Sequence[Any]) -> bool:
    """Whether one of the messages is of an agent."""
    return any(at(message, "role") == "assistant" for message in messages)


def goes_on(earlier: Sequence[Any], later: Sequence[Any], answer: Any = None) -> bool:
    """Whether a list of messages extends an earlier one, after the `answer` that was given to that, if it is known."""
    return (
        0 < len(earlier) < len(later)
        and all(_without_markers(one) == _without_markers(other) for one, other in zip(earlier, later, strict=False))
        and not _is_other_answer(answer, later[len(earlier)])
    )


def grows(earlier: Any, later: Any, messages_of: Callable[[Any], Sequence[Any]]) -> bool:
    """Whether a record is a later state of the same run, with all messages of the earlier one.

    One with an outcome has ended, and a record that names itself otherwise is another run.
    """
    name = own_run_of(earlier)
    if name is None or name != own_run_of(later) or any(at(earlier, key) is not None for key in OUTCOMES):
        return False
    are_same = all(at(earlier, key) == at(later, key) for key in _OF_ONE_RUN)
    return are_same and goes_on(messages_of(earlier), messages_of(later))


def _is_other_answer(answer: Any, message: Any) -> bool:
    """Whether a message is an answer of the agent, and another one: by its calls, or by its text if it has none.

    Clients may leave thoughts out of a text that they send back.
    """
    if at(answer, "role") != "assistant" or at(message, "role") != "assistant":
        return False
    calls, others = _call_ids(answer), _call_ids(message)
    if calls or others:
        return calls.isdisjoint(others)
    text, other = at(answer, "content"), at(message, "content")
    if not isinstance(text, str) or not isinstance(other, str):
        return False
    return other.strip() not in text and text.strip() not in other


def _call_ids(message: Any) -> set[str]:
    parts = [part for key in ("tool_calls", "content") for part in objects_in(at(message, key))]
    return {one for part in parts if part.get("type") != "text" and isinstance(one := part.get("id"), str)}


def confirmed(unmapped: UnmappedFields, conversation: Conversation, *, each_counted: bool = False) -> Conversation:
    """A conversation, after a comparison of its usage with that of its messages, and of its results with its calls.

    `each_counted` says that a source which states tokens states them with each answer: if some lack them, the total is
    unknown.
    """
    said = (event.usage for event in conversation.events if isinstance(event, Said))
    confirm(unmapped.stated, conversation.usage, total(said))
    if each_counted and conversation.usage is None and not confirm_answers(unmapped.stated, conversation.events):
        conversation = replace(conversation, usage=UNKNOWN)
    unmapped.note("unknown_part", "result of no call", results_of_no_call(conversation.events))
    return conversation


def usages_by_answer(
    unmapped: UnmappedFields,
    records: Iterable[Any],
    used_in: Callable[[Fields], Usage | None],
    messages_of: Callable[[Any], Any],
) -> dict[int, Usage]:
    """Usage of each answer in a log by message index. The answer is the message after those of its request."""
    by_position: dict[int, Usage] = {}
    for data in records:
        if isinstance(data, dict):
            with unmapped.peeking(data) as fields:
                used = used_in(fields)
            if used is not None:
                by_position[len(list(objects_in(messages_of(data))))] = used
    return by_position


def answered_in(
    records: Iterable[Any], is_answered: Callable[[Any], bool], messages_of: Callable[[Any], Any]
) -> set[int]:
    """The answers in a log by message index, those without usage too."""
    return {
        len(list(objects_in(messages_of(data)))) for data in records if isinstance(data, dict) and is_answered(data)
    }


def confirm_requests(
    stated: Comparisons, roles: Sequence[str | None], usages: Mapping[int, Usage], answered: Collection[int] = ()
) -> Usage | None:
    """Compare the answers since the first request of a log with those that it has a request for, by message index.

    `roles` are those of the messages of the last request. Messages of the agent that follow each other are one answer.
    `answered` are the answers of the log. Gives the usage of all, `UNKNOWN` if some answer has none.
    """
    if not usages:
        return None
    logged = usages.keys() | answered
    stated.compare(ANSWERS, len(logged), len(usages))
    first = min(logged)
    answers = [
        index
        for index, role in enumerate(roles)
        if index >= first and role == "assistant" and (index == first or roles[index - 1] != "assistant")
    ]
    made = max(len(answers) + (max(logged) >= len(roles)), len(logged))
    stated.compare("request", made, len(logged))
    return None if made == len(usages) else UNKNOWN


def record_of(data: Any, name: str = "messages") -> JsonObject:
    """A record, or a list that is the field `name` of one, as a record.

    Raises:
        UnusableRecord: it is neither.
    """
    if isinstance(data, list):
        return {name: data}
    if not isinstance(data, dict):
        raise not_a_record(data, f"an object or a list of {name}")
    return data


def not_a_record(data: Any, wanted: str) -> UnusableRecord:
    """The error for a record of the wrong type."""
    return UnusableRecord("wrong_type", f"expected {wanted}, got {type_name(data)}")


def joined(group: Sequence[Record]) -> Record:
    """Merge the records of a conversation into one, located at the first."""
    raw = b"\n".join(record.raw.strip() for record in group)
    return replace(group[0], data=[record.data for record in group], raw=raw, start=_start_of(group[0]))


def confirm_answers(stated: Comparisons, events: Sequence[Event]) -> bool:
    """Whether the tokens of all answers are known, or of none. A greeting before the first question is no answer.

    What an agent says at once is one answer.
    """
    answers: list[bool] = []
    speaker: str | None = None
    first = next((index for index, event in enumerate(events) if isinstance(event, Asked)), 0)
    for event in events[first:]:
        if isinstance(event, Said) and event.goes_on:
            continue
        if not isinstance(event, Said):
            speaker = None
        elif event.agent_id == speaker:
            answers[-1] = answers[-1] or event.usage is not None
        else:
            answers.append(event.usage is not None)
            speaker = event.agent_id
    if not any(answers):
        return True
    stated.compare(ANSWERS, len(answers), sum(answers))
    return all(answers)


def _start_of(record: Record) -> int | None:
    """Where a record starts in its file, without the blanks before it."""
    return None if record.start is None else record.start + len(record.raw) - len(record.raw.lstrip())


def _without_markers(message: Any) -> Any:
    """A message without prompt-cache markers, which clients move from request to request, and without null fields."""
    if isinstance(message, dict):
        own = {key: value for key, value in message.items() if key != "cache_control" and value is not None}
        return {key: _without_markers(value) for key, value in own.items()}
    return [_without_markers(item) for item in message] if isinstance(message, list) else message


def _agents(said: list[Said], conversation: Conversation, context: Context) -> tuple[Agent, ...]:
    """All agents that spoke, in order. The first gets the system prompt and the tools.

    The agent that the record names is the one whose messages have no name, or the only one.
    """
    names = list(dict.fromkeys(event.agent_id for event in said)) or [UNNAMED]
    models = models_of_agents(said, context.model)
    return tuple(
        Agent(
            id=name,
            name=context.agent if len(names) == 1 or name == UNNAMED else None,
            version=context.agent_version,
            description=conversation.system if index == 0 else None,
            model=context.model if models is None else models.get(name),
            tools=conversation.tools if index == 0 else None,
            has_other_tools=index == 0 and conversation.has_other_tools,
        )
        for index, name in enumerate(names)
    )
