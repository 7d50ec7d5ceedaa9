"""What a reader of trajectories takes and gives: records in, trajectories or rejections out."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from upath import UPath

from evaluation_assets.core.formats.unmapped_fields import UnmappedFields, type_name
from evaluation_assets.core.trajectories.model import Trajectory


class UnusableRecord(ValueError):
    """A record that cannot become a trajectory. `reason` is a short code, `detail` says what was found."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


class UnreadableDrop(ValueError):
    """A drop no reader can make anything of; the message says what was tried and what to do."""


SHOWN = 2000
"""Characters that are shown of what is too long to be told whole."""


@dataclass(frozen=True, slots=True)
class Rejection:
    """A record that was left out: where it stood, why, and all of it. `line` counts records of the file from 1."""

    source: str
    line: int
    reason: str
    detail: str
    raw: str


@dataclass(frozen=True, slots=True)
class Record:
    """One parsed JSON value of a file, with the bytes it came from."""

    source: str
    line: int
    data: Any
    raw: bytes

    def json_object(self) -> dict[str, Any]:
        """The data, where it has to be an object.

        Raises:
            UnusableRecord: it is none.
        """
        if not isinstance(self.data, dict):
            raise UnusableRecord("wrong_type", f"a record is a JSON object, this is {type_name(self.data)}")
        return self.data

    def rejected(self, problem: UnusableRecord) -> Rejection:
        """This record as a rejection."""
        return Rejection(
            self.source, self.line, problem.reason, problem.detail, self.raw.decode("utf-8", "backslashreplace")
        )


@dataclass(frozen=True, slots=True)
class Sample:
    """The beginning of a file, by which formats recognise their own.

    `records` are its first JSON values; one that is longer than the beginning is there as far as it goes. `text` is the
    beginning as text, empty for archives and parquet. `members` are the names in an archive.
    """

    records: tuple[Any, ...] = ()
    text: str = ""
    members: tuple[str, ...] = ()

    def has(self, *keys: str) -> bool:
        """Whether a record is an object with all these keys."""
        return any(isinstance(record, dict) and all(key in record for key in keys) for record in self.records)


class RecordWatch:
    """The records that a reader is handed, and the rejections it is handed in place of those that it broke on."""

    def __init__(self, on_record: Callable[[Record], object] = lambda _: None) -> None:
        self._on_record = on_record
        self._handed = 0
        self._counted = 0
        self._last: Record | None = None
        self._broken: dict[tuple[str, int, bytes], Rejection] = {}

    @property
    def broken(self) -> Sequence[Rejection]:
        """The rejections, in the order in which the reader broke."""
        return list(self._broken.values())

    def over(self, items: Iterable[Record | Rejection]) -> Iterator[Record | Rejection]:
        """What the reader is handed of these."""
        for item in items:
            if isinstance(item, Record):
                self._last = item
                self._handed += 1
                if self._handed > self._counted:  # a reader that starts again is handed the same records again
                    self._counted = self._handed
                    self._on_record(item)
                yield self._broken.get((item.source, item.line, item.raw), item)
            else:
                yield item
        self._last = None

    def reject_last(self, problem: UnusableRecord) -> bool:
        """Blame a problem on the record that was handed over last. False: there is none, or it was blamed before."""
        last = self._last
        if last is None or (key := (last.source, last.line, last.raw)) in self._broken:
            return False
        self._last, self._broken[key] = None, last.rejected(problem)
        self._handed = 0
        return True


@dataclass(frozen=True, slots=True)
class DropFile:
    """One file of a drop. `source` is the name it goes by in rejections."""

    path: UPath
    source: str
    watch: RecordWatch = field(default_factory=RecordWatch, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Format:
    """A wire format: how to recognise it and how to read it.

    `read` is given all files of a drop, since some formats spread a trajectory over several. It counts the fields that
    it does not map.
    """

    name: str
    description: str
    detection: str
    detect: Callable[[Sample], bool]
    read: Callable[[Sequence[DropFile], UnmappedFields], Iterator[Trajectory | Rejection]]
