"""Sessions of coding agents, where each agent keeps them."""

import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from evaluation_assets.core.intake.sources.store import StoreError, Trace
from evaluation_assets.core.intake.sources.stores.agent_sessions import Environment
from evaluation_assets.core.intake.sources.stores.coding_agents import CODING_AGENTS, CodingAgentStore
from evaluation_assets.core.intake.sources.stores.session_files import hash_of
from evaluation_assets_tests.coding_sessions import ClaudeSession, CodexSession

NOW = datetime(2026, 11, 20, tzinfo=UTC)


def _put(path: Path, text: str = "{}\n", *, age: timedelta = timedelta(hours=1)) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    modified = (NOW - age).timestamp()
    os.utime(path, (modified, modified))
    return path


def _traces(home: Path, agent: str, *, project: str | None = None, say: Any = print, **variables: str) -> list[Trace]:
    environment = Environment({"HOME": str(home), **variables})
    store = CodingAgentStore(CODING_AGENTS[agent], project, environment, say)
    return list(store.ended(NOW - timedelta(days=7), NOW, lambda _: True))


def session_of(trace: Trace) -> str:
    """The session's ID, from the name of its main file."""
    return trace.files[0][0].rsplit("/", 1)[-1].split(".")[0]


def _names(traces: list[Trace]) -> list[list[str]]:
    return [[name for name, _ in trace.files] for trace in traces]


_CHAT = "session-2026-11-19T10-00-1a2b3c4d"
_TASK = "17/api_conversation_history.json"
_STORAGE = "User/globalStorage"
FILES = [
    ("claude_code", ".claude/projects/-home-ada/5f0c.jsonl", "-home-ada/5f0c.jsonl"),
    ("claude_code", ".config/claude/projects/-home-ada/5f0c.jsonl", "-home-ada/5f0c.jsonl"),
    ("codex", ".codex/sessions/2026/11/19/rollout-2026-11-19T10-00-00-a.jsonl", "rollout-2026-11-19T10-00-00-a.jsonl"),
    ("codex", ".codex/sessions/2026/11/01/rollout-b.jsonl.zst", "rollout-b.jsonl.zst"),
    ("codex", ".codex/archived_sessions/rollout-c.jsonl", "rollout-c.jsonl"),
    ("gemini_cli", f".gemini/tmp/shop/chats/{_CHAT}.jsonl", f"shop/{_CHAT}.jsonl"),
    ("gemini_cli", f".gemini/tmp/shop/chats/{_CHAT}.json", f"shop/{_CHAT}.json"),
    ("qwen_code", ".qwen/projects/-home-ada/chats/q1.jsonl", "-home-ada/q1.jsonl"),
    ("goose", ".local/share/goose/sessions/20250601_1.jsonl", "20250601_1.jsonl"),
    ("cline", f".config/Code/{_STORAGE}/saoudrizwan.claude-dev/tasks/{_TASK}", _TASK),
    ("cline", f".config/Cursor/{_STORAGE}/rooveterinaryinc.roo-cline/tasks/{_TASK}", _TASK),
    ("cline", f".cline/data/tasks/{_TASK}", _TASK),
]  # fmt: skip


@pytest.mark.parametrize(("agent", "place", "name"), FILES, ids=[place for _, place, _ in FILES])
def test_the_files_of_each_agent_are_found(tmp_path: Path, agent: str, place: str, name: str) -> None:
    _put(tmp_path / place)
    assert _names(_traces(tmp_path, agent)) == [[name]]


@pytest.mark.parametrize(
    ("agent", "variable", "place"),
    [
        ("claude_code", "CLAUDE_CONFIG_DIR", "projects/-home-ada/5f0c.jsonl"),
        ("codex", "CODEX_HOME", "sessions/2026/11/19/rollout-a.jsonl"),
        ("gemini_cli", "GEMINI_CLI_HOME", ".gemini/tmp/shop/chats/session-2026-11-19T10-00-1a2b3c4d.jsonl"),
        ("qwen_code", "QWEN_HOME", "projects/-home-ada/chats/q1.jsonl"),
        ("qwen_code", "QWEN_RUNTIME_DIR", "projects/-home-ada/chats/q1.jsonl"),
        ("goose", "GOOSE_PATH_ROOT", "data/sessions/a.jsonl"),
        ("goose", "XDG_DATA_HOME", "goose/sessions/a.jsonl"),
        ("cline", "CLINE_DIR", "data/tasks/17/api_conversation_history.json"),
        ("cline", "CLINE_DATA_DIR", "tasks/17/api_conversation_history.json"),
    ],
)
def test_a_variable_moves_the_folder(tmp_path: Path, agent: str, variable: str, place: str) -> None:
    _put(tmp_path / "elsewhere" / place)
    assert len(_traces(tmp_path, agent, **{variable: str(tmp_path / "elsewhere")})) == 1
    assert _traces(tmp_path, agent) == []


