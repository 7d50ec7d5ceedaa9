"""An envelope around chat conversations: a program's record is converted to records of chat messages, which are read
as `openai_messages`.
"""

import posixpath
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evaluation_assets.core.formats.base import DropFile, Format, Record, Rejection, Sample, UnusableRecord
from evaluation_assets.core.formats.files.records import read_records
from evaluation_assets.core.formats.files.samples import own_files
from evaluation_assets.core.formats.isolation import usable
from evaluation_assets.core.formats.readers.openai_messages import trajectory_of
from evaluation_assets.core.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.trajectories.model import JsonObject, Trajectory


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """What tells the records of a program, and the chat conversations in one.

    A conversation is an object with `messages` and fields that `context_of` reads; what it has no name for keeps the
    name of the program, and is counted as unmapped. With `local_ids`, IDs of tasks are only unique within a file.
    """

    name: str
    description: str
    detection: str
    holds: Callable[[Any], bool]
    conversations: Callable[[JsonObject], Iterable[JsonObject]]
    local_ids: bool = False

    def format(self) -> Format:
        """The format of this envelope."""
        return Format(self.name, self.description, self.detection, self._detect, self._read)

    def _detect(self, sample: Sample) -> bool:
        return any(self.holds(record) for record in sample.records)

    def _read(self, files: Sequence[DropFile], unmapped: UnmappedFields) -> Iterator[Trajectory | Rejection]:
        own = list(own_files(files, self._detect, self.name))
        is_alone = sum(isinstance(file, DropFile) for file in own) == 1
        for file in own:
            if isinstance(file, Rejection):
                yield file
                continue
            prefix = "" if is_alone or not self.local_ids else f"{_named(file.source)}:"
            for record in read_records(file):
                yield from [record] if isinstance(record, Rejection) else self._opened(record, unmapped, prefix)

    def _opened(self, record: Record, unmapped: UnmappedFields, prefix: str) -> Iterator[Trajectory | Rejection]:
        if not self.holds(record.data):
            yield record.rejected(UnusableRecord("not_this_format", f"the record is not in format {self.name}"))
            return
        found = [
            {**conversation, "task_id": f"{prefix}{conversation['task_id']}"} if prefix else conversation
            for conversation in self.conversations(record.data)
        ]
        for conversation in found:
            yield usable(
                record,
                lambda _, data=conversation: replace(trajectory_of(unmapped, [data]), format=self.name),
                is_whole=len(found) == 1,
            )


def _named(source: str) -> str:
    """A file by its folder, which programs name after the task, or by its own name."""
    return posixpath.dirname(source) or source.partition(".")[0]


def plain_message(role: str, content: Any, **more: Any) -> JsonObject:
    """A chat message, without fields that hold nothing."""
    given = {"role": role, "content": content, **more}
    return {key: value for key, value in given.items() if value is not None}


def without(data: JsonObject, *names: str) -> JsonObject:
    """The other fields of an object, to be counted as unmapped where nothing reads them."""
    return {key: value for key, value in data.items() if key not in names}
