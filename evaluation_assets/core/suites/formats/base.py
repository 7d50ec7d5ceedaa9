"""The interface of suite readers: source files in, cases and skipped tasks out."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from upath import UPath

from evaluation_assets.core.suites.suite import Case, InvalidSuite
from evaluation_assets.core.system.by_key import by_key
from evaluation_assets.core.text.counted import counted, first_of

_SAID_FAULTS = 5

_CASE = re.compile(r"^.*?:\d+: \w+\[\d+\]")
"""File, line and case that a fault begins with."""


def invalid(faults: Sequence[str]) -> InvalidSuite:
    """The error for all faults of a file: the first of each kind, with the number of those like it."""
    alike = by_key((_CASE.sub("", fault), fault) for fault in faults)
    said = [
        first + (f" (and {counted(len(others), 'more case')})" if others else "") for first, *others in alike.values()
    ]
    return InvalidSuite(first_of(said, _SAID_FAULTS, between=". ").replace("?. ", "? "))


@dataclass(frozen=True, slots=True)
class Item:
    """One JSON value of a file, and the line it starts in."""

    line: int
    data: Any


@dataclass(frozen=True, slots=True)
class Source:
    """A suite file: its text, and the JSON values in it (none for XML)."""

    path: UPath
    text: str
    items: tuple[Item, ...]

    @property
    def records(self) -> list[dict[str, Any]]:
        """The values that are objects."""
        return [item.data for item in self.items if isinstance(item.data, dict)]

    @property
    def is_xml(self) -> bool:
        """Whether the file is XML."""
        return self.text.lstrip("\ufeff \t\r\n").startswith("<")

    def broken(self, line: int | None, reason: str) -> InvalidSuite:
        """The error for a file that cannot be used."""
        place = self.path.name if line is None else f"{self.path.name}:{line}"
        return InvalidSuite(f"{place}: {reason}")


@dataclass(frozen=True, slots=True)
class Incomplete:
    """A task that is left out because nothing can be learned from it, where it stands and why."""

    file: str
    line: int | None
    task: str
    reason: str

    @property
    def place(self) -> str:
        """File and line."""
        return self.file if self.line is None else f"{self.file}:{self.line}"


@dataclass(slots=True)
class Draft:
    """What a file gives: cases with their lines, incomplete tasks, fields of the suite, other files that were read."""

    cases: list[tuple[int | None, Case]] = field(default_factory=list)
    incomplete: list[Incomplete] = field(default_factory=list)
    fields: Mapping[str, Any] = field(default_factory=dict)
    companions: tuple[UPath, ...] = ()

    def add(self, source: Source, line: int | None, case: Case, lacks: str | None = None) -> None:
        """Take a case, or list it as incomplete when it lacks something."""
        reason = lacks or case.lacks
        if reason is None:
            self.cases.append((line, case))
        else:
            self.leave_out(source, line, case.id, reason)

    def leave_out(self, source: Source, line: int | None, task: str, reason: str) -> None:
        """List a task as incomplete."""
        self.incomplete.append(Incomplete(source.path.name, line, task, reason))


@dataclass(frozen=True, slots=True)
class SuiteFormat:
    """A dialect: how to recognise it and how to read it."""

    name: str
    description: str
    detection: str
    detect: Callable[[Source], bool]
    read: Callable[[Source], Draft]