@pytest.mark.parametrize(
    ("agent", "place"),
    [
        ("claude_code", ".claude/projects/-home-ada/sessions-index.json"),
        ("claude_code", ".claude/projects/-home-ada/memory/MEMORY.md"),
        ("claude_code", ".claude/projects/-home-ada/5f0c/tool-results/b1.txt"),
        ("claude_code", ".claude/history.jsonl"),
        ("codex", ".codex/history.jsonl"),
        ("codex", ".codex/auth.json"),
        ("gemini_cli", ".gemini/tmp/shop/logs.json"),
        ("gemini_cli", ".gemini/oauth_creds.json"),
        ("qwen_code", ".qwen/oauth_creds.json"),
        ("cline", ".cline/data/tasks/17/ui_messages.json"),
        ("opencode", ".local/share/opencode/auth.json"),
    ],
)
def test_other_files_are_not_taken(tmp_path: Path, agent: str, place: str) -> None:
    _put(tmp_path / place)
    assert _traces(tmp_path, agent) == []


def test_only_sessions_modified_in_the_window_are_given_in_their_order(tmp_path: Path) -> None:
    folder = tmp_path / ".codex" / "sessions" / "2026" / "11" / "01"
    for name, days in (("new", 1), ("older", 3), ("old", 8), ("future", -1)):
        _put(folder / f"rollout-{name}.jsonl", age=timedelta(days=days))
    traces = _traces(tmp_path, "codex")
    assert [session_of(trace) for trace in traces] == ["rollout-older", "rollout-new"]
    assert traces[0].ended_at == NOW - timedelta(days=3)


def test_sub_agents_of_claude_code_belong_to_their_session_also_if_they_are_older(tmp_path: Path) -> None:
    project = tmp_path / ".claude" / "projects" / "-home-ada"
    _put(project / "s1.jsonl")
    _put(project / "s1" / "subagents" / "agent-a1.jsonl", age=timedelta(days=30))
    _put(project / "agent-b1.jsonl", '{"sessionId": "s1", "isSidechain": true}\n', age=timedelta(days=30))
    (trace,) = _traces(tmp_path, "claude_code")
    assert session_of(trace) == "s1"
    assert [name for name, _ in trace.files] == [
        "-home-ada/s1.jsonl", "-home-ada/agent-b1.jsonl", "-home-ada/s1/subagents/agent-a1.jsonl",
    ]  # fmt: skip


def test_sub_agents_of_gemini_cli_belong_to_their_session(tmp_path: Path) -> None:
    chats = tmp_path / ".gemini" / "tmp" / "shop" / "chats"
    _put(chats / "session-2026-11-19T10-00-1a2b3c4d.jsonl")
    _put(chats / "1a2b3c4d-0000-4000-8000-000000000001" / "sub.jsonl")
    assert _names(_traces(tmp_path, "gemini_cli")) == [
        ["shop/session-2026-11-19T10-00-1a2b3c4d.jsonl", "shop/1a2b3c4d-0000-4000-8000-000000000001/sub.jsonl"]
    ]


def test_a_rollout_that_is_being_compressed_is_one_session(tmp_path: Path) -> None:
    folder = tmp_path / ".codex" / "sessions" / "2026" / "11" / "01"
    _put(folder / "rollout-a.jsonl")
    _put(folder / "rollout-a.jsonl.zst")
    assert _names(_traces(tmp_path, "codex")) == [["rollout-a.jsonl"]]


def test_what_cannot_be_taken_is_named_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    folder = tmp_path / ".codex" / "sessions"
    _put(folder / "rollout-large.jsonl", "x" * 100)
    (tmp_path / "secrets.jsonl").write_text("secret", "utf-8")
    (folder / "rollout-link.jsonl").symlink_to(tmp_path / "secrets.jsonl")
    os.utime(tmp_path / "secrets.jsonl", (NOW.timestamp() - 60, NOW.timestamp() - 60))
    monkeypatch.setattr("evaluation_assets.core.intake.sources.stores.coding_agents.LARGEST_FILE", 50)
    assert _traces(tmp_path, "codex", say=said.append) == []
    assert [line.rpartition("/")[2] for line in said] == [
        "rollout-large.jsonl: it is larger than 0 MB",
        "rollout-link.jsonl: it is a link that leads out of the folder",
    ]


