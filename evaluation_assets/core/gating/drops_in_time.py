"""The order of drops in time: by when their runs were made. One that is evaluated again is no later than it was."""

from collections.abc import Iterable
from statistics import median_low

from evaluation_assets.core.intake.facts import HistoryFacts
from evaluation_assets.core.lake.stored import Stored
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.traces.formats.times import chronological

Place = tuple[str, str, str]
"""When the runs of a drop were made, when it was first evaluated, and its name."""


def place_in_time(home: Installation, drop: str) -> Place:
    """By what drops are sorted, the oldest first. A drop without an evaluation comes first.

    Raises:
        DamagedTable: its history cannot be read.
    """
    facts = HistoryFacts.of(home.table(drop, "score_history"))
    first = facts.first_evaluated_at or facts.evaluated_at
    return facts.made_at or first, first, drop


def history_facts(earlier: Stored, starts: Iterable[str | None], now: str) -> HistoryFacts:
    """The facts of a history: `earlier` is the one that it replaces, `starts` are those of the runs, `now` is UTC."""
    before = HistoryFacts.of(earlier) if earlier.exists else HistoryFacts()
    first = before.first_evaluated_at or before.evaluated_at or now
    return HistoryFacts(evaluated_at=now, first_evaluated_at=first, made_at=_middle(starts) or first)


def _middle(starts: Iterable[str | None]) -> str:
    """The median of recorded times (UTC, ISO 8601): single runs may have a wrong one. Empty if none is known."""
    moments = [moment for start in starts if (moment := chronological(start)).year > 1]
    return median_low(moments).isoformat(timespec="milliseconds") if moments else ""
