"""Conversations in the form of another format than that of their file.

The format of a drop is decided by its first records. A file that several programs wrote may have others, whose calls
its reader would lose: messages of other APIs look like messages without calls to it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

from upath import UPath

from evaluation_assets.core.traces.formats.base import DropFile, Format, Record, RecordWatch, Rejection, Sample
from evaluation_assets.core.traces.formats.call_census import may_hold_calls
from evaluation_assets.core.traces.formats.files.json_values import as_line
from evaluation_assets.core.traces.formats.files.records import record_of
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.images import Images
from evaluation_assets.core.traces.trajectories.model import Source, Trajectory

CONVERSATIONS = frozenset(
    "anthropic_messages autogen bedrock_converse gemini google_adk langchain openai_messages openai_responses "
    "pydantic_ai vercel_ai".split()
)
"""Formats in which a record may be a conversation of its own, so that a file can have records of several of them."""

_STEPS = b'"steps"'
"""In the bytes of records whose calls may be steps, without a word that only calls have."""

WHOLE_DOCUMENTS = frozenset(("inspect_ai", "tau2_bench"))
"""Formats whose readers look for runs at paths of a document, so that it cannot stand inside another."""


@dataclass(slots=True)
class Aside:
    """Records of one format in a temporary file, one a line, and where each stands in the drop: as a whole, in part."""

    path: Path
    places: list[tuple[Source, Source]] = field(default_factory=list)

    def add(self, record: Record) -> None:
        """Keep a record as it stands in the drop."""
        raw = record.raw.strip()
        self.add_from(record, as_line(record.data) if b"\n" in raw else raw, is_whole=True)

    def add_from(self, record: Record, line: bytes, *, is_whole: bool) -> None:
        """Keep a line that was made from a record, or from a part of it."""
        with self.path.open("ab") as file:
            file.write(line + b"\n")
        self.places.append((record.place(is_whole=is_whole), record.place(is_whole=False)))

    def placed(self, item: Trajectory | Rejection) -> Trajectory | Rejection:
        """The item with the place of its record in the drop."""
        if isinstance(item, Rejection):
            place = self.places[item.line - 1][0]
            return replace(item, source=place.file, line=place.line)
        if item.source is None:
            return item
        whole, part = self.places[item.source.line - 1]
        return replace(item, source=whole if item.source.is_whole else part)


class MixedRecords:
    """Sets records of other formats aside while a file is read, and reads them afterwards."""

    def __init__(self, chosen: Format, formats: Mapping[str, Format]) -> None:
        self._chosen = chosen
        self._others = [known for name, known in formats.items() if name not in (chosen.name, *WHOLE_DOCUMENTS)]
        self._applies = chosen.name in CONVERSATIONS
        self._folder: TemporaryDirectory[str] | None = None
        self._aside: dict[str, Aside] = {}
        self._seen: set[tuple[str, int]] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._folder is not None:
            self._folder.cleanup()

    def takes(self, record: Record) -> bool:
        """Whether a record is a conversation with calls that only another format recognises; it is then set aside.

        One without calls is left to the reader, for which it may be a part of a conversation.
        """
        return self._applies and self._sets_aside(record, with_calls=True)

    def takes_back(self, rejection: Rejection) -> bool:
        """Whether a record that the reader rejected is a conversation of another format; it is then set aside."""
        record = record_of(rejection.raw.encode(), rejection.source, rejection.line)
        return isinstance(record, Record) and self._sets_aside(record, with_calls=False)

    def _sets_aside(self, record: Record, *, with_calls: bool) -> bool:
        if not _is_conversation(record.data):
            return False
        sample = Sample((record.data,))
        if self._chosen.detect(sample) or (with_calls and not (may_hold_calls(record.raw) or _STEPS in record.raw)):
            return False
        other = next((other for other in self._others if other.detect(sample)), None)
        if other is None:
            return False
        if (record.source, record.line) not in self._seen:  # readers may read a file several times
            self._seen.add((record.source, record.line))
            self._of(other.name).add(record)
        return True

    def read(self, unmapped: UnmappedFields, images: Images) -> Iterator[Trajectory | Rejection]:
        """The trajectories and rejections of the records that were set aside, format by format."""
        for other in self._others:
            if (aside := self._aside.get(other.name)) is not None:
                file = DropFile(UPath(aside.path), aside.places[0][0].file, RecordWatch(images=images))
                items = other.read([file], unmapped)
                yield from map(aside.placed, items)

    def _of(self, name: str) -> Aside:
        if name not in self._aside:
            self._folder = self._folder or TemporaryDirectory()
            self._aside[name] = Aside(Path(self._folder.name) / f"{name}.jsonl")
        return self._aside[name]


def _is_conversation(data: Any) -> bool:
    """Whether a record may be a whole conversation, and not a line of one."""
    return isinstance(data, list) or (
        isinstance(data, dict) and any(isinstance(inner, list) for inner in data.values())
    )
