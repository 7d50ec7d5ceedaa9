"""The ledger: every paid reply, addressed by its question.

A reply is committed before it is used and kept for ever; the parser is no part of its address, so that a better parser
re-reads it for free. Leases keep two workers from paying for the same question at the same time; they end by the clock
of the database, the only one that all workers share. SQLite by default, or PostgreSQL by URL.
"""

import hashlib
import json
import logging
import secrets
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.exc import ArgumentError, InterfaceError, OperationalError, SQLAlchemyError
from sqlalchemy.schema import CreateTable

from evaluation_assets.core.models.errors import DamagedLedger, LedgerAway, LedgerError
from evaluation_assets.core.models.json_text import dumped
from evaluation_assets.core.models.messages import Reply
from evaluation_assets.core.models.stored_replies import packed, unpacked
from evaluation_assets.core.system.processes import Process

LEASE_S = 120.0
"""A worker renews what it has in flight more often. One that ends elsewhere holds up its questions for so long."""

_NOW = {
    "sqlite": "((julianday('now') - 2440587.5) * 86400.0)",
    "postgresql": "extract(epoch from clock_timestamp())",
}
"""Seconds since 1970 by the clock of the database."""

_log = logging.getLogger(__name__)

_METADATA = sa.MetaData()
_REPLIES = sa.Table(
    "replies",
    _METADATA,
    sa.Column("key", sa.String(64), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("run", sa.String(64), nullable=False),
    sa.Column("provider", sa.String(64), nullable=False),
    sa.Column("model", sa.String(255), nullable=False),
    sa.Column("reply", sa.LargeBinary, nullable=False),
    sa.Column("cost_usd", sa.Float),
    sa.Column("latency_ms", sa.Float, nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("created_at", sa.Float, nullable=False),
)
_LEASES = sa.Table(
    "leases",
    _METADATA,
    sa.Column("key", sa.String(64), primary_key=True),
    sa.Column("worker", sa.String(32), nullable=False),
    sa.Column("process", sa.Text, nullable=False),
    sa.Column("expires_at", sa.Float, nullable=False),
)
sa.Table(
    "reservations",
    _METADATA,
    sa.Column("name", sa.String(64), primary_key=True),
    sa.Column("ends_at", sa.Float(53), nullable=False),
)
sa.Table(
    "learned_rates",
    _METADATA,
    sa.Column("name", sa.String(64), primary_key=True),
    *(sa.Column(name, sa.Integer, nullable=False) for name in ("version", "is_measured", "taken")),
    *(sa.Column(name, sa.Float(53), nullable=False) for name in ("per_second", "since", "ends_at")),
)
_UNREAD = sa.Table(
    "estimated_costs",
    _METADATA,
    sa.Column("run", sa.String(64), nullable=False),
    sa.Column("usd", sa.Float(53), nullable=False),
)
BATCH_ITEMS = sa.Table(
    "batch_items",
    _METADATA,
    sa.Column("key", sa.String(64), primary_key=True),
    sa.Column("batch", sa.String(255), nullable=False),
    sa.Column("submitted_at", sa.Float, nullable=False),
)
_SETTINGS = sa.Table(
    "settings",
    _METADATA,
    sa.Column("name", sa.String(64), primary_key=True),
    sa.Column("value", sa.String(255), nullable=False),
)

# Statements are made once: putting one together costs more than running it.
_ENTRIES = sa.select(_REPLIES).where(_REPLIES.c.key == sa.bindparam("key")).order_by(_REPLIES.c.number.desc())
_NEXT_NUMBER = (
    sa.select(sa.func.coalesce(sa.func.max(_REPLIES.c.number) + 1, 0))
    .where(_REPLIES.c.key == sa.bindparam("asked"))
    .scalar_subquery()
)
_RELEASE = sa.text("DELETE FROM leases WHERE key = :key AND worker = :worker")
_SETTLE = sa.text("DELETE FROM leases WHERE key = :key")
_ANSWERED = sa.text("DELETE FROM batch_items WHERE key = :key")
_SECRET = sa.select(_SETTINGS.c.value).where(_SETTINGS.c.name == "secret")
_REMEMBERED = sa.select(_SETTINGS.c.value).where(_SETTINGS.c.name == sa.bindparam("name"))
_REMEMBER = sa.text(
    "INSERT INTO settings (name, value) VALUES (:name, :value) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
)
_WRITE = sa.text("UPDATE settings SET value = value")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A reply with what it took. `run` is the run that paid for it; `number` counts the replies to one question."""

    reply: Reply
    run: str
    number: int
    cost_usd: float | None
    latency_ms: float
    attempts: int


def question_key(question: Mapping[str, Any]) -> str:
    """The address of a question: SHA-256 of its canonical JSON."""
    return hashlib.sha256(dumped(question, sort_keys=True)).hexdigest()


class Ledger:
    """One database of replies, and one worker at it. Safe to use from several processes; calls take well under a
    millisecond.

    Raises:
        LedgerError: it cannot be opened; every method may raise it too.
    """

    def __init__(self, url: str, lease_s: float = LEASE_S) -> None:
        self.lease_s = lease_s
        self._worker = secrets.token_hex(16)
        with _told(url):
            self._engine = sa.create_engine(url, connect_args={"timeout": 60} if url.startswith("sqlite") else {})
        self._url = self._engine.url
        now = _NOW.get(self._engine.dialect.name)
        if now is None:
            raise LedgerError(f"the ledger must be SQLite or PostgreSQL, not {self._engine.dialect.name}")
        if self._engine.dialect.name == "sqlite":
            event.listen(self._engine, "connect", _tune_sqlite)
        values = f":key, :worker, :process, {now} + :lease_s"
        self._claim = sa.text(
            f"INSERT INTO leases (key, worker, process, expires_at) VALUES ({values}) "  # noqa: S608
            "ON CONFLICT (key) DO UPDATE SET worker = excluded.worker, process = excluded.process, "
            f"expires_at = excluded.expires_at WHERE leases.expires_at < {now}"
        )
        self._insert = (
            sa.insert(_REPLIES)
            .values(number=_NEXT_NUMBER, created_at=sa.literal_column(now))
            .returning(_REPLIES.c.number)
        )
        self._renew = sa.text(f"UPDATE leases SET expires_at = {now} + :lease_s WHERE key = :key AND worker = :worker")  # noqa: S608
        self._holder = sa.text(f"SELECT worker, process FROM leases WHERE key = :key AND expires_at >= {now}")  # noqa: S608
        self._lately = sa.text(
            "SELECT 1 FROM replies WHERE provider = :provider AND model = :model "  # noqa: S608
            f"AND created_at >= {now} - :seconds LIMIT 1"
        )
        process = json.dumps(Process.current().to_dict())
        self._lease = {"worker": self._worker, "process": process, "lease_s": lease_s}
        self._create_tables()

    @property
    def name(self) -> str:
        """Its address without a password."""
        return self._url.render_as_string(hide_password=True)

    def _create_tables(self) -> None:
        """Several processes may open a new ledger at once; PostgreSQL needs a lock even for IF NOT EXISTS."""
        with self.transaction() as connection:
            if self._engine.dialect.name == "postgresql":
                connection.execute(sa.text("SELECT pg_advisory_xact_lock(hashtext('evaluation ledger'))"))
            for table in _METADATA.sorted_tables:
                connection.execute(CreateTable(table, if_not_exists=True))

    @property
    def dialect(self) -> Literal["sqlite", "postgresql"]:
        """Which database it is."""
        return "sqlite" if self._engine.dialect.name == "sqlite" else "postgresql"

    @contextmanager
    def transaction(self) -> Iterator[sa.Connection]:
        """A transaction in its database, for what else all processes share there."""
        with _told(self._url), self._engine.begin() as connection:
            yield connection

    def secret(self) -> str:
        """A random text that lives with the ledger; the same for every process that shares it."""
        with self.transaction() as connection:
            if (known := connection.execute(_SECRET).scalar()) is not None:
                return known
            connection.execute(
                sa.text("INSERT INTO settings (name, value) VALUES ('secret', :value) ON CONFLICT (name) DO NOTHING"),
                {"value": secrets.token_hex(32)},
            )
            return connection.execute(_SECRET).scalar_one()

    def remembered(self, name: str) -> str | None:
        """A short text that was stored under a name."""
        with _told(self._url), self._engine.connect() as connection:
            return connection.execute(_REMEMBERED, {"name": name}).scalar()

    def remember(self, name: str, value: str) -> None:
        """Store a short text under a name, in place of an earlier one."""
        with self.transaction() as connection:
            connection.execute(_REMEMBER, {"name": name, "value": value})

    def entries(self, key: str) -> list[Entry]:
        """The replies to a question, newest first. One that is damaged is left out, as if it had never come."""
        with _told(self._url), self._engine.connect() as connection:
            rows = connection.execute(_ENTRIES, {"key": key}).mappings().all()
        return [entry for row in rows if (entry := _entry(row)) is not None]

    def claim(self, key: str) -> bool:
        """Whether this worker may pay for a question now: nobody else does, or has stopped doing so.

        A claim lasts for `lease_s` seconds of the database's clock and may be renewed; it ends at once when its process
        is known to be gone, which can be seen on its own machine alone.
        """
        values = {"key": key, **self._lease}
        with self.transaction() as connection:
            if connection.execute(self._claim, values).rowcount == 1:
                return True
            holder = connection.execute(self._holder, {"key": key}).first()
            if holder is not None:
                if not self._is_gone(holder.process):
                    return False
                connection.execute(_RELEASE, {"key": key, "worker": holder.worker})
            return connection.execute(self._claim, values).rowcount == 1

    def renew(self, key: str) -> None:
        """Let a claim last for another `lease_s` seconds."""
        with self.transaction() as connection:
            connection.execute(self._renew, {"key": key, **self._lease})

    def is_held(self, key: str) -> bool:
        """Whether somebody has claimed a question and is still there."""
        with _told(self._url), self._engine.connect() as connection:
            holder = connection.execute(self._holder, {"key": key}).first()
        return holder is not None and not self._is_gone(holder.process)

    def _is_gone(self, process: str) -> bool:
        """An SQLite file belongs to one machine; at PostgreSQL another one may have the same name."""
        return Process.from_dict(json.loads(process)).state(one_machine=self.dialect == "sqlite") == "gone"

    def release(self, key: str) -> None:
        """Give a claim back without a reply."""
        with self.transaction() as connection:
            connection.execute(_RELEASE, {"key": key, "worker": self._worker})

    def check(self) -> None:
        """Write something, to see whether it can be done."""
        with self.transaction() as connection:
            connection.execute(_WRITE)

    def commit(
        self,
        key: str,
        *,
        run: str,
        provider: str,
        model: str,
        reply: Reply,
        cost_usd: float | None,
        latency_ms: float,
        attempts: int,
    ) -> Entry:
        """Store a reply for good, and give its claim back."""
        values: dict[str, Any] = {"key": key, "asked": key, "run": run, "provider": provider, "model": model}
        values |= {"reply": packed(reply), "cost_usd": cost_usd, "latency_ms": latency_ms, "attempts": attempts}
        with self.transaction() as connection:
            number = connection.execute(self._insert, values).scalar_one()
            connection.execute(_SETTLE, {"key": key})
            connection.execute(_ANSWERED, {"key": key})
        return Entry(reply=reply, run=run, number=number, cost_usd=cost_usd, latency_ms=latency_ms, attempts=attempts)

    def recent(self, provider: str, model: str, most: int = 200) -> list[Entry]:
        """The newest replies of a model."""
        of_model = sa.select(_REPLIES).where(_REPLIES.c.provider == provider, _REPLIES.c.model == model)
        with _told(self._url), self._engine.connect() as connection:
            rows = connection.execute(of_model.order_by(_REPLIES.c.created_at.desc()).limit(most)).mappings().all()
        return [entry for row in rows if (entry := _entry(row)) is not None]

    def has_reply_since(self, provider: str, model: str, seconds: float) -> bool:
        """Whether any process has stored a reply of a model in the last seconds."""
        values = {"provider": provider, "model": model, "seconds": seconds}
        with _told(self._url), self._engine.connect() as connection:
            return connection.execute(self._lately, values).first() is not None

    def spent(self, run: str) -> float:
        """US dollars a run has paid, as far as prices are known; at most, for replies that do not say their tokens."""
        with _told(self._url), self._engine.connect() as connection:
            sums = (
                sa.select(sa.func.sum(usd)).where(usd.table.c.run == run)
                for usd in (_REPLIES.c.cost_usd, _UNREAD.c.usd)
            )
            return sum(connection.execute(query).scalar() or 0.0 for query in sums)

    def calls(self, run: str) -> int:
        """How many replies a run has paid for, with those that could not be read."""
        with _told(self._url), self._engine.connect() as connection:
            counts = (sa.select(sa.func.count()).where(table.c.run == run) for table in (_REPLIES, _UNREAD))
            return sum(connection.execute(query).scalar_one() for query in counts)

    def add_unread(self, run: str, usd: float | None, calls: int = 1) -> None:
        """Count what a run has paid at most for a reply that could not be read, or for one to several calls."""
        with self.transaction() as connection:
            connection.execute(sa.insert(_UNREAD), [{"run": run, "usd": (usd or 0.0) / calls}] * calls)

    def count(self, runs: Collection[str]) -> int:
        """How many replies of these runs are kept."""
        with _told(self._url), self._engine.connect() as connection:
            return connection.execute(sa.select(sa.func.count()).where(_REPLIES.c.run.in_(runs))).scalar_one()

    def close(self) -> None:
        """Close the connections."""
        self._engine.dispose()


@contextmanager
def _told(url: str | sa.URL) -> Iterator[None]:
    """What the database raises inside, as a `LedgerError`. Its own messages hold statements, replies and passwords."""
    try:
        yield
    except (SQLAlchemyError, ImportError) as problem:
        raise _kind_of(problem)(_what_to_do(url, problem)) from None


def _kind_of(problem: SQLAlchemyError | ImportError) -> type[LedgerError]:
    said = str(problem)
    if any(words in said for words in _DAMAGED):
        return DamagedLedger
    of_server = isinstance(problem, OperationalError | InterfaceError) and "sqlite" not in type(problem.orig).__module__
    return LedgerAway if of_server and not any(words in said for words in _REFUSED) else LedgerError


_DAMAGED = ("malformed", "not a database", "invalid page in block")
"""What SQLite and PostgreSQL say of a damaged file."""

_REFUSED = ("authentication failed", "does not exist", "pg_hba.conf")
"""What PostgreSQL says to those that it does not let in, however often they ask."""

_REMEDIES = (
    ("not a database", "it is not a ledger: move the file away, or name another in EVALUATION_LEDGER_URL"),
    ("malformed", "it is damaged: keep what can be read with `evaluation-assets ledger repair`, or restore a copy"),
    ("invalid page in block", "it is damaged: restore a backup of the database"),
    ("disk is full", "the disk is full: free some space"),
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


def _tune_sqlite(connection: Any, _record: Any) -> None:
    """WAL: readers never wait, and a commit survives the death of the process."""
    for pragma in ("busy_timeout = 60000", "journal_mode = WAL", "synchronous = NORMAL"):
        connection.execute(f"PRAGMA {pragma}")


def _entry(row: sa.RowMapping) -> Entry | None:
    try:
        reply = unpacked(row["reply"])
    except (ValueError, TypeError, LookupError, AttributeError, OSError, MemoryError) as problem:
        about = f"reply {row['number']} to question {row['key'][:12]}"
        _log.warning("%s in the ledger is damaged (%s) and requested again", about, type(problem).__name__)
        return None
    return Entry(
        reply=reply,
        run=row["run"],
        number=row["number"],
        cost_usd=None if reply.usage_problem else row["cost_usd"],
        latency_ms=row["latency_ms"],
        attempts=row["attempts"],
    )
