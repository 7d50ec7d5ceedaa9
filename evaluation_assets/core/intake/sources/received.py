"""The spool of the receiver: spans and log records as they arrived, in SQLite, and the traces in it.

The receiver writes, sources read, in any number of processes. What was added survives a crash of the process and of the
machine.
"""

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby, pairwise
from operator import itemgetter
from pathlib import Path

from evaluation_assets.core.intake.sources.otlp.parts import Part
from evaluation_assets.core.intake.sources.otlp.records import record_of, trace_id_of
from evaluation_assets.core.intake.sources.store import StoreError, Trace, Wanted
from evaluation_assets.core.system.write_ahead import keep_log_ahead
from evaluation_assets.core.text.user_error import UserError
from evaluation_assets.core.traces.trajectories.model import JsonObject

ROOT_WAIT = timedelta(hours=1)
"""How long a trace without a root span may be silent. A root span ends last: an agent that waits for a person or for a
long tool call sends nothing meanwhile."""

LARGEST_TRACE = 64 << 20
"""Bytes of a trace. Readers refuse records of more than twice that."""

_PATIENCE_S = 30
_SCHEMA = """
CREATE TABLE IF NOT EXISTS parts (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  trace TEXT NOT NULL,
  signal TEXT NOT NULL,
  arrived_at REAL NOT NULL,
  has_root INTEGER NOT NULL,
  items INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  content BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS parts_of_traces ON parts (trace, arrived_at, has_root, bytes);
CREATE INDEX IF NOT EXISTS parts_by_arrival ON parts (arrived_at, trace);
"""
_REMEDIES = (
    ("full", "its disk or the spool's limit is full: free some space, or raise --max-spool-gb"),
    ("readonly", "it is read-only: make the file and its folder writable"),
    ("unable to open", "it cannot be opened: check that its folder exists and is writable"),
    ("not a database", "it is not a spool: move the file away; a new one is created"),
    ("malformed", "it is damaged: move the file away; a new one is created"),
    ("locked", "another process keeps it locked"),
)


