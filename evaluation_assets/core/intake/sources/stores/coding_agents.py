"""The sessions that coding agents keep on this machine, as a store of traces."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from upath import UPath

from evaluation_assets.core.intake.sources.coding_agent_titles import CODING_AGENT_TITLES
from evaluation_assets.core.intake.sources.drops import file_id
from evaluation_assets.core.intake.sources.settings import CodingAgentSettings
from evaluation_assets.core.intake.sources.store import Trace, Wanted
from evaluation_assets.core.intake.sources.stores.agent_sessions import AgentSession, Environment
from evaluation_assets.core.intake.sources.stores.session_databases import goose_sessions, opencode_sessions
from evaluation_assets.core.intake.sources.stores.session_files import (
    claude_code_sessions,
    cline_tasks,
    codex_sessions,
    gemini_cli_sessions,
    goose_session_files,
    hash_of,
    qwen_code_sessions,
)
from evaluation_assets.core.system.regular_files import why_not_of
from evaluation_assets.core.traces.trajectories.model import JsonObject

LARGEST_FILE = 256 << 20
"""Bytes of the largest file of a session that is taken."""

_EDITORS = ("Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf")
_EXTENSIONS = ("saoudrizwan.claude-dev", "rooveterinaryinc.roo-cline", "kilocode.kilo-code")

Sessions = Callable[[Path], Iterator[AgentSession]]


@dataclass(frozen=True, slots=True)
class CodingAgent:
    """A coding agent: `name` is that of its drop and its source, `format` that of its reader.

    `folders` gives where it keeps sessions, and how they are found there.
    """

    name: str
    title: str
    format: str
    folders: Callable[[Environment], list[tuple[Path, Sessions]]]


def _claude_code(environment: Environment) -> list[tuple[Path, Sessions]]:
    named = environment.folder("CLAUDE_CONFIG_DIR")
    homes = [named] if named else [environment.home / ".claude", environment.home / ".config" / "claude"]
    return [(home / "projects", claude_code_sessions) for home in homes]


def _codex(environment: Environment) -> list[tuple[Path, Sessions]]:
    return [(environment.folder("CODEX_HOME") or environment.home / ".codex", codex_sessions)]


def _gemini_cli(environment: Environment) -> list[tuple[Path, Sessions]]:
    home = environment.folder("GEMINI_CLI_HOME") or environment.home
    return [(home / ".gemini" / "tmp", gemini_cli_sessions)]


def _qwen_code(environment: Environment) -> list[tuple[Path, Sessions]]:
    home = environment.folder("QWEN_RUNTIME_DIR", "QWEN_HOME") or environment.home / ".qwen"
    return [(home / "projects", qwen_code_sessions)]


def _opencode(environment: Environment) -> list[tuple[Path, Sessions]]:
    data = environment.data() / "opencode"
    database = data / (environment.folder("OPENCODE_DB") or "opencode.db")
    return [(data, lambda folder: opencode_sessions(database, folder / "storage"))]


def _goose(environment: Environment) -> list[tuple[Path, Sessions]]:
    root = environment.folder("GOOSE_PATH_ROOT")
    data = environment.data() / "goose" if root is None else root / "data"

    def sessions(folder: Path) -> Iterator[AgentSession]:
        yield from goose_sessions(folder / "sessions.db")
        yield from goose_session_files(folder)

    return [(data / "sessions", sessions)]


def _cline(environment: Environment) -> list[tuple[Path, Sessions]]:
    home = environment.home
    configured = (home / ".config", home / "Library" / "Application Support", environment.folder("APPDATA"))
    users = [folder / editor / "User" for folder in configured if folder is not None for editor in _EDITORS]
    users.append(home / ".vscode-server" / "data" / "User")
    storages = [user / "globalStorage" / extension for user in users for extension in _EXTENSIONS]
    own = environment.folder("CLINE_DATA_DIR") or (environment.folder("CLINE_DIR") or home / ".cline") / "data"
    existing = [storage for storage in storages if storage.is_dir()]
    return [(storage, cline_tasks) for storage in [*existing, own]]


_FOLDERS: dict[str, Callable[[Environment], list[tuple[Path, Sessions]]]] = {
    "claude_code": _claude_code,
    "codex": _codex,
    "gemini_cli": _gemini_cli,
    "qwen_code": _qwen_code,
    "opencode": _opencode,
    "goose": _goose,
    "cline": _cline,
}
CODING_AGENTS = {name: CodingAgent(name, title, name, _FOLDERS[name]) for name, title in CODING_AGENT_TITLES.items()}
"""By name."""


def sessions_of(settings: CodingAgentSettings) -> "CodingAgentStore":
    """The sessions of an agent on this machine."""
    return CodingAgentStore(CODING_AGENTS[settings.type], settings.project)


@dataclass(frozen=True, slots=True)
class CodingAgentStore:
    """The sessions of one agent; a trace is a session.

    `project` limits them to those that worked in a folder: its path, or the name of it or of a folder above. `say` is
    told of sessions that are left out, with the reason.
    """

    agent: CodingAgent
    project: str | None = None
    environment: Environment = field(default_factory=lambda: Environment(os.environ))
    say: Callable[[str], object] = lambda _: None

    @property
    def folders(self) -> list[Path]:
        """Where sessions are looked for."""
        return [folder for folder, _ in self.agent.folders(self.environment)]

    def ended(self, after: datetime, until: datetime, wanted: Wanted) -> Iterator[Trace]:
        """Yield the wanted sessions that were last modified in `(after, until]`, the oldest first.

        Raises:
            StoreError: a database of the agent cannot be read.
        """
        ended = [session for folder, sessions in self.agent.folders(self.environment) for session in sessions(folder)]
        for session in sorted(ended, key=lambda one: one.ended_at):
            if after < session.ended_at <= until and self._is_of_project(session) and wanted(_id_of(session)):
                yield from self._trace(session)

    def id_of(self, record: JsonObject) -> str | None:
        """The ID of the session in a record of opencode or Goose."""
        info = record.get("info")
        identity = info.get("id") if isinstance(info, dict) else record.get("id")
        return identity if isinstance(identity, str) else None

    def _is_of_project(self, session: AgentSession) -> bool:
        if self.project is None:
            return True
        wanted, is_path = self.project, self.project in (".", "..") or "/" in self.project
        place = os.path.realpath(wanted) if is_path else ""
        if session.folder is None:
            return is_path and any(hash_of(place) in name for name, _ in session.files)
        if is_path:
            return Path(os.path.realpath(session.folder)).is_relative_to(place)
        return wanted in Path(session.folder).parts

    def _trace(self, session: AgentSession) -> Iterator[Trace]:
        if session.load is not None:
            record = session.load()
            if record.get("messages") or record.get("conversation"):
                yield Trace(id=_id_of(session), ended_at=session.ended_at, record=record)
            return
        files: list[tuple[str, UPath]] = []
        for name, path in session.files:
            if (reason := _why_not(UPath(path), UPath(session.root))) is None:
                files.append((name, UPath(path)))
            else:
                self.say(f"{path}: {reason}")
        if files:
            yield Trace(id=_id_of(session), ended_at=session.ended_at, files=files)


def _id_of(session: AgentSession) -> str:
    """The ID of a session; of one in files, the ID of the state of its main file."""
    return file_id(session.files[0][0], session.ended_at.isoformat()) if session.files else session.id


def _why_not(path: UPath, root: UPath) -> str | None:
    """Why a file is not taken; `None` where it is."""
    if (reason := why_not_of(path, root)) is not None:
        return reason
    if not os.access(path.path, os.R_OK):
        return "it cannot be read: permission denied"
    size = path.stat().st_size
    if size == 0:
        return "it is empty"  # agents make the file before its first line
    return f"it is larger than {LARGEST_FILE >> 20} MB" if size > LARGEST_FILE else None
