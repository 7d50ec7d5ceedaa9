"""Copy what can be read of a damaged SQLite ledger into a new one."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from evaluation_assets.core.models.errors import LedgerError
from evaluation_assets.core.models.ledger import Ledger

_KEPT = ("replies", "settings", "batch_items")
"""Tables that are copied. Claims and reservations end by themselves."""

_AT_ONCE = 1000
_SMALLEST_ROW = 64
"""Bytes. Where the number of rows cannot be read, it is at most the size of the file by this."""


@dataclass(slots=True)
class Repaired:
    """What was kept: replies, the damaged file under its new name, and in how many ranges rows could not be read."""

    replies: int = 0
    damaged_file: Path | None = None
    unreadable: int = 0


@dataclass(slots=True)
class _Rows:
    """The rows of a table that can be read, in ranges of row ids around those that cannot."""

    damaged: sqlite3.Connection
    table: str
    unreadable: int = field(default=0, init=False)

    def between(self, first: int, end: int) -> Iterator[tuple[object, ...]]:
        query = f"SELECT * FROM {self.table} WHERE rowid >= ? AND rowid < ?"  # noqa: S608
        try:
            yield from self.damaged.execute(query, (first, end)).fetchall()
        except sqlite3.DatabaseError:
            if end - first == 1:
                self.unreadable += 1
                return
            middle = (first + end) // 2
            yield from self.between(first, middle)
            yield from self.between(middle, end)


def repair(file: Path) -> Repaired | None:
    """Replace a damaged ledger by a new one with all replies that can be read; `None` where it is not damaged.

    The damaged file is kept beside it, with the ending `.damaged`. No other process may use the ledger.

    Raises:
        LedgerError: nothing of it can be read, or there is no such file.
    """
    if not file.exists():
        raise LedgerError(f"there is no ledger {file}")
    new_file = file.with_name(f"{file.name}.new")
    new_file.unlink(missing_ok=True)
    done = Repaired()
    with closing(sqlite3.connect(file)) as damaged:
        if _is_whole(damaged):
            return None
        Ledger(f"sqlite:///{new_file}").close()
        with closing(sqlite3.connect(new_file)) as new:
            for table in _KEPT:
                done.unreadable += _copy(damaged, new, table, file.stat().st_size)
            new.commit()
            (done.replies,) = new.execute("SELECT count(*) FROM replies").fetchone()
    if not done.replies:
        new_file.unlink()
        raise LedgerError(f"nothing of the ledger {file} can be read: restore a copy, or move it away")
    done.damaged_file = file.with_name(f"{file.name}.damaged")
    for ending in ("", "-wal", "-shm"):
        if (part := file.with_name(f"{file.name}{ending}")).exists():
            part.replace(f"{done.damaged_file}{ending}")
    new_file.replace(file)
    return done


def _is_whole(ledger: sqlite3.Connection) -> bool:
    try:
        return ledger.execute("PRAGMA integrity_check(1)").fetchone() == ("ok",)
    except sqlite3.DatabaseError:
        return False


def _copy(damaged: sqlite3.Connection, new: sqlite3.Connection, table: str, size: int) -> int:
    """Copy the rows of a table; how many row ids could not be read."""
    try:
        end = (damaged.execute(f"SELECT max(rowid) FROM {table}").fetchone()[0] or 0) + 1  # noqa: S608
    except sqlite3.DatabaseError:
        end = size // _SMALLEST_ROW
    rows = _Rows(damaged, table)
    for first in range(1, end, _AT_ONCE):
        for row in rows.between(first, min(first + _AT_ONCE, end)):
            marks = ", ".join("?" * len(row))
            new.execute(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", row)  # noqa: S608
    return rows.unreadable
