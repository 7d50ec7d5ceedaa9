"""Sessions of coding agents as they are stored on this machine."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from upath import UPath

from evaluation_assets.core.traces.formats.files.opening import opened
from evaluation_assets.core.traces.trajectories.model import JsonObject

_HEAD = 256 << 10
"""Bytes of a session that are searched for its working directory: Codex puts its instructions before it."""

_FOLDER = re.compile(rb'"(?:cwd|working_dir|directory|directories)"\s*:\s*\[?\s*("(?:[^"\\]|\\.)*")')
_FOLDER_IN_PROMPT = re.compile(rb"# Current Work(?:ing|space) Directory \(([^)\\\n]+)\) Files")
"""How Cline tells the model where it works."""


@dataclass(frozen=True, slots=True)
class Environment:
    """The variables of this process, by which agents find their folders."""

    variables: Mapping[str, str]

    @property
    def home(self) -> Path:
        """The user's home folder."""
        named = self.variables.get("HOME")
        return Path(named) if named else Path.home()

    def folder(self, *names: str) -> Path | None:
        """The folder that the first of these variables names, if one is set."""
        named = next((self.variables[name] for name in names if self.variables.get(name)), None)
        return None if named is None else self._expanded(named)

    def data(self) -> Path:
        """The folder for data of applications (XDG)."""
        return self.folder("XDG_DATA_HOME") or self.home / ".local" / "share"

    def _expanded(self, path: str) -> Path:
        return self.home / path.removeprefix("~").lstrip("/") if path.startswith("~") else Path(path)


@dataclass(frozen=True)
class AgentSession:
    """A session: its files by their names in a drop, or how to load it as a record, from a database.

    `ended_at` is its last modification. `root` is the folder that its files must not lead out of. `known_folder` is its
    working directory where the store has it beside the session.
    """

    id: str
    ended_at: datetime
    root: Path
    files: tuple[tuple[str, Path], ...] = field(default=())
    load: Callable[[], JsonObject] | None = None
    known_folder: str | None = None

    @cached_property
    def folder(self) -> str | None:
        """The working directory of the session, where it is recorded."""
        if self.known_folder is not None or not self.files:
            return self.known_folder
        try:
            with opened(UPath(self.files[0][1])) as stream:
                head = stream.read(_HEAD)
        except (OSError, EOFError):
            return None
        if (match := _FOLDER.search(head)) is not None:
            return _text(match[1])
        named = _FOLDER_IN_PROMPT.search(head)
        return None if named is None else named[1].decode("utf-8", "replace")


def of_files(root: Path, files: Mapping[str, Path], known_folder: str | None = None) -> AgentSession:
    """The session of files by their names in a drop; the first is the main one, which names the session.

    Raises:
        OSError: a file is gone.
    """
    main = next(iter(files.values()))
    modified = max(path.stat().st_mtime for path in files.values())
    return AgentSession(
        id=main.name.split(".", 1)[0],
        ended_at=datetime.fromtimestamp(modified, UTC),
        root=root,
        files=tuple(files.items()),
        known_folder=known_folder,
    )


def _text(document: bytes) -> str | None:
    try:
        text = json.loads(document)
    except ValueError:
        return None
    return text if isinstance(text, str) else None
