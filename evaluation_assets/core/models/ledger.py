"""The ledger: every paid reply, addressed by its question.

A reply is committed before it is used and kept for ever; the parser is no part of its address, so that a better parser
re-reads it for free. Leases keep two workers from paying for the same question at the same time; they end by the clock
of the database, the only one that all workers share. SQLite by default, or PostgreSQL by URL.
"""

import hashlib
import json
import secrets
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

import sqlalchemy as sa
from sqlalchemy.schema import CreateTable

from evaluation_assets.core.models.errors import LedgerError
from evaluation_assets.core.models.json_text import dumped
from evaluation_assets.core.models.ledger_connection import Cursor, Run, Work, connection_of, tuned
from evaluation_assets.core.models.ledger_errors import told
from evaluation_assets.core.models.ledger_tables import METADATA, REPLIES, SETTINGS, UNREAD
from evaluation_assets.core.models.messages import Reply
from evaluation_assets.core.models.stored_replies import packed, unpacked
from evaluation_assets.core.system.chunks import chunks
from evaluation_assets.core.system.logs import log_of
from evaluation_assets.core.system.processes import Process

T = TypeVar("T")

LEASE_S = 120.0
"""A worker renews what it has in flight more often. One that ends elsewhere holds up its questions for so long."""

_NOW = {
    "sqlite": "((julianday('now') - 2440587.5) * 86400.0)",
    "postgresql": "extract(epoch from clock_timestamp())",
}
"""Seconds since 1970 by the clock of the database."""

_log = log_of(__name__)

_FIELDS = ("key", "number", "run", "cost_usd", "latency_ms", "attempts", "reply")
_ENTRIES = f"SELECT {', '.join(_FIELDS)} FROM replies WHERE key = :key ORDER BY number DESC"  # noqa: S608
_RECENT = (
    f"SELECT {', '.join(_FIELDS)} FROM replies WHERE provider = :provider AND model = :model "  # noqa: S608
    "ORDER BY created_at DESC LIMIT :most"
)
_AT_A_TIME = 500
"""Questions of one statement, which SQLite limits."""