def test_sessions_of_a_project_are_chosen_by_name_or_path(tmp_path: Path) -> None:
    shop, api = tmp_path / "work" / "shop", tmp_path / "work" / "api"
    projects = tmp_path / ".claude" / "projects"
    for name, folder in (("a", shop), ("b", shop / "backend"), ("c", api)):
        _put(projects / "-x" / f"{name}.jsonl", ClaudeSession(cwd=str(folder)).user("Go.").text())

    def chosen(project: str) -> list[str]:
        return sorted(session_of(trace) for trace in _traces(tmp_path, "claude_code", project=project))

    assert chosen("shop") == ["a", "b"]
    assert chosen(str(shop)) == ["a", "b"]
    assert chosen(f"{shop}/backend") == ["b"]
    assert chosen("sho") == []


@pytest.mark.parametrize(
    ("agent", "place", "text"),
    [
        ("codex", ".codex/sessions/rollout-a.jsonl", CodexSession(cwd="/code/shop").text()),
        ("qwen_code", ".qwen/projects/-x/chats/a.jsonl", '{"sessionId": "q", "cwd": "/code/shop"}\n'),
        ("goose", ".local/share/goose/sessions/a.jsonl", '{"working_dir": "/code/shop", "message_count": 0}\n'),
        (
            "cline",
            ".cline/data/tasks/1/api_conversation_history.json",
            json.dumps([{"content": "<environment_details>\n# Current Working Directory (/code/shop) Files\n"}]),
        ),
    ],
)
def test_the_project_of_each_agent_is_known(tmp_path: Path, agent: str, place: str, text: str) -> None:
    _put(tmp_path / place, text)
    assert len(_traces(tmp_path, agent, project="shop")) == 1
    assert len(_traces(tmp_path, agent, project="/code/shop")) == 1
    assert _traces(tmp_path, agent, project="/code/other") == []


def test_the_project_of_gemini_cli_is_in_a_file_or_a_hash(tmp_path: Path) -> None:
    named, hashed = (tmp_path / ".gemini" / "tmp" / name for name in ("shop", hash_of("/code/api")))
    for project in (named, hashed):
        _put(project / "chats" / "session-2026-11-19T10-00-1a2b3c4d.jsonl")
    _put(named / ".project_root", "/code/shop")
    assert _names(_traces(tmp_path, "gemini_cli", project="/code/shop"))[0][0].startswith("shop/")
    assert _names(_traces(tmp_path, "gemini_cli", project="/code/api"))[0][0].startswith(hash_of("/code/api"))


def _opencode(path: Path) -> None:
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(
            "CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, directory TEXT, title TEXT,"
            " version TEXT, time_created INTEGER, time_updated INTEGER);"
            "CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT);"
            "CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT);"
        )
        hour_ago = int((NOW - timedelta(hours=1)).timestamp() * 1000)
        rows = [("ses_1", None, hour_ago), ("ses_0", None, hour_ago - 8 * 86_400_000), ("ses_2", None, hour_ago + 1)]
        for name, parent, updated in rows:
            values = (name, "p", parent, "/code/shop", "Fix", "1.18.0", updated, updated)
            database.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values)
        for number, (role, part) in enumerate(
            [("user", {"type": "text", "text": "Fix it."}), ("assistant", {"type": "text", "text": "Done."})]
        ):
            data = json.dumps({"role": role, "time": {"created": hour_ago + number}, "modelID": "gpt-5"})
            database.execute("INSERT INTO message VALUES (?, 'ses_1', ?, ?)", (f"m{number}", hour_ago + number, data))
            database.execute(
                "INSERT INTO part VALUES (?, ?, 'ses_1', ?)", (f"p{number}", f"m{number}", json.dumps(part))
            )


