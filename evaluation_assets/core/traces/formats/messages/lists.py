"""Conversations whose messages are lists of parts: the records that they stand in, whatever the parts look like.

A record is a list of messages, an object that has one, or a request with its response. Lines with single messages form
one conversation, as do requests that repeat the conversation so far.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from evaluation_assets.core.traces.formats.base import DropFile, Record, Rejection, Sample, UnusableRecord
from evaluation_assets.core.traces.formats.context import NOTHING_KNOWN, Context, context_of, ended_by, merged
from evaluation_assets.core.traces.formats.conversation import (
    Conversation,
    answered_in,
    confirm_requests,
    confirmed,
    each_conversation,
    goes_on,
    grows,
    joined,
    record_of,
    trajectory_from,
)
from evaluation_assets.core.traces.formats.files.records import read_records
from evaluation_assets.core.traces.formats.isolation import usable
from evaluation_assets.core.traces.formats.messages.own_counts import confirm_counts
from evaluation_assets.core.traces.formats.messages.several_runs import record_of_rows
from evaluation_assets.core.traces.formats.run_names import run_of
from evaluation_assets.core.traces.formats.run_usage import usage_in_record, with_stated_cost
from evaluation_assets.core.traces.formats.transcript import Event, Said, total
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields
from evaluation_assets.core.traces.formats.untyped import at
from evaluation_assets.core.traces.formats.usage import usage_of
from evaluation_assets.core.traces.trajectories.model import JsonObject, Tool, Trajectory, Usage

Path = tuple[str, ...]
"""Names of nested objects, the last the name of a value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageShape:
    """What tells one kind of message lists from others.

    `is_message` says whether a value has the outer form of a message, `is_typical` whether it also holds something
    that no other shape has. `events` takes the messages and the usage of answers by message index. The paths lead to
    the messages of a request, the answers (a message or a list of them), their usage, and why the model stopped;
    `stopped` says that where the last message does, and `failed` what broke where the agent is not to blame. `ended`
    says how the run ended, by the record and the events in it, where the record says so in words of its own.
    `unwrapped` gives what a record wraps, `runs` the records of several runs in one. `taken_back` are the messages that
    the user took back, whose tokens count. `continues` says whether the second of two messages on lines of their own
    belongs to the conversation of the first. `each_counted` says that each answer has its tokens, if any has.
    """

    name: str
    is_message: Callable[[Any], bool]
    is_typical: Callable[[Any], bool]
    events: Callable[[Sequence[Fields], Mapping[int, Usage]], Iterator[Event]]
    system: Callable[[Fields, Sequence[Fields]], str | None]
    tools: Callable[[Fields], tuple[Tool, ...] | None] = lambda _: None
    messages_at: tuple[Path, ...] = (("messages",),)
    answers_at: tuple[Path, ...] = ()
    usage_at: tuple[Path, ...] = ()
    stopped_at: tuple[Path, ...] = ()
    stopped: Callable[[Fields], str | None] = lambda _: None
    failed: Callable[[Fields], str | None] = lambda _: None
    ended: Callable[[Fields, Sequence[Event]], Context] = lambda *_: NOTHING_KNOWN
    model: Callable[[Fields, Sequence[Fields]], str | None] = lambda *_: None
    usage: Callable[[Fields], Usage | None] = usage_of
    unwrapped: Callable[[Any], Any] = lambda data: data
    runs: Callable[[Any], Sequence[JsonObject]] = lambda _: ()
    taken_back: Callable[[Sequence[Fields]], Sequence[Fields]] = lambda _: ()
    continues: Callable[[Any, Any], bool] = lambda *_: True
    each_counted: bool = False

    def detects(self, sample: Sample) -> bool:
        """Whether a record of a sample is in this shape."""
        return any(self.recognises(record) for record in sample.records)

    def recognises(self, record: Any) -> bool:
        """Whether a value is a message, a list of messages, or holds either, with something typical of this shape."""
        if runs := self.runs(record):
            return any(map(self.recognises, runs))
        record = self.unwrapped(record)
        if self.is_message(record):
            return self.is_typical(record)
        messages = record if isinstance(record, list) else [*self._messages(record), *self._answers(record)]
        return any(self.is_message(message) and self.is_typical(message) for message in messages)

    def read(self, files: Sequence[DropFile], unmapped: UnmappedFields) -> Iterator[Trajectory | Rejection]:
        """Yield one trajectory or rejection per conversation."""
        return each_conversation(files, self._belongs, partial(self._trajectory, unmapped), self._run_of, self.runs)

    def read_as_one(self, files: Sequence[DropFile], unmapped: UnmappedFields) -> Iterator[Trajectory | Rejection]:
        """Yield the trajectory or rejection of one conversation whose messages are in files of their own."""
        messages: list[Record] = []
        for item in (item for file in files for item in read_records(file)):
            if isinstance(item, Rejection):
                yield item
            else:
                messages.append(item)
        if messages:
            yield usable(joined(messages), lambda record: self._trajectory(unmapped, record.data))

    def _trajectory(self, unmapped: UnmappedFields, records: Sequence[Any]) -> Trajectory:
        """Build the trajectory of one conversation from messages, or from requests of which the last is complete.

        Raises:
            UnusableRecord: there are no messages, or none from an agent.
        """
        rows = self.is_message(records[0])
        data = record_of_rows(records) if rows else record_of(self.unwrapped(records[-1]))
        given = self._messages(data)
        if given and not any(map(self.is_message, given)):
            raise UnusableRecord("not_this_format", f"the messages of the record are not in format {self.name}")
        with unmapped.reading(data) as fields:
            paths = (("messages",), *self.messages_at)
            holder, messages = _objects_at(fields, paths)
            answering, answers = _objects_at(fields, self.answers_at)
            spoken = [*messages, *answers]
            stated = context_of(fields)
            if not spoken and stated.success is None:
                wanted = ", ".join(".".join(path) for path in self.messages_at)
                raise UnusableRecord("no_trajectory_text", f"the record has no list of messages in {wanted}")
            usages, whole = self._usages(unmapped, records), self._usage_in(fields)
            roles = ["assistant" if message.text("role") == "model" else message.text("role") for message in messages]
            answered = answered_in(records, lambda data: bool(self._answers(data)), self._messages)
            lacking = confirm_requests(unmapped.stated, roles, usages, answered)
            spoken, left = self._parted(unmapped, spoken)
            events = tuple(self.events(spoken, usages))
            counted = total(event.usage for event in events if isinstance(event, Said))
            if whole is None and not answers:
                whole = usage_in_record(fields, is_counted=counted is not None)
            conversation = Conversation(
                events=events,
                system=self.system(holder, spoken),
                tools=self.tools(holder),
                usage=lacking if usages else whole,
            )
            reasons = [_object_at(fields, path).text(path[-1]) for path in self.stopped_at]
            context = merged(
                stated,
                *map(ended_by, (*reasons, *map(self.stopped, spoken[-1:]))),
                *(context_of(other) for other in (holder, answering) if other is not fields),
                Context(model=self.model(fields, spoken), failure=next(map(self.failed, spoken[-1:]), None)),
                self.ended(fields, conversation.events),
            )
            conversation = confirmed(unmapped, conversation, each_counted=self.each_counted and not usages)
            if not answers and not usages:
                used = with_stated_cost(unmapped.stated, conversation.usage or counted, fields)
                conversation = replace(conversation, usage=used)
            if left:
                paid = total(said.usage for said in (*left, *conversation.events) if isinstance(said, Said))
                conversation = replace(conversation, usage=paid)
            trajectory = trajectory_from(self.name, conversation, context)
            if holder is fields and not answers:
                confirm_counts(unmapped.stated, data, given, trajectory)
            return trajectory

    def _parted(self, unmapped: UnmappedFields, spoken: list[Fields]) -> tuple[list[Fields], list[Said]]:
        """The messages without those that the user took back, and what the agent said in these.

        Raises:
            UnusableRecord: the user took all back.
        """
        gone = self.taken_back(spoken)
        left = [event for event in self.events(gone, {}) if isinstance(event, Said)]
        unmapped.note("rewound", "branch", bool(left))
        unmapped.note("rewound", "call", sum(len(said.calls) for said in left))
        those = set(map(id, gone))
        kept = [message for message in spoken if id(message) not in those]
        if spoken and not kept:
            raise UnusableRecord("no_trajectory_text", "the user took all messages back")
        return kept, left

    def _usages(self, unmapped: UnmappedFields, records: Sequence[Any]) -> dict[int, Usage]:
        """Usage of each answer in a log, by the index of the message: that after those of its request."""
        by_position: dict[int, Usage] = {}
        for data in records:
            if isinstance(data, dict) and self._answers(data):
                is_last = data is records[-1]  # which is read again, as a whole, and then says what is odd
                with nullcontext(Fields(data)) if is_last else unmapped.peeking(data) as fields:
                    used = self._usage_in(fields)
                if used is not None:
                    by_position[sum(isinstance(message, dict) for message in self._messages(data))] = used
        return by_position

    def _usage_in(self, fields: Fields) -> Usage | None:
        holders = ((_object_at(fields, path), path[-1]) for path in self.usage_at)
        return next((self.usage(holder.object(name)) for holder, name in holders if holder.is_object(name)), None)

    def _run_of(self, message: Any) -> str | None:
        return run_of(message) if self.is_message(message) else None

    def _belongs(self, earlier: Any, later: Any) -> bool:
        if self.is_message(earlier):
            return self.is_message(later) and self.continues(earlier, later)
        if not self._answers(earlier) or not self._answers(later):
            return grows(earlier, later, self._messages)
        return goes_on(self._messages(earlier), self._messages(later))

    def _messages(self, data: Any) -> list[Any]:
        return next((value for path in self.messages_at if isinstance(value := _value_at(data, path), list)), [])

    def _answers(self, data: Any) -> list[Any]:
        value = next((value for path in self.answers_at if (value := _value_at(data, path)) is not None), None)
        return value if isinstance(value, list) else [value] if isinstance(value, dict) else []


def _value_at(data: Any, path: Path) -> Any:
    for name in path:
        data = at(data, name)
    return data


def _object_at(fields: Fields, path: Path) -> Fields:
    """The object that the last name of a path is a field of."""
    for name in path[:-1]:
        if not fields.is_object(name):
            return Fields({})
        fields = fields.object(name)
    return fields


def _objects_at(fields: Fields, paths: Sequence[Path]) -> tuple[Fields, list[Fields]]:
    """The first of these values that is an object or a list of objects, with the object that holds it."""
    for path in paths:
        holder = _object_at(fields, path)
        if holder.is_list(path[-1]):
            return holder, holder.objects(path[-1])
        if holder.is_object(path[-1]):
            return holder, [holder.object(path[-1])]
    return fields, []


def first_text_of(holders: Iterable[Fields], *names: str) -> str | None:
    """The first text under these names in any of these objects; in all of them, these fields are read."""
    return next(filter(None, [holder.text(*names) for holder in holders]), None)
