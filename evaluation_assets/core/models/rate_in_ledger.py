"""Share the learned rate of an endpoint in the ledger's database, so that all processes slow down once, together."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import sqlalchemy as sa

from evaluation_assets.core.models.errors import LedgerError
from evaluation_assets.core.models.learned_rate import LearnedRate
from evaluation_assets.core.models.ledger import Ledger
from evaluation_assets.core.models.pace import CATCH_UP_S
from evaluation_assets.core.models.reservations import FARTHEST_S, LARGER, NOW

FORGOTTEN_S = 60.0
"""A rate that nobody has used for so long is forgotten, as others may have used the endpoint until now."""

_FORGOTTEN = "(learned_rates.ends_at < {now} - :forgotten_s OR learned_rates.ends_at > {now} + :farthest_s)"
_STATE = "per_second, is_measured, version, taken, {now} - since"
_KNOWN = f"SELECT {_STATE} FROM learned_rates WHERE name = :name AND NOT {_FORGOTTEN}"  # noqa: S608
_LEARN = (
    "INSERT INTO learned_rates (name, version, per_second, is_measured, since, taken, ends_at) "  # noqa: S608
    "VALUES (:name, 1, :per_second, :is_measured, {now}, 0, {now}) ON CONFLICT (name) DO UPDATE SET "
    "version = learned_rates.version + 1, per_second = excluded.per_second, is_measured = excluded.is_measured, "
    "since = excluded.since, taken = 0, "
    f"ends_at = CASE WHEN {_FORGOTTEN} THEN excluded.ends_at ELSE learned_rates.ends_at END "
    f"WHERE learned_rates.version = :version OR {_FORGOTTEN}"
)
_RESERVE = (
    "UPDATE learned_rates SET taken = taken + CASE WHEN version = :version THEN :taken ELSE 0 END, "  # noqa: S608
    "ends_at = {larger}(CASE WHEN ends_at > {now} + :farthest_s THEN {now} ELSE ends_at END + :owed_s, "
    "{now} - :catch_up_s) + :seconds "
    f"WHERE name = :name RETURNING ends_at - {{now}}, {_STATE}"
)


class RateInLedger:
    """The learned rate of one endpoint.

    `ledger` gives one that is open, or nothing when no client is left. Without a ledger that can be written a process
    keeps to a rate of its own; the client that owns the ledger stops by itself.
    """

    def __init__(self, endpoint: str, ledger: Callable[[], Ledger | None]) -> None:
        self._endpoint = endpoint
        self._ledger = ledger

    def known(self) -> LearnedRate | None:
        row = self._run(_KNOWN)
        return None if row is None else _rate(row)

    def learn(self, per_second: float, is_measured: bool, version: int) -> LearnedRate:
        row = self._run(_LEARN, _KNOWN, per_second=per_second, is_measured=int(is_measured), version=version)
        return LearnedRate(per_second, is_measured, version + 1, 0, 0.0) if row is None else _rate(row)

    def reserve(self, seconds: float, owed_s: float, taken: int, version: int) -> tuple[float, LearnedRate | None]:
        """Reserve the next free seconds. Without a ledger they begin now."""
        row = self._run(_RESERVE, seconds=seconds, owed_s=owed_s, taken=taken, version=version)
        return (seconds + max(0.0, owed_s), None) if row is None else (float(row[0]), _rate(row[1:]))

    def _run(self, *statements: str, **values: object) -> Sequence[Any] | None:
        """The row that the last statement returns; `None` without one, or without a ledger."""
        ledger = self._ledger()
        if ledger is None:
            return None
        values |= {"name": self._endpoint, "now": time.monotonic(), "catch_up_s": CATCH_UP_S}
        values |= {"forgotten_s": FORGOTTEN_S, "farthest_s": FARTHEST_S}
        row = None
        try:
            with ledger.transaction() as connection:
                for statement in statements:
                    text = sa.text(statement.format(now=NOW[ledger.dialect], larger=LARGER[ledger.dialect]))
                    done = connection.execute(text, {name: values[name] for name in text.compile().params})
                    row = done.first() if done.returns_rows else None
        except LedgerError:
            return None
        return row


def _rate(row: Sequence[Any]) -> LearnedRate:
    per_second, is_measured, version, taken, seconds = row
    return LearnedRate(float(per_second), bool(is_measured), int(version), int(taken), float(seconds))
