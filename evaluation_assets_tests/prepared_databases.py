"""Dagster's databases in memory, copied from one that is made once a process.

Dagster takes 0.05 s of CPU for an instance in memory, and opens a connection for each query.
"""

import shutil
import sqlite3
import tempfile
import threading
import uuid
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import sqlalchemy
from dagster import DagsterInstance
from dagster._core.storage import event_log, runs
from dagster._core.storage.event_log import InMemoryEventLogStorage
from dagster._core.storage.runs import InMemoryRunStorage
from dagster._core.storage.sqlite import create_in_memory_conn_string
from sqlalchemy import event

from evaluation_assets.resources.new_databases import create_databases


class _PreparedRuns(InMemoryRunStorage):
    """Runs in memory, in a copy of the database that Dagster has made, whose connections stay open."""

    def __init__(self, preload: object = None) -> None:
        self._engine, self._held_conn = _copied("history/runs.db")

    @contextmanager
    def connect(self) -> Iterator[sqlalchemy.Connection]:
        with self._engine.begin() as connection:
            yield connection


class _PreparedEvents(InMemoryEventLogStorage):
    """Events in memory, in a copy of the database that Dagster has made, whose connections stay open."""

    def __init__(self, inst_data: Any = None, preload: object = None) -> None:
        self._inst_data = inst_data
        self._engine, self._held_conn = _copied("history/runs/index.db")
        self._handlers = defaultdict(set)
        self._storage_id = 0
        self._db_lock = threading.Lock()
        self._tables = set(sqlalchemy.inspect(self._held_conn).get_table_names())

    @contextmanager
    def _connect(self) -> Iterator[sqlalchemy.Connection]:
        with self._db_lock, self._engine.begin() as connection:
            yield connection

    def has_table(self, table_name: str) -> bool:
        return table_name in self._tables

    def dispose(self) -> None:
        self._held_conn.close()
        self._engine.dispose()


def _copied(file: str) -> tuple[sqlalchemy.Engine, sqlalchemy.Connection]:
    """A database in memory with the content of a file, and the connection that keeps it."""
    engine = sqlalchemy.create_engine(
        create_in_memory_conn_string(uuid.uuid4().hex),
        poolclass=sqlalchemy.QueuePool,
        connect_args={"check_same_thread": False},
    )
    event.listen(engine, "connect", lambda connection, _: connection.execute("PRAGMA foreign_keys=ON"))
    kept = engine.connect()
    target, content = kept.connection.driver_connection, made()[file]
    assert target is not None
    with closing(sqlite3.connect(":memory:")) as prepared:
        prepared.deserialize(content[:18] + b"\1\1" + content[20:])  # in memory there is no write-ahead log
        prepared.backup(target)
    return engine, kept


def copy_records(done: DagsterInstance, new: DagsterInstance) -> None:
    """Record all that one instance in memory has recorded in another one."""
    for kept, fresh in ((done.run_storage, new.run_storage), (done.event_log_storage, new.event_log_storage)):
        _database(kept).backup(_database(fresh))


def _database(storage: object) -> sqlite3.Connection:
    assert isinstance(storage, _PreparedRuns | _PreparedEvents)
    found = storage._held_conn.connection.driver_connection
    assert isinstance(found, sqlite3.Connection)
    return found


@cache
def made() -> dict[str, bytes]:
    """The files of a new home, by their place in it."""
    folder = Path(tempfile.mkdtemp())
    try:
        create_databases(folder)
        return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*.db")}
    finally:
        shutil.rmtree(folder)


def use_prepared_databases() -> None:
    """Make new databases in memory from prepared ones, in this process and in those forked from it."""
    runs.InMemoryRunStorage = _PreparedRuns
    event_log.InMemoryEventLogStorage = _PreparedEvents
