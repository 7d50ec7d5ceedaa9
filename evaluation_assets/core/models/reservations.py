"""Reserve time of an endpoint's pace in the ledger's database, so that all processes together keep its limits."""

import time

import sqlalchemy as sa

from evaluation_assets.core.models.ledger import Ledger, LedgerError
from evaluation_assets.core.models.pace import CATCH_UP_S

FARTHEST_S = 120.0
"""No honest reservation is farther ahead: it was made before the machine was started again, and counts no more."""

NOW = {"sqlite": ":now", "postgresql": "extract(epoch from clock_timestamp())"}
"""PostgreSQL's clock, or the time since the machine was started, which all processes at an SQLite file share. It does
not follow the wall clock, so that a clock that is wrong, or is set, neither stops the processes nor lets them rush."""

LARGER = {"sqlite": "max", "postgresql": "greatest"}


class Reservations:
    """The reserved time of one endpoint, by unit. A reservation ends by itself, also when its process is killed."""

    def __init__(self, ledger: Ledger, endpoint: str) -> None:
        self._ledger = ledger
        self._endpoint = endpoint
        now, larger = NOW[ledger.dialect], LARGER[ledger.dialect]
        ahead = f"CASE WHEN reservations.ends_at > {now} + :farthest_s THEN {now} ELSE reservations.ends_at END"
        self._reserve = sa.text(
            f"INSERT INTO reservations (name, ends_at) VALUES (:name, {now} + :seconds) "  # noqa: S608
            f"ON CONFLICT (name) DO UPDATE SET ends_at = {larger}({ahead} + :owed_s, {now} - :catch_up_s) + :seconds "
            f"RETURNING ends_at - {now}"
        )

    def reserve(self, unit: str, seconds: float, owed_s: float) -> float:
        """Reserve the next free seconds of a unit's pace, after those that are owed; in how many seconds they end.

        Without a ledger that can be written, they begin now: the client that owns it stops by itself.
        """
        values = {"name": f"{unit} {self._endpoint}", "seconds": seconds, "owed_s": owed_s}
        values |= {"farthest_s": FARTHEST_S, "catch_up_s": CATCH_UP_S, "now": time.monotonic()}
        try:
            with self._ledger.transaction() as connection:
                return float(connection.execute(self._reserve, values).scalar_one())
        except LedgerError:
            return seconds + max(0.0, owed_s)
