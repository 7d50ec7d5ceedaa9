"""Edits of files over a session, and which of them were undone.

An edit is undone only with evidence: its text was replaced back, the file returned to an earlier content, git restored
it, or it was removed. Changes by other commands (`sed -i`, scripts, formatters) are not seen, nor what happens after
the session. A commit ends what git can restore, and git neither restores nor stashes files that are new.
"""

import posixpath
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from evaluation_assets.core.sections.coding_work.patches import Change
from evaluation_assets.core.sections.coding_work.shell import Effects

Evidence = Literal["replaced_back", "restored", "removed"]


@dataclass(slots=True)
class Edit:
    """One change of a file by the call number `position`: `content` is the whole file after it, if known.

    `is_new`: the edit made the file. `undone` is the evidence that it was undone.
    """

    path: str
    position: int
    old: str | None
    new: str | None
    content: str | None
    is_new: bool
    undone: Evidence | None = None
    committed: bool = False


@dataclass(slots=True)
class EditLog:
    """The edits of a session while its calls pass; `folder` is the working directory.

    An edit that takes back another is not in `edits`.
    """

    folder: str = ""
    edits: list[Edit] = field(default_factory=list)
    _standing: dict[str, list[Edit]] = field(default_factory=lambda: defaultdict(list))
    _contents: dict[str, str | None] = field(default_factory=dict)
    _stashed: list[Edit] = field(default_factory=list)

    def place(self, path: str) -> str:
        """A path as files are told apart by: absolute, if the working directory is known."""
        return posixpath.normpath(posixpath.join(self.folder, path))

    def changed(self, change: Change, position: int, *, existed: bool) -> None:
        """Add a change that succeeded. `existed`: the file was there before, as far as the result tells."""
        path = self.place(change.path)
        if change.moved_to is not None:
            self._moved(path, self.place(change.moved_to))
        elif change.removes:
            self._gone(path)
        else:
            standing = self._standing[path]
            content = self._contents[path] = _content(self._contents.get(path), change)
            is_new = change.is_whole and not existed and not standing
            edit = Edit(path, position, change.old, change.new, content, is_new)
            if undone := _taken_back(standing, edit):
                self._undo(undone, "replaced_back")
            else:
                self.edits.append(edit)
                standing.append(edit)

    def took_back(self, path: str) -> None:
        """Note that a tool took back the last edit of a file."""
        self._undo(self._standing[self.place(path)][-1:], "replaced_back")

    def ran(self, effects: Effects) -> None:
        """Note what a command line that succeeded did to edited files."""
        for source, target in effects.moves:
            self._moved(self.place(source), self.place(target))
        for path in effects.removes:
            self._gone(self.place(path))
        if effects.stashes:
            self._stashed = [edit for edit in self._uncommitted() if not edit.is_new]
            self._undo(self._stashed, "restored")
        if effects.unstashes:
            self._unstash()
        if effects.restores_all:
            self._undo([edit for edit in self._uncommitted() if not self._is_new(edit)], "restored")
        for path in map(self.place, effects.restores):
            below = [e for e in self._uncommitted() if e.path.startswith(f"{path}/") and not self._is_new(e)]
            self._undo([*below, *(edit for edit in self._uncommitted() if edit.path == path)], "restored")
        if effects.removes_new:
            self._undo([edit for edit in self._uncommitted() if self._is_new(edit)], "removed")
        if effects.commits:
            for edit in self._uncommitted():
                edit.committed = True

    def _uncommitted(self) -> list[Edit]:
        return [edit for standing in self._standing.values() for edit in standing if not edit.committed]

    def _is_new(self, edit: Edit) -> bool:
        """Whether the file of an edit was made in the session and is unknown to git."""
        return any(one.is_new and not one.committed for one in self._standing[edit.path])

    def _unstash(self) -> None:
        for edit in self._stashed:
            edit.undone = None
            self._standing[edit.path].append(edit)
        self._stashed = []

    def _gone(self, path: str) -> None:
        gone = [one for one in self._standing if one == path or one.startswith(f"{path}/")]
        self._undo([edit for one in gone for edit in self._standing[one]], "removed")

    def _moved(self, source: str, target: str) -> None:
        if edits := self._standing.pop(source, None):
            for edit in edits:
                edit.path = target
            self._standing[target] = edits
            self._contents[target] = self._contents.pop(source, None)

    def _undo(self, edits: Iterable[Edit], evidence: Evidence) -> None:
        for edit in list(edits):
            edit.undone = evidence
            standing = self._standing[edit.path]
            standing[:] = [one for one in standing if one is not edit]
            if evidence != "replaced_back":
                self._contents[edit.path] = None


def _content(before: str | None, change: Change) -> str | None:
    """The content of a file after a change, if it is known."""
    if change.is_whole:
        return change.new
    if before is None or not change.old or change.new is None or change.old not in before:
        return None
    return before.replace(change.old, change.new, 1)


def _taken_back(standing: list[Edit], edit: Edit) -> list[Edit]:
    """The edits of a file that a new one takes back: all since the file had the same content, or one text."""
    if edit.content is not None:
        for index in range(1, len(standing)):
            if standing[index - 1].content == edit.content:
                return standing[index:]
    return next(([one] for one in reversed(standing) if _is_reverse(one, edit)), [])


def _is_reverse(one: Edit, later: Edit) -> bool:
    """Whether a later edit replaces the text of one back, alone or within a longer text."""
    if one.old is None or not one.new or later.old is None or later.new is None or one.old == one.new:
        return False
    if one.new not in later.old or not (one.new.strip() or one.new == later.old):
        return False
    return later.old.replace(one.new, one.old, 1) == later.new
