"""Transactions of the ledger that are made for each question: SQLAlchemy takes several times as long as SQLite.

The statements are SQL with `:names`. SQLite runs them on a connection of its own, on which they stay prepared; other
databases run them through SQLAlchemy.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from threading import RLock
from typing import Any, Protocol, TypeVar

import sqlalchemy as sa
from sqlalchemy import event

from evaluation_assets.core.system.write_ahead import keep_log_ahead

T = TypeVar("T")

_PATIENCE_S = 60
"""How long another process is waited for."""


class Cursor(Protocol):
    """What a statement gave."""

    @property
    def rowcount(self) -> int:
        """Rows that were written."""
        ...

    def fetchall(self) -> Sequence[Any]:
        """The rows that were found."""
        ...


Run = Callable[[str, Mapping[str, Any]], Cursor]
"""Runs a statement with the values of its names."""

Work = Callable[[Run], T]
"""What is done in a transaction."""


class LedgerConnection(Protocol):
    """A connection that is kept. Safe to use from several threads."""

    @abstractmethod
    def transaction(self) -> AbstractContextManager[Run]:
        """A transaction, committed at the end of the block."""
        ...

    @abstractmethod
    def reading(self) -> AbstractContextManager[Run]:
        """Statements that only read."""
        ...

    @abstractmethod
    def close(self) -> None:
        """Give the connection back, so that the last process that has the file open merges its write-ahead log."""
        ...


def connection_of(engine: sa.Engine) -> LedgerConnection:
    """The connection to a database."""
    return _Sqlite(engine) if engine.dialect.name == "sqlite" else _Server(engine)


def tuned(engine: sa.Engine) -> sa.Engine:
    """The engine with connections that wait for locks."""
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _tune_sqlite)
    return engine


class _Sqlite:
    def __init__(self, engine: sa.Engine) -> None:
        self._pooled = engine.raw_connection()
        self._connection: Any = self._pooled.driver_connection
        self._lock = RLock()

    @contextmanager
    def transaction(self) -> Iterator[Run]:
        with self._lock:
            try:
                # At once: a transaction that began as a reader is refused where another process has written meanwhile.
                self._connection.execute("BEGIN IMMEDIATE")
                yield self._connection.execute
                self._connection.commit()
            except BaseException:
                self._connection.rollback()
                raise

    @contextmanager
    def reading(self) -> Iterator[Run]:
        with self._lock:
            yield self._connection.execute

    def close(self) -> None:
        self._pooled.close()


class _Server:
    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    @contextmanager
    def transaction(self) -> Iterator[Run]:
        with self._engine.begin() as connection:
            yield _running(connection)

    @contextmanager
    def reading(self) -> Iterator[Run]:
        with self._engine.connect() as connection:
            yield _running(connection)

    def close(self) -> None:
        """There is no connection that is kept."""


def _running(connection: sa.Connection) -> Run:
    def run(statement: str, values: Mapping[str, Any]) -> Any:
        return connection.execute(_text(statement), values)

    return run


@cache
def _text(statement: str) -> sa.TextClause:
    return sa.text(statement)


def _tune_sqlite(connection: Any, _record: Any) -> None:
    keep_log_ahead(connection, _PATIENCE_S)
