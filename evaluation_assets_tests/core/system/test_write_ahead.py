"""SQLite files that several processes open at once."""

import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from evaluation_assets.core.intake.sources.received import Spool
from evaluation_assets.core.models.ledger import Ledger
from evaluation_assets.core.system.write_ahead import keep_log_ahead


def in_use(path: Path) -> sqlite3.Connection:
    """A connection that has begun to write to a file without a write-ahead log."""
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute("CREATE TABLE begun (name TEXT)")
    connection.execute("BEGIN IMMEDIATE")
    return connection


@pytest.mark.parametrize(
    "opened",
    [lambda path: Ledger(f"sqlite:///{path}"), lambda path: Spool(path, 1 << 20)],
    ids=["ledger", "received traces"],
)
def test_who_opens_a_new_file_waits_for_who_writes_to_it(tmp_path: Path, opened: Callable[[Path], object]) -> None:
    path = tmp_path / "file.sqlite"
    with closing(in_use(path)) as other:
        done = threading.Timer(0.3, lambda: other.execute("COMMIT"))
        done.start()
        try:
            opened(path)
        finally:
            done.join()


def test_a_file_that_stays_locked_is_given_up(tmp_path: Path) -> None:
    path = tmp_path / "file.sqlite"
    with (
        closing(in_use(path)),
        closing(sqlite3.connect(path)) as connection,
        pytest.raises(sqlite3.OperationalError, match="locked"),
    ):
        keep_log_ahead(connection, 0)
