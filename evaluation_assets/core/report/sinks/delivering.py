"""Send what a sink does not have yet: what is new, has changed, or failed the last time."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import cast

from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.pipeline.checks.finding import Finding
from evaluation_assets.core.report.sinks.opening import MissingKey, open_sink, secrets_of
from evaluation_assets.core.report.sinks.scores import Counts, TraceScore, drop_scores, sendable
from evaluation_assets.core.report.sinks.settings import ScoreSinkSettings, SinkSettings, takes
from evaluation_assets.core.report.sinks.sink import Delivery, DropOutcome, Item, OutcomeSink, ScoreSink
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.counted import counted
from evaluation_assets.core.text.masking import Mask

DELIVERED, FAILED = "delivered", "failed"


@dataclass(slots=True)
class Tally:
    """What became of the scores of a drop: sent now, there already, failed (with the first reason), not sendable."""

    sent: int = 0
    there: int = 0
    failed: int = 0
    reason: str | None = None
    counts: Counts = field(default_factory=Counts)

    def __str__(self) -> str:
        parts = [f"{self.sent:,} sent", f"{self.there:,} already there"]
        if self.failed:
            parts.append(f"{self.failed:,} failed: {self.reason}")
        return ", ".join([*parts, *left_out(self.counts)])


def delivered(tally: Tally) -> Finding:
    """How many were not delivered, and why. They are sent again by the next run."""
    figures = {"sent": tally.sent, "already_there": tally.there, "failed": tally.failed}
    if not tally.failed:
        return Finding(True, None, figures)
    return Finding(False, f"{counted(tally.failed, 'delivery')} failed: {tally.reason}", figures, "warn")


def left_out(counts: Counts) -> list[str]:
    """What cannot be sent, in words."""
    said = []
    if counts.without_trace:
        trajectories = counted(counts.trajectories_without_trace, "run")
        said.append(f"{counted(counts.without_trace, 'score')} of {trajectories} without a trace ID")
    if counts.without_span:
        said.append(f"{counted(counts.without_span, 'clip score')} without a span")
    if counts.repeated:
        said.append(f"{counted(counts.repeated, 'score')} of a trace that another run has")
    return said


@dataclass(frozen=True, slots=True)
class Consignment:
    """What a drop has for a sink. `outcome` is called only for sinks of outcomes."""

    home: Installation
    drop: str
    sink: str
    settings: SinkSettings
    judges: Sequence[str]
    outcome: Callable[[], DropOutcome]

    def items(self, counts: Counts) -> Iterator[Item]:
        """The scores, or the outcome; none of a drop that the sink does not take."""
        if not takes(self.home, self.drop, self.settings):
            return
        if isinstance(self.settings, ScoreSinkSettings):
            scores = drop_scores(self.home, self.drop, self.judges, Mask(secrets_of(self.settings)))
            yield from sendable(scores, self.settings.levels, counts)
        else:
            yield self.outcome()

    def known(self) -> dict[str, Row]:
        """The stored deliveries by score ID."""
        return {row["score_id"]: row for row in self.home.table(self.drop, "deliveries", self.sink).rows()}

    def preview(self) -> Tally:
        """What would be sent. Nothing is sent or written."""
        tally, known = Tally(), self.known()
        for item in self.items(tally.counts):
            if _is_there(item, known):
                tally.there += 1
            else:
                tally.sent += 1
        return tally

    def deliver(self, tally: Tally) -> Iterator[Row]:
        """Send what is new, has changed or failed; yield a row of `deliveries` for each score that the drop has."""
        known, there = self.known(), list[Row]()

        def pending() -> Iterator[Item]:
            for item in self.items(tally.counts):
                if _is_there(item, known):
                    there.append(known[item.id])
                else:
                    yield item

        for delivery in _sent(self.settings, pending()):
            if delivery.status == DELIVERED:
                tally.sent += 1
            else:
                tally.failed += 1
                tally.reason = tally.reason or delivery.reason
            yield _row(self.drop, delivery)
        tally.there = len(there)
        yield from there


def _sent(settings: SinkSettings, items: Iterable[Item]) -> Iterator[Delivery]:
    try:
        with open_sink(settings) as sink:
            if isinstance(settings, ScoreSinkSettings):
                yield from cast(ScoreSink, sink).send(cast(Iterable[TraceScore], items))
            else:
                yield from (cast(OutcomeSink, sink).tell(cast(DropOutcome, item)) for item in items)
    except MissingKey as problem:
        yield from (Delivery(item, FAILED, str(problem)) for item in items)


def _is_there(item: Item, known: Mapping[str, Row]) -> bool:
    row = known.get(item.id)
    return row is not None and row["status"] == DELIVERED and row["content"] == item.content


def _row(drop: str, delivery: Delivery) -> Row:
    item = delivery.item
    about: Row = {"trajectory_id": None, "trace_id": None, "span_id": None, "clip_index": None, "name": "outcome"}
    if isinstance(item, TraceScore):
        about = {name: getattr(item, name) for name in about}
    return {
        "drop": drop,
        **about,
        "score_id": item.id,
        "content": item.content,
        "status": delivery.status,
        "reason": delivery.reason,
        "remote_id": delivery.remote_id,
        "sent_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
    }
