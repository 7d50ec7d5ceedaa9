"""Dagster's SQLite files without a disk sync at each commit: a run of one record makes hundreds of commits."""

import sqlite3
from pathlib import Path
from typing import Any

from sqlalchemy import event
from sqlalchemy.engine import Engine


def sync_at_checkpoints(folder: Path) -> None:
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
