"""What a reader of trajectories takes and gives: records in, trajectories or rejections out."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from evaluation_assets.core.trajectories.model import Trajectory


class UnusableRecord(ValueError):
    """A record that cannot become a trajectory. `reason` is a short code, `detail` says what was found."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


class UnreadableDrop(ValueError):
    """A drop no reader can make anything of; the message says what was tried and what to do."""


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

    def rejected(self, problem: UnusableRecord) -> Rejection:
        """This record as a rejection."""
        return Rejection(
            self.source, self.line, problem.reason, problem.detail, self.raw.decode("utf-8", "backslashreplace")
        )


@dataclass(frozen=True, slots=True)
class Sample:
    """The first records of a file, by which formats recognise their own."""

    records: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Format:
    """A wire format: how to recognise it and how to read it."""

    name: str
    description: str
    detection: str
    detect: Callable[[Sample], bool]
    read: Callable[[Iterator[Record | Rejection]], Iterator[Trajectory | Rejection]]
