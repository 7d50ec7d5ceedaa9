"""A store of traces in memory, whose traces become visible some time after they ended."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from evaluation_assets.core.intake.sources.store import Trace, Wanted
from evaluation_assets.core.traces.trajectories.model import JsonObject

START = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)


def at(minutes: float) -> datetime:
    """A time after the start."""
    return START + timedelta(minutes=minutes)


@dataclass
class MemoryStore:
    """Traces by ID, with the times that they ended and are visible from, and the present time."""

    traces: dict[str, tuple[datetime, datetime]] = field(default_factory=dict)
    now: datetime = START
    fetched: list[str] = field(default_factory=list)

    def ends(self, name: str, minutes: float, delay: float = 0) -> None:
        """Add a trace that ends so many minutes after the start."""
        self.traces[name] = (at(minutes), at(minutes + delay))

    def ended(self, after: datetime, until: datetime, wanted: Wanted) -> Iterator[Trace]:
        for name, (end, visible) in sorted(self.traces.items(), key=lambda entry: (entry[1][0], entry[0])):
            if after < end <= until and visible <= self.now and wanted(name):
                self.fetched.append(name)
                yield Trace(id=name, ended_at=end, record={"id": name})

    def id_of(self, record: JsonObject) -> str | None:
        return record["id"]
