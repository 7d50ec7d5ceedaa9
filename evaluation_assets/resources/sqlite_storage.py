"""Dagster's SQLite files: one with the events of all runs, connections that stay open, no disk sync at each commit.

A run of one record makes a hundred commits. Dagster opens and closes a connection for each; closing the last one of a
file copies the write-ahead log and deletes it, which takes longer than the commit.
"""

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Self

import dagster as dg
from sqlalchemy import create_engine, event
from sqlalchemy.engine import Connection, Engine
from watchdog.events import EVENT_TYPE_MODIFIED, FileSystemEvent
from watchdog.observers import Observer

from evaluation_assets.resources.dagster_private import (
    INDEX_SHARD_NAME,
    SQLITE_BUSY_TIMEOUT_SECONDS,
    DagsterSqliteStorage,
    SqlEventLogStorage,
    SqliteEventLogStorage,
    SqliteEventLogStorageWatchdog,
    SqliteRunStorage,
    SqliteScheduleStorage,
    create_db_conn_string,
)
from evaluation_assets.resources.new_databases import create_databases, remove_side_files


def is_of_one_machine(instance: dg.DagsterInstance) -> bool:
    """Whether the instance is in SQLite files; a database server may be shared by several machines."""
    return isinstance(instance.event_log_storage, SqliteEventLogStorage)


def remove_event_log(instance: dg.DagsterInstance, run_id: str) -> None:
    """Remove the file with the events of a deleted run, if it has one. Dagster only empties it."""
    storage = instance.event_log_storage
    if isinstance(storage, SqliteEventLogStorage):
        file = Path(storage.path_for_shard(run_id))
        file.unlink(missing_ok=True)
        remove_side_files(file)


class OpenEventLog(SqliteEventLogStorage):
    """The events of all runs in one file, whose connection stays open.

    Dagster has one more file for each run, and writes most events to both. Runs that have a file keep it.
    """

    def __init__(self, base_dir: str) -> None:
        self._tables: set[str] = set()
        super().__init__(base_dir)
        self._engine = _engine(self.conn_string_for_shard(INDEX_SHARD_NAME))

    @property
    def is_run_sharded(self) -> bool:
        """Whether each run has a file."""
        return False

    def has_table(self, table_name: str) -> bool:
        """Whether a table exists. Dagster asks for each event and each query; tables are never removed."""
        if table_name not in self._tables and super().has_table(table_name):
            self._tables.add(table_name)
        return table_name in self._tables

    def store_event(self, event: dg.EventLogEntry) -> None:
        """Store an event of a run."""
        kind = SqliteEventLogStorage if self._has_file(event.run_id) else SqlEventLogStorage
        kind.store_event(self, event)

    def get_event_records(self, *args: Any, **kwargs: Any) -> Sequence[dg.EventLogRecord]:
        """Events of all runs; see Dagster for the filters."""
        return SqlEventLogStorage.get_event_records(self, *args, **kwargs)

    def watch(self, run_id: str, cursor: str | None, callback: Callable[..., Any]) -> None:
        """Call back with each event of a run that is stored after `cursor`, until its last: for pages of runs."""
        if self._has_file(run_id):
            super().watch(run_id, cursor, callback)
            return
        if self._obs is None:
            self._obs = Observer()
            self._obs.start()
        events = _EventsOfRun(self, run_id, callback, cursor)
        self._watchers[run_id][callback] = (events, self._obs.schedule(events, self._base_dir))

    @contextmanager
    def _connect(self, shard: str) -> Iterator[Connection]:
        if self._has_file(shard):
            with super()._connect(shard) as connection:
                yield connection
        else:
            with self._engine.begin() as connection:
                yield connection

    def _has_file(self, run_id: str) -> bool:
        return run_id != INDEX_SHARD_NAME and Path(self.path_for_shard(run_id)).exists()

    def dispose(self) -> None:
        """Close all connections."""
        super().dispose()
        self._engine.dispose()


class _EventsOfRun(SqliteEventLogStorageWatchdog):
    """Reads the new events of a run when the file of all runs changes.

    Dagster watches for changes of the file itself, which come late while a connection is open: SQLite writes beside it.
    """

    def dispatch(self, event: FileSystemEvent) -> None:
        """Called for each change of a file in the folder."""
        changed = Path(os.fsdecode(event.src_path)).name
        if event.event_type == EVENT_TYPE_MODIFIED and changed in {
            f"{INDEX_SHARD_NAME}.db",
            f"{INDEX_SHARD_NAME}.db-wal",
        }:
            self._process_log()


class OpenRuns(SqliteRunStorage):
    """The storage of runs, whose connection stays open."""

    def __init__(self, conn_string: str, inst_data: Any = None) -> None:
        self._engine = _engine(conn_string)
        super().__init__(conn_string, inst_data)

    @contextmanager
    def connect(self) -> Iterator[Connection]:
        """A transaction."""
        with self._engine.begin() as connection:
            yield connection

    def dispose(self) -> None:
        """Close all connections."""
        super().dispose()
        self._engine.dispose()


class OpenSqliteStorage(DagsterSqliteStorage):
    """Dagster's default storage, with connections that stay open while the instance is."""

    def __init__(self, base_dir: str, inst_data: Any = None) -> None:
        super(DagsterSqliteStorage, self).__init__()  # its parent would open the storages that are replaced here
        self.base_dir = base_dir
        create_databases(Path(base_dir))
        _sync_at_checkpoints(Path(base_dir))
        self._inst_data = inst_data
        history = Path(base_dir) / "history"
        self._run_storage = OpenRuns(create_db_conn_string(str(history), "runs"))
        self._event_log_storage = OpenEventLog(str(history / "runs"))
        self._schedule_storage = SqliteScheduleStorage(
            create_db_conn_string(str(Path(base_dir) / "schedules"), "schedules")
        )

    @classmethod
    def from_config_value(cls, inst_data: Any, config_value: Any) -> Self:
        """The storage of the folder `base_dir`."""
        return cls.from_local(inst_data=inst_data, **config_value)


def _engine(url: str) -> Engine:
    """An engine with a pool: the heartbeat of a run writes beside it, from a thread of its own."""
    return create_engine(url, connect_args={"timeout": SQLITE_BUSY_TIMEOUT_SECONDS})


@cache
def _sync_at_checkpoints(folder: Path) -> None:
    """Let SQLite files below a folder sync at checkpoints of the write-ahead log, not at each commit.

    A killed process loses nothing. A power cut may lose the last events of a run, which then counts as lost and is
    repeated from what is paid: tables and the ledger are synced at once. Source: https://sqlite.org/pragma.html
    """
    below = f"{folder.resolve()}/"

    def relax(connection: Any, _: object) -> None:
        if isinstance(connection, sqlite3.Connection):
            place = connection.execute("PRAGMA database_list").fetchone()[2]
            if place.startswith(below):
                connection.execute("PRAGMA synchronous=NORMAL")

    event.listen(Engine, "connect", relax)
