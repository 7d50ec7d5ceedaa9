"""Dagster's SQLite files with connections that stay open, and without a disk sync at each commit.

A run of one record makes hundreds of commits. Dagster opens and closes a connection for each; closing the last one of a
file copies the write-ahead log and deletes it, which takes longer than the commit.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Self

import dagster as dg
import sqlalchemy
import yaml
from sqlalchemy import create_engine, event
from sqlalchemy.engine import Connection, Engine

from evaluation_assets.resources.dagster_private import (
    INDEX_SHARD_NAME,
    SQLITE_BUSY_TIMEOUT_SECONDS,
    DagsterSqliteStorage,
    InstanceRef,
    SqliteEventLogStorage,
    SqliteRunStorage,
    SqliteScheduleStorage,
    create_db_conn_string,
    keep_handlers,
)
from evaluation_assets.resources.new_databases import create_databases, remove_side_files

_OPEN_RUNS = 4
"""Event logs of runs that stay open: Dagster has one file for each run."""

_OWN_STORAGE = {"storage", "run_storage", "event_log_storage", "schedule_storage"}
"""Keys of `dagster.yaml` that choose where Dagster stores its events."""


def open_instance(folder: Path) -> dg.DagsterInstance:
    """The Dagster instance of a folder. What its `dagster.yaml` says about storage holds; the default is SQLite."""
    settings = folder / "dagster.yaml"
    configured = yaml.safe_load(settings.read_text("utf-8")) if settings.exists() else None
    if _OWN_STORAGE & set(configured or {}):
        return keep_handlers(dg.DagsterInstance.get())
    storage = {"module": __name__, "class": "OpenSqliteStorage", "config": {"base_dir": str(folder)}}
    named = InstanceRef.from_dir(str(folder), overrides={"storage": {"custom": storage}})
    return keep_handlers(dg.DagsterInstance.from_ref(named))


def is_of_one_machine(instance: dg.DagsterInstance) -> bool:
    """Whether the instance is in SQLite files; a database server may be shared by several machines."""
    return isinstance(instance.event_log_storage, SqliteEventLogStorage)


def remove_event_log(instance: dg.DagsterInstance, run_id: str) -> None:
    """Remove the file with the events of a deleted run. Dagster only empties it, and SQLite never makes it smaller."""
    storage = instance.event_log_storage
    if isinstance(storage, SqliteEventLogStorage):
        file = Path(storage.path_for_shard(run_id))
        file.unlink(missing_ok=True)
        remove_side_files(file)


class OpenEventLog(SqliteEventLogStorage):
    """Event logs whose connections stay open."""

    def __init__(self, base_dir: str) -> None:
        self._engines: dict[str, Engine] = {}
        self._tables: set[str] = set()
        super().__init__(base_dir)

    def _initdb(self, engine: Engine, for_index_shard: bool = False) -> None:
        """Create the tables of a new file in one transaction: those of the index, which are the same.

        Dagster loads all its migrations for each file, which takes a tenth of the CPU of a small run.
        """
        tables = sqlalchemy.inspect(engine).get_table_names()
        if not tables and not for_index_shard:
            self._copy_tables(engine)
        elif "alembic_version" not in tables:  # Dagster was killed while it created the file
            super()._initdb(engine, for_index_shard)

    def _copy_tables(self, engine: Engine) -> None:
        with engine.connect() as connection, closing(sqlite3.connect(self.path_for_shard(INDEX_SHARD_NAME))) as index:
            connection.exec_driver_sql("PRAGMA journal_mode=WAL")
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            if not sqlalchemy.inspect(connection).get_table_names():  # no other process has created them meanwhile
                for (statement,) in index.execute("SELECT sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'"):
                    connection.exec_driver_sql(statement)
                for version in index.execute("SELECT version_num FROM alembic_version"):
                    connection.exec_driver_sql("INSERT INTO alembic_version VALUES (?)", version)
            connection.commit()

    def has_table(self, table_name: str) -> bool:
        """Whether a table exists. Dagster asks for each event and each query; tables are never removed."""
        if table_name not in self._tables and super().has_table(table_name):
            self._tables.add(table_name)
        return table_name in self._tables

    @contextmanager
    def _connect(self, shard: str) -> Iterator[Connection]:
        with self._db_lock:
            engine = self._engines.pop(shard, None) or _engine(self.conn_string_for_shard(shard))
            self._engines[shard] = engine  # the last used comes last
            if shard not in self._initialized_dbs:
                self._initdb(engine)
                self._initialized_dbs.add(shard)
            with engine.begin() as connection:
                yield connection
            runs = [each for each in self._engines if each != INDEX_SHARD_NAME]
            for unused in runs[:-_OPEN_RUNS]:
                self._engines.pop(unused).dispose()

    def dispose(self) -> None:
        """Close all connections."""
        super().dispose()
        while self._engines:
            self._engines.popitem()[1].dispose()


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
