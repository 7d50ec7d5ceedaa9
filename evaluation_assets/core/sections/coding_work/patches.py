"""Changes of files in the patches that agents write: those of `apply_patch`, and SEARCH/REPLACE blocks."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_BEGIN, _END = "*** Begin Patch", "*** End Patch"
_HEADER = re.compile(r"\*\*\* (Add|Update|Delete) File: (.+)")
_MOVE = re.compile(r"\*\*\* Move to: (.+)")
_SEARCH = re.compile(r"(?:-{3,}|<{3,}) ?SEARCH>?\s*")
_MIDDLE = re.compile(r"={5,}\s*")
_REPLACE = re.compile(r"(?:\+{3,}|>{3,}) ?REPLACE>?\s*")
_POSITION = re.compile(r":(?:start|end)_line:.*\s*|-{5,}\s*")
"""Lines that Roo Code puts before the text that is searched."""


@dataclass(frozen=True, slots=True)
class Change:
    """One change of one file. `old` became `new`; `None` is a text that the call does not show.

    `is_whole`: `new` is all of the file. `removes`: the file was deleted. `moved_to` is its new path.
    """

    path: str
    old: str | None
    new: str | None
    is_whole: bool = False
    removes: bool = False
    moved_to: str | None = None


@dataclass(slots=True)
class _Section:
    """The lines of one file in a patch."""

    kind: str
    path: str
    moved_to: str | None = None
    hunks: list[list[str]] = field(default_factory=lambda: [[]])

    def changes(self) -> Iterator[Change]:
        lines = [line for hunk in self.hunks for line in hunk]
        if self.kind == "Delete":
            yield Change(self.path, None, None, removes=True)
        elif self.kind == "Add":
            yield Change(self.path, None, _side(lines, "+"), is_whole=True)
        else:
            for hunk in self.hunks:
                if any(line[:1] in ("+", "-") for line in hunk):
                    yield Change(self.path, _side(hunk, "- "), _side(hunk, "+ "))
            if self.moved_to is not None:
                yield Change(self.path, None, None, moved_to=self.moved_to)


def changes_in(text: str) -> Iterator[Change]:
    """The changes of the patches for `apply_patch` in a text, hunk by hunk."""
    start = text.find(_BEGIN)
    while start >= 0:
        end = text.find(_END, start)
        yield from _patch(text[start : len(text) if end < 0 else end])
        start = text.find(_BEGIN, start + 1) if end >= 0 else -1


def _patch(text: str) -> Iterator[Change]:
    section: _Section | None = None
    for line in text.splitlines()[1:]:
        if (header := _HEADER.match(line)) is not None:
            if section is not None:
                yield from section.changes()
            section = _Section(header[1], header[2].strip())
        elif section is not None and (moved := _MOVE.match(line)) is not None:
            section.moved_to = moved[1].strip()
        elif section is not None and line.startswith("@@"):
            section.hunks.append([])
        elif section is not None:
            section.hunks[-1].append(line)
    if section is not None:
        yield from section.changes()


def search_and_replace(path: str, diff: str) -> Iterator[Change]:
    """The changes of SEARCH/REPLACE blocks; one without texts if there is no block."""
    blocks = list(_blocks(diff))
    for old, new in blocks:
        yield Change(path, old, new)
    if not blocks:
        yield Change(path, None, None)


def _blocks(diff: str) -> Iterator[tuple[str, str]]:
    """The two texts of each complete block."""
    old: list[str] | None = None
    new: list[str] | None = None
    for line in diff.splitlines(keepends=True):
        if _SEARCH.fullmatch(line):
            old, new = [], None
        elif old is not None and new is None and _MIDDLE.fullmatch(line):
            new = []
        elif old is not None and new is not None and _REPLACE.fullmatch(line):
            yield "".join(old), "".join(new)
            old = new = None
        elif new is not None:
            new.append(line)
        elif old is not None and (old or not _POSITION.fullmatch(line)):
            old.append(line)


def _side(lines: list[str], marks: str) -> str:
    """The text before (marks `- `) or after (marks `+ `) a hunk. An empty line is context."""
    return "".join(f"{line[1:]}\n" for line in lines if (line[:1] or " ") in marks)