_RELEASE = "DELETE FROM leases WHERE key = :key AND worker = :worker"
_SETTLE = "DELETE FROM leases WHERE key = :key"
_ANSWERED = "DELETE FROM batch_items WHERE key = :key"
_SECRET = sa.select(SETTINGS.c.value).where(SETTINGS.c.name == "secret")
_REMEMBERED = sa.select(SETTINGS.c.value).where(SETTINGS.c.name == sa.bindparam("name"))
_REMEMBER = sa.text(
    "INSERT INTO settings (name, value) VALUES (:name, :value) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
)
_WRITE = sa.text("UPDATE settings SET value = value")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A reply with what it took. `run` is the run that paid for it; `number` counts the replies to one question.

    `cost_usd` is what the budget counts: of a reply whose tokens are unknown, the most that it can cost.
    """

    reply: Reply
    run: str
    number: int
    cost_usd: float | None
    latency_ms: float
    attempts: int

    @property
    def known_cost_usd(self) -> float | None:
        """The cost of the tokens that the endpoint reports; `None` where it reports none."""
        return self.cost_usd if self.reply.usage.is_counted else None


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
        with told(url):
            self._engine = tuned(
                sa.create_engine(url, connect_args={"timeout": 60} if url.startswith("sqlite") else {})
            )
        self._url = self._engine.url
        now = _NOW.get(self._engine.dialect.name)
        if now is None:
            raise LedgerError(f"the ledger must be SQLite or PostgreSQL, not {self._engine.dialect.name}")
        values = f":key, :worker, :process, {now} + :lease_s"
        self._claim = (
            f"INSERT INTO leases (key, worker, process, expires_at) VALUES ({values}) "  # noqa: S608
            "ON CONFLICT (key) DO UPDATE SET worker = excluded.worker, process = excluded.process, "
            f"expires_at = excluded.expires_at WHERE leases.expires_at < {now}"
        )
        self._insert = (
            "INSERT INTO replies "  # noqa: S608
            "(key, number, run, provider, model, reply, cost_usd, latency_ms, attempts, created_at) VALUES ("
            ":key, (SELECT coalesce(max(number) + 1, 0) FROM replies WHERE key = :asked), :run, :provider, "
            f":model, :reply, :cost_usd, :latency_ms, :attempts, {now}) RETURNING number"
        )
        self._renew = f"UPDATE leases SET expires_at = {now} + :lease_s WHERE key = :key AND worker = :worker"  # noqa: S608
        self._holder = f"SELECT worker, process FROM leases WHERE key = :key AND expires_at >= {now}"  # noqa: S608
        self._lately = (
            "SELECT 1 FROM replies WHERE provider = :provider AND model = :model "  # noqa: S608
            f"AND created_at >= {now} - :seconds LIMIT 1"
        )
        process = json.dumps(Process.current().to_dict())
        self._lease = {"worker": self._worker, "process": process, "lease_s": lease_s}
        self._create_tables()
        with told(self._url):
            self._connection = connection_of(self._engine)

    @property
    def name(self) -> str:
        """Its address without a password."""
        return self._url.render_as_string(hide_password=True)

    def _create_tables(self) -> None:
        """Several processes may open a new ledger at once; PostgreSQL needs a lock even for IF NOT EXISTS."""
        with self.transaction() as connection:
            if self._engine.dialect.name == "postgresql":
                connection.execute(sa.text("SELECT pg_advisory_xact_lock(hashtext('evaluation ledger'))"))
            for table in METADATA.sorted_tables:
                connection.execute(CreateTable(table, if_not_exists=True))

    @property
    def dialect(self) -> Literal["sqlite", "postgresql"]:
        """Which database it is."""
        return "sqlite" if self._engine.dialect.name == "sqlite" else "postgresql"

    @contextmanager
    def transaction(self) -> Iterator[sa.Connection]:
        """A transaction in its database, for what else all processes share there."""
        with told(self._url), self._engine.begin() as connection:
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
        with told(self._url), self._engine.connect() as connection:
            return connection.execute(_REMEMBERED, {"name": name}).scalar()

    def remember(self, name: str, value: str) -> None:
        """Store a short text under a name, in place of an earlier one."""
        with self.transaction() as connection:
            connection.execute(_REMEMBER, {"name": name, "value": value})

    def together(self, works: Iterable[Work[T]]) -> list[T]:
        """Do some works in one transaction. Where one fails, all of them do."""
        with told(self._url), self._connection.transaction() as run:
            return [work(run) for work in works]

    def entries(self, key: str) -> list[Entry]:
        """The replies to a question, newest first. One that is damaged is left out, as if it had never come."""
        with told(self._url), self._connection.reading() as run:
            return _entries(run(_ENTRIES, {"key": key}))

    def newest(self, keys: Collection[str]) -> dict[str, Reply]:
        """The newest reply to each of some questions. Those without one that is undamaged are left out."""
        columns = [REPLIES.c[name] for name in _FIELDS]
        replies: dict[str, Reply] = {}
        with told(self._url), self._engine.connect() as connection:
            for some in chunks(keys, _AT_A_TIME):
                asked = sa.select(*columns).where(REPLIES.c.key.in_(some)).order_by(REPLIES.c.number)
                for row in connection.execute(asked):
                    if (entry := _entry(*row)) is not None:
                        replies[row.key] = entry.reply
        return replies

    def claim(self, key: str) -> bool:
        """Whether this worker may pay for a question now: nobody else does, or has stopped doing so.

        A claim lasts for `lease_s` seconds of the database's clock and may be renewed; it ends at once when its process
        is known to be gone, which can be seen on its own machine alone.
        """
        return self.together([self.claiming(key)])[0] is not None

    def claiming(self, key: str) -> Work[list[Entry] | None]:
        """Claim a question: the replies that there are by then, or `None` where it is somebody else's."""

        def work(run: Run) -> list[Entry] | None:
            return _entries(run(_ENTRIES, {"key": key})) if self._is_claimed(run, key) else None

        return work

    def _is_claimed(self, run: Run, key: str) -> bool:
        values = {"key": key, **self._lease}
        if run(self._claim, values).rowcount == 1:
            return True
        for worker, process in run(self._holder, {"key": key}).fetchall():
            if not self._is_gone(process):
                return False
            run(_RELEASE, {"key": key, "worker": worker})
        return run(self._claim, values).rowcount == 1

    def renew(self, key: str) -> None:
        """Let a claim last for another `lease_s` seconds."""
        values = {"key": key, "worker": self._worker, "lease_s": self.lease_s}
        self.together([lambda run: run(self._renew, values)])

    def is_held(self, key: str) -> bool:
        """Whether somebody has claimed a question and is still there."""
        with told(self._url), self._connection.reading() as run:
            return any(not self._is_gone(process) for _, process in run(self._holder, {"key": key}).fetchall())

    def _is_gone(self, process: str) -> bool:
        """An SQLite file belongs to one machine; at PostgreSQL another one may have the same name."""
        return Process.from_dict(json.loads(process)).state(one_machine=self.dialect == "sqlite") == "gone"

    def release(self, key: str) -> None:
        """Give a claim back without a reply."""
        self.together([self.releasing(key)])

    def releasing(self, key: str) -> Work[object]:
        """Give a claim back, in a transaction with others."""
        return lambda run: run(_RELEASE, {"key": key, "worker": self._worker})

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
        entry = Entry(reply=reply, run=run, number=0, cost_usd=cost_usd, latency_ms=latency_ms, attempts=attempts)
        return self.together([self.storing(key, entry, provider, model)])[0]

    def storing(self, key: str, entry: Entry, provider: str, model: str) -> Work[Entry]:
        """Store a reply of a model, and give its claim back: the entry with the number that it got."""
        values: dict[str, Any] = {"key": key, "asked": key, "run": entry.run, "provider": provider, "model": model}
        values |= {"reply": packed(entry.reply), "cost_usd": entry.cost_usd}
        values |= {"latency_ms": entry.latency_ms, "attempts": entry.attempts}

        def work(run: Run) -> Entry:
            ((number,),) = run(self._insert, values).fetchall()
            run(_SETTLE, {"key": key})
            run(_ANSWERED, {"key": key})
            return replace(entry, number=number)

        return work

    def recent(self, provider: str, model: str, most: int = 200) -> list[Entry]:
        """The newest replies of a model."""
        values = {"provider": provider, "model": model, "most": most}
        with told(self._url), self._connection.reading() as run:
            return _entries(run(_RECENT, values))

    def has_reply_since(self, provider: str, model: str, seconds: float) -> bool:
        """Whether any process has stored a reply of a model in the last seconds."""
        values = {"provider": provider, "model": model, "seconds": seconds}
        with told(self._url), self._connection.reading() as run:
            return bool(run(self._lately, values).fetchall())

    def spent(self, run: str) -> float:
        """US dollars a run has paid, as far as prices are known; at most, for replies that do not say their tokens."""
        return self.spent_since([run], 0.0)

    def spent_since(self, runs: Collection[str], since: float) -> float:
        """US dollars that some runs have paid since a time, in seconds since 1970; see `spent`.

        Replies that could not be read have no time, and count whenever they came.
        """
        spent = 0.0
        with told(self._url), self._engine.connect() as connection:
            for some in chunks(runs, _AT_A_TIME):
                recent = sa.and_(REPLIES.c.run.in_(some), REPLIES.c.created_at >= since)
                for usd, which in ((REPLIES.c.cost_usd, recent), (UNREAD.c.usd, UNREAD.c.run.in_(some))):
                    spent += connection.execute(sa.select(sa.func.sum(usd)).where(which)).scalar() or 0.0
        return spent

    def calls(self, run: str) -> int:
        """How many replies a run has paid for, with those that could not be read."""
        with told(self._url), self._engine.connect() as connection:
            counts = (sa.select(sa.func.count()).where(table.c.run == run) for table in (REPLIES, UNREAD))
            return sum(connection.execute(query).scalar_one() for query in counts)

    def add_unread(self, run: str, usd: float | None, calls: int = 1) -> None:
        """Count what a run has paid at most for a reply that could not be read, or for one to several calls."""
        with self.transaction() as connection:
            connection.execute(sa.insert(UNREAD), [{"run": run, "usd": (usd or 0.0) / calls}] * calls)

    def count(self, runs: Collection[str]) -> int:
        """How many replies of these runs are kept."""
        with told(self._url), self._engine.connect() as connection:
            return connection.execute(sa.select(sa.func.count()).where(REPLIES.c.run.in_(runs))).scalar_one()

    def close(self) -> None:
        """Close the connections."""
        self._connection.close()
        self._engine.dispose()


def _entries(cursor: Cursor) -> list[Entry]:
    return [entry for row in cursor.fetchall() if (entry := _entry(*row)) is not None]


def _entry(
    key: str, number: int, run: str, cost_usd: float | None, latency_ms: float, attempts: int, stored: bytes
) -> Entry | None:
    try:
        reply = unpacked(bytes(stored))
    except (ValueError, TypeError, LookupError, AttributeError, OSError, MemoryError) as problem:
        about = f"reply {number} to question {key[:12]}"
        _log.warning("%s in the ledger is damaged (%s) and requested again", about, type(problem).__name__)
        return None
    return Entry(
        reply=reply,
        run=run,
        number=number,
        cost_usd=None if reply.usage_problem else cost_usd,
        latency_ms=latency_ms,
        attempts=attempts,
    )
