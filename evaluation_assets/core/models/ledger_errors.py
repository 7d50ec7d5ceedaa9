"""What goes wrong with the ledger's database, in our words."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, InterfaceError, OperationalError, SQLAlchemyError

from evaluation_assets.core.models.errors import LedgerAway, LedgerError, UnusableLedger


@contextmanager
def told(url: str | sa.URL) -> Iterator[None]:
    """What the database raises inside, as a `LedgerError`. Its own messages hold statements, replies and passwords."""
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error, ImportError) as problem:
        raise _kind_of(problem)(_what_to_do(url, problem)) from None


def _kind_of(problem: Exception) -> type[LedgerError]:
    said = str(problem)
    if any(words in said for words in _LASTING):
        return UnusableLedger
    of_server = isinstance(problem, OperationalError | InterfaceError) and "sqlite" not in type(problem.orig).__module__
    return LedgerAway if of_server and not any(words in said for words in _REFUSED) else LedgerError


_LASTING = ("malformed", "not a database", "invalid page in block", "readonly")
"""What SQLite and PostgreSQL say of a damaged file, and SQLite of one that it may not write."""

_REFUSED = ("authentication failed", "does not exist", "pg_hba.conf")
"""What PostgreSQL says to those that it does not let in, however often they ask."""

_REMEDIES = (
    ("not a database", "it is not a ledger: move the file away, or name another in EVALUATION_LEDGER_URL"),
    ("malformed", "it is damaged: keep what can be read with `evaluation-assets ledger repair`, or restore a copy"),
    ("invalid page in block", "it is damaged: restore a backup of the database"),
    ("disk is full", "the disk is full: free some space"),
    ("disk I/O error", "its disk cannot be read or written: free some space if it is full"),
    ("readonly", "it is read-only: make the file and its folder writable"),
    ("read-only", "it is read-only: make the file and its folder writable"),
    ("unable to open", "it cannot be opened: check that its folder exists and may be written"),
    ("locked", "another process keeps it locked"),
)


def _what_to_do(url: str | sa.URL, problem: Exception) -> str:
    try:
        known = sa.make_url(url)
    except ArgumentError:
        return "EVALUATION_LEDGER_URL is not a database URL; write one such as postgresql+psycopg://user@host/database"
    local = known.drivername.startswith("sqlite")
    if not local and "@" in f"{known.host}{known.database}":  # a part of the password, which is not repeated
        return "EVALUATION_LEDGER_URL has more than one @; in a password, write %40 for @ and %2F for /"
    where = known.database or "in memory" if local else known.set(query={}).render_as_string(hide_password=True)
    said = str(getattr(problem, "orig", None) or problem)
    for words, remedy in _REMEDIES:
        if words in said:
            return f"the ledger {where}: {remedy}"
    if isinstance(problem, ImportError):
        return f"the ledger {where}: its driver is not installed ({problem.name})"
    if known.password:
        said = said.replace(str(known.password), "***")
    return f"the ledger {where}: {' '.join(said.split())[:300]}; check EVALUATION_LEDGER_URL"
