"""Where coding agents keep their sessions as files.

Each function gives the sessions below one folder. Files that belong to no session (indexes, memories, results of tools
that were too long for the log) are not given.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import orjson
from upath import UPath

from evaluation_assets.core.intake.sources.stores.agent_sessions import AgentSession, of_files
from evaluation_assets.core.traces.formats.files.opening import opened

_PLAIN_HASH = 64
"""Length of the hash of a project's path, by which older versions of Gemini CLI name its folder."""


def claude_code_sessions(projects: Path) -> Iterator[AgentSession]:
    """`<project>/<session>.jsonl`; sub-agents in `<session>/subagents/`, formerly in `agent-<id>.jsonl` beside it."""
    for project in _folders(projects):
        mains = {path.stem: path for path in _files(project, "*.jsonl") if not path.name.startswith("agent-")}
        agents: dict[str, list[Path]] = defaultdict(list)
        for path in _files(project, "agent-*.jsonl"):
            agents[_session_of(path) or path.stem].append(path)
        for path in _files(project, "*/subagents/**/*.jsonl"):
            agents[path.relative_to(project).parts[0]].append(path)
        for session in sorted(mains.keys() | agents.keys()):
            own = [*([mains[session]] if session in mains else []), *agents.get(session, [])]
            yield from _session(projects, {str(path.relative_to(projects)): path for path in own})


def codex_sessions(home: Path) -> Iterator[AgentSession]:
    """`sessions/YYYY/MM/DD/rollout-*.jsonl`, `archived_sessions/rollout-*.jsonl`; old ones are compressed (`.zst`)."""
    by_name: dict[str, Path] = {}
    for folder in (home / "archived_sessions", home / "sessions"):
        for path in (*_files(folder, "**/rollout-*.jsonl.zst"), *_files(folder, "**/rollout-*.jsonl")):
            by_name[path.name.removesuffix(".zst")] = path  # both exist while a session is archived or compressed
    for path in by_name.values():
        yield from _session(home, {path.name: path})


def gemini_cli_sessions(temporary: Path) -> Iterator[AgentSession]:
    """`<project>/chats/session-<time>-<first of the ID>.json(l)`; sub-agents in `chats/<session>/`."""
    for project in _folders(temporary):
        chats = project / "chats"
        mains = [*_files(chats, "session-*.json"), *_files(chats, "session-*.jsonl")]
        inner: dict[str, list[Path]] = defaultdict(list)
        for path in _files(chats, "*/*.jsonl"):
            inner[path.parent.name[:8]].append(path)
        for main in sorted(mains):
            own = [main, *inner.pop(main.stem.rpartition("-")[2], [])]
            files = {f"{project.name}/{path.relative_to(chats)}": path for path in own}
            yield from _session(temporary, files, _root_of(project))


def qwen_code_sessions(projects: Path) -> Iterator[AgentSession]:
    """`<project>/chats/<session>.jsonl`."""
    for project in _folders(projects):
        for path in _files(project / "chats", "*.jsonl"):
            yield from _session(projects, {f"{project.name}/{path.name}": path})


def goose_session_files(sessions: Path) -> Iterator[AgentSession]:
    """`<session>.jsonl`, as Goose kept sessions before its database."""
    for path in _files(sessions, "*.jsonl"):
        yield from _session(sessions, {path.name: path})


def cline_tasks(storage: Path) -> Iterator[AgentSession]:
    """`tasks/<task>/api_conversation_history.json`."""
    for path in _files(storage / "tasks", "*/api_conversation_history.json"):
        for session in _session(storage, {f"{path.parent.name}/{path.name}": path}):
            yield AgentSession(path.parent.name, session.ended_at, storage, session.files)


def hash_of(project: str) -> str:
    """The hash by which older versions of Gemini CLI name the folder of a project."""
    return hashlib.sha256(project.encode()).hexdigest()


def _session(root: Path, files: dict[str, Path], known_folder: str | None = None) -> Iterator[AgentSession]:
    with suppress(FileNotFoundError):  # an agent deletes old sessions at any time
        yield of_files(root, files, known_folder)


def _files(folder: Path, pattern: str) -> list[Path]:
    """The files below a folder that match, links included, by path."""
    with suppress(OSError):
        return sorted(path for path in folder.glob(pattern) if not path.is_dir())
    return []


def _folders(folder: Path) -> Iterable[Path]:
    with suppress(OSError):
        return sorted(path for path in folder.iterdir() if path.is_dir())
    return []


def _session_of(path: Path) -> str | None:
    """The session that the file of a sub-agent names in its first line."""
    try:
        with opened(UPath(path)) as stream:
            first = orjson.loads(stream.readline(1 << 20))
    except (OSError, EOFError, ValueError):
        return None
    session = first.get("sessionId") if isinstance(first, dict) else None
    return session if isinstance(session, str) else None


def _root_of(project: Path) -> str | None:
    """The working directory of a project of Gemini CLI: in a file, or only as the hash of its path."""
    with suppress(OSError):
        return (project / ".project_root").read_text("utf-8").strip() or None
    return None if len(project.name) == _PLAIN_HASH else project.name
