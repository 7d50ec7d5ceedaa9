"""Runs that Dagster is made to forget."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path

import dagster as dg
import sqlalchemy as db

from evaluation_assets.resources.dagster_private import (
    INDEX_SHARD_NAME,
    SQLITE_BUSY_TIMEOUT_SECONDS,
    AssetCheckExecutionsTable,
    AssetKeyTable,
    SqlEventLogStorage,
    SqlEventLogStorageTable,
    SqliteEventLogStorage,
)
from evaluation_assets.resources.sqlite_storage import remove_event_log


def delete_runs(instance: dg.DagsterInstance, runs: Sequence[str]) -> None:
    """Delete runs with their events and logs."""
    for run in runs:
        instance.delete_run(run)
        instance.compute_log_manager.delete_logs(prefix=[run])
        remove_event_log(instance, run)


def erase_runs(instance: dg.DagsterInstance, runs: Sequence[str]) -> None:
    """Delete runs and what Dagster keeps of them: checks, and what an asset shows as its newest materialisation.

    The pages of deleted rows stay in an SQLite file until it is written anew.
    """
    delete_runs(instance, runs)
    storage = instance.event_log_storage
    if not isinstance(storage, SqlEventLogStorage):
        return
    checks, assets = AssetCheckExecutionsTable, AssetKeyTable
    with storage.index_connection() as connection:
        connection.execute(checks.delete().where(checks.c.run_id.in_(runs)))
        shown = connection.execute(db.select(assets.c.asset_key).where(assets.c.last_run_id.in_(runs))).fetchall()
        for (asset,) in shown:
            connection.execute(assets.update().where(assets.c.asset_key == asset).values(_newest(connection, asset)))
    if isinstance(storage, SqliteEventLogStorage):
        events = Path(storage.path_for_shard(INDEX_SHARD_NAME))
        for file in (events, events.parent.parent / "runs.db"):
            _write_anew(file)


def _newest(connection: db.Connection, asset: str) -> dict[str, str | None]:
    events = SqlEventLogStorageTable
    of_asset = (events.c.asset_key == asset) & (
        events.c.dagster_event_type == dg.DagsterEventType.ASSET_MATERIALIZATION.value
    )
    newest = db.select(events.c.event, events.c.run_id).where(of_asset).order_by(events.c.id.desc()).limit(1)
    event, run = connection.execute(newest).fetchone() or (None, None)
    return {"last_materialization": event, "last_run_id": run}


def _write_anew(file: Path) -> None:
    """Write an SQLite file without what was deleted from it. While a run holds it, this waits, and then gives up."""
    if not file.exists():
        return
    with suppress(sqlite3.OperationalError), closing(sqlite3.connect(file, SQLITE_BUSY_TIMEOUT_SECONDS)) as connection:
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