def test_sessions_of_opencode_come_from_its_database(tmp_path: Path) -> None:
    _opencode(tmp_path / ".local" / "share" / "opencode" / "opencode.db")
    (trace,) = _traces(tmp_path, "opencode", project="shop")  # ses_2 has no messages
    assert trace.record is not None
    assert (trace.id, trace.record["info"]["directory"]) == ("ses_1", "/code/shop")
    assert [part["text"] for message in trace.record["messages"] for part in message["parts"]] == ["Fix it.", "Done."]
    store = CodingAgentStore(CODING_AGENTS["opencode"])
    assert store.id_of(trace.record) == "ses_1"


def test_sessions_of_older_versions_of_opencode_come_from_its_files(tmp_path: Path) -> None:
    storage = tmp_path / ".local" / "share" / "opencode" / "storage"
    updated = int((NOW - timedelta(hours=1)).timestamp() * 1000)
    info = {"id": "ses_9", "directory": "/code/shop", "time": {"created": updated, "updated": updated}}
    _put(storage / "session" / "p1" / "ses_9.json", json.dumps(info))
    _put(storage / "message" / "ses_9" / "msg_1.json", json.dumps({"id": "msg_1", "role": "user"}))
    _put(storage / "part" / "msg_1" / "prt_1.json", json.dumps({"type": "text", "text": "Fix it."}))
    (trace,) = _traces(tmp_path, "opencode")
    assert trace.record is not None
    assert trace.record["messages"][0]["parts"] == [{"type": "text", "text": "Fix it."}]


def _goose(path: Path) -> None:
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(
            "CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, session_type TEXT, working_dir TEXT,"
            " created_at TIMESTAMP, updated_at TIMESTAMP, model_config_json TEXT, accumulated_input_tokens INTEGER,"
            " accumulated_output_tokens INTEGER, parent_session_id TEXT);"
            "CREATE TABLE messages (id INTEGER PRIMARY KEY, message_id TEXT, session_id TEXT, role TEXT,"
            " content_json TEXT, created_timestamp INTEGER, metadata_json TEXT);"
        )
        for name, kind, parent in (("20261119_1", "user", None), ("20261119_2", "sub_agent", "20261119_1")):
            values = (name, "Fix", kind, "/code/shop", "2026-11-19 22:00:00", "2026-11-19 23:00:00", '{"model_name": "gpt-5"}', 10, 5, parent)  # fmt: skip  # noqa: E501
            database.execute("INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values)
            content = json.dumps([{"type": "text", "text": "Fix it."}])
            database.execute("INSERT INTO messages VALUES (NULL, 'm', ?, 'user', ?, 1795129200, NULL)", (name, content))


def test_sessions_of_goose_come_from_its_database_without_sub_agents(tmp_path: Path) -> None:
    _goose(tmp_path / ".local" / "share" / "goose" / "sessions" / "sessions.db")
    (trace,) = _traces(tmp_path, "goose", project="shop")
    assert trace.record is not None
    assert (trace.id, trace.ended_at) == ("20261119_1", datetime(2026, 11, 19, 23, tzinfo=UTC))
    assert trace.record["conversation"][0]["content"] == [{"type": "text", "text": "Fix it."}]
    assert trace.record["model_config"] == {"model_name": "gpt-5"}


@pytest.mark.parametrize(("agent", "make"), [("opencode", _opencode), ("goose", _goose)])
def test_a_database_is_not_written(tmp_path: Path, agent: str, make: Callable[[Path], None]) -> None:
    names = {"opencode": "opencode/opencode.db", "goose": "goose/sessions/sessions.db"}
    path = tmp_path / ".local" / "share" / names[agent]
    make(path)
    before = path.read_bytes()
    assert len(_traces(tmp_path, agent)) == 1
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("agent", "place"), [("opencode", "opencode/opencode.db"), ("goose", "goose/sessions/sessions.db")]
)
def test_a_database_that_cannot_be_read_is_an_error(tmp_path: Path, agent: str, place: str) -> None:
    _put(tmp_path / ".local" / "share" / place, "no database" * 1000)
    with pytest.raises(StoreError, match="cannot be read"):
        _traces(tmp_path, agent)


def test_an_empty_session_is_left_out_by_name(tmp_path: Path) -> None:
    _put(tmp_path / ".claude/projects/-home-ada/new.jsonl", "")
    _put(tmp_path / ".claude/projects/-home-ada/old.jsonl")
    said: list[str] = []
    assert [session_of(trace) for trace in _traces(tmp_path, "claude_code", say=said.append)] == ["old"]
    (line,) = said
    assert line.endswith("new.jsonl: it is empty")
