"""An envelope around chat conversations: a program's record is converted to records of chat messages, which are read
as `openai_messages`.
"""

import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from evaluation_assets.core.traces.formats.base import DropFile, Format, Record, Rejection, Sample, UnusableRecord
from evaluation_assets.core.traces.formats.context import Context
from evaluation_assets.core.traces.formats.conversation import joined
from evaluation_assets.core.traces.formats.files.records import read_records
from evaluation_assets.core.traces.formats.files.samples import own_files
from evaluation_assets.core.traces.formats.isolation import attempted, usable
from evaluation_assets.core.traces.formats.messages.chat import role_of
from evaluation_assets.core.traces.formats.readers.openai_messages import trajectory_of
from evaluation_assets.core.traces.formats.run_usage import cost_in_record, usage_in_record, with_cost
from evaluation_assets.core.traces.formats.stated import ANSWERS
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields
from evaluation_assets.core.traces.formats.untyped import object_in, without_none
from evaluation_assets.core.traces.trajectories.identity import recorded_id, within
from evaluation_assets.core.traces.trajectories.model import JsonObject, Trajectory

PARTS = "\0parts"
"""The field of a record that was made of the parts of a run, which no source has."""


OF_DOCUMENT = "\0document"
"""The name of the run of an item that is a part of its document."""


@dataclass(frozen=True, slots=True)
class Chat:
    """A conversation as a record of `openai_messages`, and what broke it, where the agent is not to blame.

    The record has `messages` and fields that `context_of` reads; other fields keep the names that the program gives
    them, and are counted as unmapped. `requests` is how many times a model was asked, as the program states it: a
    search asks it more often than there are answers on the way that it chose. `rewound` is how many branches, and
    calls in them, the user left behind. `stated` is what the record says of itself, by what it counts, and what it has.
    """

    record: JsonObject
    failure: str | None = None
    requests: int | None = None
    rewound: Mapping[str, int] = field(default_factory=dict)
    stated: Mapping[str, tuple[float, float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """What tells the records of a program, and the chat conversations in one.

    With `local_ids`, IDs of tasks are only unique within a file; with `by_turn`, one message of a turn has its tokens.
    `part_of` names the run that a record is a part of, such as a step on a line of its own; the parts of a run are one
    record, which has them in a list. An empty name is that of the part before;
    `OF_DOCUMENT` makes the items of one array a run, and not lines. Records that are `aside` say nothing of a run.
    """

    name: str
    description: str
    detection: str
    holds: Callable[[Any], bool]
    conversations: Callable[[JsonObject], Iterable[Chat]]
    local_ids: bool = False
    by_turn: bool = False
    part_of: Callable[[Any], str | None] = lambda _: None
    aside: Callable[[Any], bool] = lambda _: False

    def format(self) -> Format:
        """The format of this envelope."""
        return Format(self.name, self.description, self.detection, self._detect, self._read)

    def _detect(self, sample: Sample) -> bool:
        return any(self.holds(record) or self.part_of(record) is not None for record in sample.records)

    def _read(self, files: Sequence[DropFile], unmapped: UnmappedFields) -> Iterator[Trajectory | Rejection]:
        own = list(own_files(files, self._detect, self.name))
        is_alone = sum(isinstance(file, DropFile) for file in own) == 1
        for file in own:
            if isinstance(file, Rejection):
                yield file
                continue
            group = None if is_alone or not self.local_ids else _named(file.source)
            for record in self._joined(read_records(file)):
                yield from [record] if isinstance(record, Rejection) else self._opened(record, unmapped, group)

    def _joined(self, records: Iterable[Record | Rejection]) -> Iterator[Record | Rejection]:
        """The records, with those that are parts of one run as one, after the others."""
        runs: dict[str, list[Record]] = {}
        before = ""
        for record in records:
            if isinstance(record, Record) and self.aside(record.data):
                continue
            name = self.part_of(record.data) if isinstance(record, Record) else None
            is_line = not isinstance(record, Rejection) and record.start is not None
            if name is None or isinstance(record, Rejection) or (name == OF_DOCUMENT and is_line):
                yield record
            else:
                before = name or before
                runs.setdefault(before, []).append(record)
        for parts in runs.values():
            whole = joined(parts)
            yield replace(whole, data={PARTS: whole.data})

    def _opened(self, record: Record, unmapped: UnmappedFields, group: str | None) -> Iterator[Trajectory | Rejection]:
        if not self.holds(record.data) and PARTS not in object_in(record.data):
            yield record.rejected(UnusableRecord("not_this_format", f"the record is not in format {self.name}"))
            return
        chats = attempted(record, lambda each: list(self.conversations(each.data)))
        if isinstance(chats, Rejection):
            yield chats
            return
        parts = object_in(record.data).get(PARTS, ())
        for chat in chats:
            read = partial(self._trajectory, chat, unmapped, group)
            yield usable(record, lambda _, read=read: read(), is_whole=len(chats) == 1 and len(parts) < 2)

    def _trajectory(self, chat: Chat, unmapped: UnmappedFields, group: str | None) -> Trajectory:
        if chat.failure is not None and not chat.record["messages"]:
            raise UnusableRecord("no_trajectory_text", f"the run broke before its first message: {chat.failure}")
        task_id = within(group, recorded_id(chat.record.get("task_id")))
        known = Context(failure=chat.failure, task_id=None if group is None else task_id)
        data = chat.record if group is None else without(chat.record, "task_id")
        if chat.requests is not None:
            answers = sum(role_of(message) == "assistant" for message in chat.record["messages"])
            unmapped.stated.compare("request", chat.requests, answers)
        answers, counted = chat.stated.get(ANSWERS, (0, 0))
        whole = usage_in_record(Fields(data), is_counted=False) if answers > counted else None
        for what, (stated, read) in chat.stated.items():
            if what != ANSWERS or whole is None:
                unmapped.stated.compare(what, stated, read)
        for what, times in chat.rewound.items():
            unmapped.note("rewound", what, times)
        run = trajectory_of(unmapped, [data], known, by_turn=self.by_turn)
        is_partial = answers > counted and usage_in_record(Fields(data), is_counted=True) is None
        used = with_cost(whole, cost_in_record(Fields(data))) if is_partial else run.usage
        return replace(run, usage=used, format=self.name)


def _named(source: str) -> str:
    """A file by its folder, which programs name after the task, or by its own name."""
    return posixpath.dirname(source) or source.partition(".")[0]


def plain_message(role: str | None, content: Any, **more: Any) -> JsonObject:
    """A chat message, without fields that hold nothing."""
    given = {"role": role, "content": content, **more}
    return without_none(given)


def without(data: JsonObject, *names: str) -> JsonObject:
    """The other fields of an object, to be counted as unmapped where nothing reads them."""
    return {key: value for key, value in data.items() if key not in names}
