"""The store of every reply ever paid for, addressed by what was asked.

A reply is committed before it is used and kept for ever; the parser is no part of its address, so that a better parser
re-reads it for free. Claims keep two workers from paying for the same question. SQLite by default, any database that
SQLAlchemy knows by URL.
"""

import hashlib
import os
import secrets
import socket
import time
import uuid
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import orjson
import pyarrow as pa
import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.schema import CreateTable

from evaluation_assets.core.judging.providers.base import Finish, Reply, TokenUsage, ToolUse

_HOST = socket.gethostname()[:40]

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
_CLAIMS = sa.Table(
    "claims",
    _METADATA,
    sa.Column("key", sa.String(64), primary_key=True),
    sa.Column("owner", sa.String(64), nullable=False),
    sa.Column("expires_at", sa.Float, nullable=False),
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
_INSERT = sa.insert(_REPLIES).values(number=_NEXT_NUMBER).returning(_REPLIES.c.number)
_CLAIM = sa.text(
    "INSERT INTO claims (key, owner, expires_at) VALUES (:key, :owner, :expires_at) "
    "ON CONFLICT (key) DO UPDATE SET owner = excluded.owner, expires_at = excluded.expires_at "
    "WHERE claims.expires_at < :now OR claims.owner = excluded.owner"
)
_RELEASE = sa.text("DELETE FROM claims WHERE key = :key AND owner = :owner")
_SETTLE = sa.text("DELETE FROM claims WHERE key = :key")


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
    return hashlib.sha256(orjson.dumps(question, option=orjson.OPT_SORT_KEYS)).hexdigest()


class Ledger:
    """One database of replies. Safe to use from several processes; calls take well under a millisecond."""

    def __init__(self, url: str, claim_seconds: float = 240.0) -> None:
        self._claim_seconds = claim_seconds
        self._owner = f"{_HOST}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
        self._engine = sa.create_engine(url, connect_args={"timeout": 60} if url.startswith("sqlite") else {})
        if self._engine.dialect.name == "sqlite":
            event.listen(self._engine, "connect", _tune_sqlite)
        self._create_tables()

    def _create_tables(self) -> None:
        """Several processes may open a new ledger at once; PostgreSQL needs a lock even for IF NOT EXISTS."""
        with self._engine.begin() as connection:
            if self._engine.dialect.name == "postgresql":
                connection.execute(sa.text("SELECT pg_advisory_xact_lock(hashtext('evaluation ledger'))"))
            for table in _METADATA.sorted_tables:
                connection.execute(CreateTable(table, if_not_exists=True))

    def secret(self) -> str:
        """A random text that lives with the ledger; the same for every process that shares it."""
        with self._engine.begin() as connection:
            connection.execute(
                sa.text("INSERT INTO settings (name, value) VALUES ('secret', :value) ON CONFLICT (name) DO NOTHING"),
                {"value": secrets.token_hex(32)},
            )
            return connection.execute(sa.select(_SETTINGS.c.value).where(_SETTINGS.c.name == "secret")).scalar_one()

    def entries(self, key: str) -> list[Entry]:
        """The replies to a question, newest first."""
        with self._engine.connect() as connection:
            return [_entry(row) for row in connection.execute(_ENTRIES, {"key": key}).mappings()]

    def claim(self, key: str) -> bool:
        """Whether this process may pay for a question now: nobody else does, or has stopped doing so.

        Claiming again what is claimed already renews it. A claim ends by itself, at once when its process is known to
        be dead (on the same machine), else after `claim_seconds`.
        """
        now = time.time()
        values = {"key": key, "owner": self._owner, "expires_at": now + self._claim_seconds, "now": now}
        with self._engine.begin() as connection:
            if connection.execute(_CLAIM, values).rowcount == 1:
                return True
            owner = connection.execute(sa.select(_CLAIMS.c.owner).where(_CLAIMS.c.key == key)).scalar()
            if owner is None or not _is_dead(owner):
                return False
            connection.execute(sa.delete(_CLAIMS).where(_CLAIMS.c.key == key, _CLAIMS.c.owner == owner))
            return connection.execute(_CLAIM, values).rowcount == 1

    def release(self, key: str) -> None:
        """Give a claim back without a reply."""
        with self._engine.begin() as connection:
            connection.execute(_RELEASE, {"key": key, "owner": self._owner})

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
        values |= {"reply": _packed(reply), "cost_usd": cost_usd, "latency_ms": latency_ms, "attempts": attempts}
        values |= {"created_at": time.time()}
        with self._engine.begin() as connection:
            number = connection.execute(_INSERT, values).scalar_one()
            connection.execute(_SETTLE, {"key": key})
        return Entry(reply=reply, run=run, number=number, cost_usd=cost_usd, latency_ms=latency_ms, attempts=attempts)

    def recent(self, provider: str, model: str, most: int = 200) -> list[Entry]:
        """The newest replies of a model."""
        of_model = sa.select(_REPLIES).where(_REPLIES.c.provider == provider, _REPLIES.c.model == model)
        with self._engine.connect() as connection:
            rows = connection.execute(of_model.order_by(_REPLIES.c.created_at.desc()).limit(most)).mappings()
            return [_entry(row) for row in rows]

    def spent(self, run: str) -> float:
        """US dollars a run has paid, as far as prices are known."""
        with self._engine.connect() as connection:
            query = sa.select(sa.func.sum(_REPLIES.c.cost_usd)).where(_REPLIES.c.run == run)
            return connection.execute(query).scalar() or 0.0

    def count(self, runs: Collection[str]) -> int:
        """How many replies these runs have paid for."""
        with self._engine.connect() as connection:
            query = sa.select(sa.func.count()).where(_REPLIES.c.run.in_(runs))
            return connection.execute(query).scalar_one()

    def close(self) -> None:
        """Close the connections."""
        self._engine.dispose()


def _is_dead(owner: str) -> bool:
    """Whether the process of a claim ran on this machine and is gone."""
    host, process, _ = owner.rsplit(":", 2)
    if host != _HOST:
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass
    return False


def _tune_sqlite(connection: Any, _record: Any) -> None:
    """WAL: readers never wait, and a commit survives the death of the process."""
    for pragma in ("busy_timeout = 60000", "journal_mode = WAL", "synchronous = NORMAL"):
        connection.execute(f"PRAGMA {pragma}")


def _packed(reply: Reply) -> bytes:
    content = orjson.dumps(reply)
    return len(content).to_bytes(4, "little") + pa.compress(content, codec="zstd", asbytes=True)


def _entry(row: sa.RowMapping) -> Entry:
    packed: bytes = row["reply"]
    size = int.from_bytes(packed[:4], "little")
    content = orjson.loads(pa.decompress(packed[4:], decompressed_size=size, codec="zstd", asbytes=True))
    finish: Finish = content["finish"]
    calls = tuple(ToolUse(**call) for call in content.get("calls", ()))
    return Entry(
        reply=Reply(
            text=content["text"],
            finish=finish,
            usage=TokenUsage(**content["usage"]),
            thought=content.get("thought"),
            calls=calls,
            wire=content.get("wire"),
            served_model=content.get("served_model"),
        ),
        run=row["run"],
        number=row["number"],
        cost_usd=row["cost_usd"],
        latency_ms=row["latency_ms"],
        attempts=row["attempts"],
    )
