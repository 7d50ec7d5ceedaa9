"""Sessions of opencode and Goose, which keep them in SQLite, as records in the form that the agents export.

Databases are opened for reading only. Older versions of opencode kept the same objects as one file each.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import orjson

from evaluation_assets.core.intake.sources.store import StoreError
from evaluation_assets.core.intake.sources.stores.agent_sessions import AgentSession
from evaluation_assets.core.traces.trajectories.model import JsonObject

_SUB_AGENTS = ("subagent", "sub_agent")
_OF_SESSION = ("id", "name", "description", "working_dir", "created_at", "updated_at", "schedule_id")
_COUNTED = ("accumulated_input_tokens", "accumulated_output_tokens", "accumulated_total_tokens", "accumulated_cost")


def opencode_sessions(database: Path, storage: Path) -> Iterator[AgentSession]:
    """Sessions of the database, and those that are only in the folder `storage` of older versions.

    Raises:
        StoreError: the database cannot be read.
    """
    known: set[str] = set()
    if database.is_file():
        for row in _rows(database, "SELECT id, parent_id, directory, title, version, time_updated FROM session"):
            known.add(row["id"])
            ended = _of_milliseconds(row["time_updated"])
            load = partial(_opencode_record, database, row)
            yield AgentSession(row["id"], ended, database.parent, load=load, known_folder=row["directory"])
    for path in sorted(storage.glob("session/*/*.json")):
        info = _object(path)
        if not isinstance(info.get("id"), str) or info["id"] in known:
            continue
        updated = info["time"].get("updated") if isinstance(info.get("time"), dict) else None
        ended = _of_milliseconds(updated if isinstance(updated, int) else path.stat().st_mtime * 1000)
        folder = info.get("directory")
        load = partial(_stored_record, storage, info)
        yield AgentSession(
            info["id"], ended, storage, load=load, known_folder=folder if isinstance(folder, str) else None
        )


def goose_sessions(database: Path) -> Iterator[AgentSession]:
    """Sessions of the database that have messages, without those of sub-agents.

    Raises:
        StoreError: the database cannot be read.
    """
    if not database.is_file():
        return
    for row in _rows(database, "SELECT * FROM sessions"):
        if row.get("parent_session_id") is None and row.get("session_type") not in _SUB_AGENTS:
            ended = _of_text(row.get("updated_at") or row.get("created_at"))
            load = partial(_goose_record, database, row)
            yield AgentSession(row["id"], ended, database.parent, load=load, known_folder=row.get("working_dir"))


def _opencode_record(database: Path, row: JsonObject) -> JsonObject:
    """A session as `opencode export` writes it."""
    parts: dict[str, list[JsonObject]] = defaultdict(list)
    for part in _rows(database, "SELECT id, message_id, data FROM part WHERE session_id = ? ORDER BY id", row["id"]):
        parts[part["message_id"]].append({"id": part["id"], **_json(part["data"], {})})
    messages = _rows(database, "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id", row["id"])
    return {
        "info": {"id": row["id"], "parentID": row["parent_id"], **_named(row, "directory", "title", "version")},
        "messages": [
            {"info": {"id": message["id"], **_json(message["data"], {})}, "parts": parts[message["id"]]}
            for message in messages
        ],
    }


def _stored_record(storage: Path, info: JsonObject) -> JsonObject:
    messages = [_object(path) for path in sorted((storage / "message" / info["id"]).glob("*.json"))]
    return {
        "info": info,
        "messages": [
            {
                "info": message,
                "parts": [_object(path) for path in sorted((storage / "part" / str(message.get("id"))).glob("*.json"))],
            }
            for message in messages
        ],
    }


def _goose_record(database: Path, row: JsonObject) -> JsonObject:
    """A session as `goose session export --format json` writes it."""
    columns = {column["name"] for column in _rows(database, "PRAGMA table_info(messages)")}
    metadata = "metadata_json" if "metadata_json" in columns else "NULL"
    query = (
        f"SELECT message_id, role, content_json, created_timestamp, {metadata} AS metadata_json "  # noqa: S608
        "FROM messages WHERE session_id = ? ORDER BY created_timestamp, id"
    )
    conversation = [
        {
            "id": message["message_id"],
            "role": message["role"],
            "created": message["created_timestamp"],
            "content": _json(message["content_json"], []),
            "metadata": _json(message["metadata_json"], {}),
        }
        for message in _rows(database, query, row["id"])
    ]
    return {
        **_named(row, *_OF_SESSION, *_COUNTED),
        "model_config": _json(row.get("model_config_json"), {}),
        "message_count": len(conversation),
        "conversation": conversation,
    }


def _named(row: JsonObject, *names: str) -> JsonObject:
    return {name: row[name] for name in names if row.get(name) is not None}


def _rows(database: Path, query: str, *values: str) -> list[JsonObject]:
    try:
        with closing(sqlite3.connect(f"file:{quote(str(database))}?mode=ro", uri=True)) as connection:
            connection.row_factory = sqlite3.Row
            return [dict(row) for row in connection.execute(query, values)]
    except sqlite3.Error as problem:
        raise StoreError(
            f"{database} cannot be read: {problem}. Is it of a version that is not supported?"
        ) from problem


def _json(document: Any, missing: Any) -> Any:
    """The value of a JSON column; that of a missing or damaged one has no content."""
    with suppress(orjson.JSONDecodeError, TypeError):
        parsed = orjson.loads(document)
        return parsed if isinstance(parsed, type(missing)) else missing
    return missing


def _object(path: Path) -> JsonObject:
    with suppress(OSError):
        return _json(path.read_bytes(), {})
    return {}


def _of_milliseconds(value: float) -> datetime:
    return datetime.fromtimestamp(value / 1000, UTC)


def _of_text(value: Any) -> datetime:
    """A time of SQLite, which is in UTC."""
    try:
        time = datetime.fromisoformat(str(value))
    except ValueError:
        return datetime.fromtimestamp(0, UTC)
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)
