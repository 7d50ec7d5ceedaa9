"""SQLite with a write-ahead log: readers never wait, and a commit survives the death of the process."""

import sqlite3
from time import monotonic, sleep
from typing import Literal

_PAUSE_S = 0.01


def keep_log_ahead(
    connection: sqlite3.Connection, patience_s: int, synchronous: Literal["NORMAL", "FULL"] = "NORMAL"
) -> None:
    """Wait for locks from now on, and switch the file to a write-ahead log, which is done once.

    SQLite does not wait for a writer where it switches: of processes that open a new file at once, one is refused.

    Raises:
        sqlite3.OperationalError: the file is locked for longer than `patience_s`, or cannot be used.
    """
    connection.execute(f"PRAGMA busy_timeout = {1000 * patience_s}")
    end = monotonic() + patience_s
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            break
        except sqlite3.OperationalError as problem:
            if "locked" not in str(problem) or monotonic() > end:
                raise
            sleep(_PAUSE_S)
    connection.execute(f"PRAGMA synchronous = {synchronous}")