class SpoolError(UserError):
    """The spool cannot be read or written; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Added:
    """What was added to the spool: traces that it did not have, and items that were refused, with the reason."""

    new_traces: int
    refused: int
    reason: str


class Spool:
    """The writing side. Methods may be called from several threads.

    Raises:
        SpoolError: the spool cannot be opened; every method may raise it too.
    """

    def __init__(self, path: Path, max_bytes: int, largest_trace: int = LARGEST_TRACE) -> None:
        self._path = path
        self._largest_trace = largest_trace
        self._lock = threading.Lock()
        with _explained(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = _connected(path)
            self._connection.executescript(_SCHEMA)
            (page_bytes,) = self._connection.execute("PRAGMA page_size").fetchone()
            self._connection.execute(f"PRAGMA max_page_count = {max(1, max_bytes // page_bytes)}")

    def add(self, parts: Sequence[Part], arrived_at: float) -> Added:
        """Add the parts of a request; they are durable when this returns.

        Parts that would make a trace larger than the largest that is read are refused.
        """
        new_traces = refused = 0
        if not parts:
            return Added(0, 0, "")
        with self._lock, _explained(self._path), _transaction(self._connection):
            for part in parts:
                (known,) = self._connection.execute(
                    "SELECT sum(bytes) FROM parts WHERE trace = ?", (part.trace,)
                ).fetchone()
                if (known or 0) + len(part.content) > self._largest_trace:
                    refused += part.items
                    continue
                new_traces += known is None
                self._connection.execute(
                    "INSERT INTO parts (trace, signal, arrived_at, has_root, items, bytes, content) "
                    "VALUES (?, ?, ?, ?, ?, ?, ?)",
                    (
                        part.trace,
                        part.signal,
                        arrived_at,
                        part.has_root,
                        part.items,
                        len(part.content),
                        part.content,
                    ),
                )
        return Added(new_traces, refused, f"a trace has more than {self._largest_trace:,} bytes" if refused else "")

    def expire(self, before: float) -> int:
        """Delete the traces whose last part arrived before a time; return their number."""
        with self._lock, _explained(self._path), _transaction(self._connection):
            silent = "SELECT trace FROM parts GROUP BY trace HAVING max(arrived_at) < ?"
            (traces,) = self._connection.execute(f"SELECT count(*) FROM ({silent})", (before,)).fetchone()  # noqa: S608
            self._connection.execute(f"DELETE FROM parts WHERE trace IN ({silent})", (before,))  # noqa: S608
        return traces

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            self._connection.close()


class ReceivedTraces:
    """The trace store over a spool.

    A trace has ended when nothing of it arrived for `quiet`, or for an hour while it has no root span. Its end is when
    its last part before that silence arrived, by the clock of the receiver, because clocks of agents differ; parts that
    arrive later do not move it.
    """

    def __init__(self, path: Path, quiet: timedelta, clock: Callable[[], float] = time.time) -> None:
        self._path = path
        self._quiet = quiet.total_seconds()
        self._wait = max(quiet, ROOT_WAIT).total_seconds()
        self._clock = clock

    def ended(self, after: datetime, until: datetime, wanted: Wanted) -> Iterator[Trace]:
        """Yield the wanted traces that ended in `(after, until]`, in order of their ends, with all that arrived."""
        with self._opened() as connection:
            for end, trace in sorted(self._ends(connection, after - timedelta(seconds=self._wait), until)):
                if after.timestamp() < end.closed_at <= until.timestamp() and wanted(trace):
                    yield _trace(connection, trace, end)

    def late(self, after: datetime, until: datetime) -> Iterator[Trace]:
        """Yield the traces of which spans arrived in `(after, until]`, after their end."""
        with self._opened() as connection:
            for end, trace in self._ends(connection, after, until):
                if end.is_late and end.last_at <= until.timestamp():
                    yield _trace(connection, trace, end)

    def id_of(self, record: JsonObject) -> str | None:
        return trace_id_of(record)

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """A connection to the spool; to an empty one while nothing was received."""
        try:
            with _explained(self._path):
                connection = _connected(self._path) if self._path.exists() else sqlite3.connect(":memory:")
                with closing(connection):
                    connection.executescript(_SCHEMA)
                    yield connection
        except SpoolError as problem:
            raise StoreError(str(problem)) from None

    def _ends(self, connection: sqlite3.Connection, after: datetime, until: datetime) -> Iterator[tuple["_End", str]]:
        """The ends of the traces of which something arrived in a span of time."""
        rows = connection.execute(
            "SELECT trace, arrived_at, has_root FROM parts WHERE trace IN "
            "(SELECT trace FROM parts WHERE arrived_at > ? AND arrived_at <= ?) ORDER BY trace, arrived_at",
            (after.timestamp(), until.timestamp()),
        )
        for trace, arrivals in groupby(rows.fetchall(), key=itemgetter(0)):
            end = self._end([(at, bool(root)) for _, at, root in arrivals])
            if end is not None:
                yield end, trace

    def _end(self, arrivals: Sequence[tuple[float, bool]]) -> "_End | None":
        """The end of a trace by the times of its arrivals; `None` if more is expected.

        The end of one without a root span is put off by as much as it waits longer, so that no look is past it when the
        wait is over.
        """
        has_root = False
        for (arrived_at, is_root), (next_at, _) in pairwise([*arrivals, (self._clock(), False)]):
            has_root = has_root or is_root
            wait = self._quiet if has_root else self._wait
            if next_at - arrived_at >= wait:
                return _End(arrived_at + wait - self._quiet, arrivals[-1][0], arrived_at < arrivals[-1][0])
        return None


@dataclass(frozen=True, slots=True, order=True)
class _End:
    """When a trace ended, when its last part arrived, and whether that was after its end."""

    closed_at: float
    last_at: float
    is_late: bool


def _trace(connection: sqlite3.Connection, trace: str, end: _End) -> Trace:
    rows = connection.execute("SELECT content FROM parts WHERE trace = ? ORDER BY number", (trace,))
    record = record_of(content for (content,) in rows)
    return Trace(id=trace, ended_at=datetime.fromtimestamp(end.closed_at, UTC), record=record)


def _connected(path: Path) -> sqlite3.Connection:
    """A connection that waits for other processes; each commit reaches the disk before it returns."""
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    keep_log_ahead(connection, _PATIENCE_S, "FULL")
    return connection


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """What SQLite and the file system raise inside, as a `SpoolError` with a remedy."""
    try:
        yield
    except (sqlite3.Error, OSError) as problem:
        said = str(problem)
        remedy = next((remedy for words, remedy in _REMEDIES if words in said), said)
        raise SpoolError(f"the spool {path}: {remedy}") from None
