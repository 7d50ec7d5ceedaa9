"""What a sink is: scores, or the outcome of a drop, go in; for each comes out whether it was delivered."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal, Protocol

from evaluation_assets.core.report.sinks.http import SendError
from evaluation_assets.core.report.sinks.scores import TraceScore
from evaluation_assets.core.system.chunks import chunks
from evaluation_assets.core.traces.trajectories.identity import digest

UNEXPECTED = (LookupError, TypeError, AttributeError, ValueError)
"""What reading a reply ends in that is not the one documented: the page of a proxy, say."""

UNEXPECTED_REPLY = "unexpected reply for this kind of server; check the URL"

_WORKERS = 4
_GROUPS_AHEAD = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class DropOutcome:
    """The outcome of a drop: its headline and, if the suite has a baseline, the verdict of the gate.

    `sentence` says both in one line, `markdown` in full. `labels` are those of the drop's sidecar. `data` is for
    programs.
    """

    drop: str
    suite: str | None
    verdict: str | None
    blocks: bool
    sentence: str
    markdown: str
    labels: dict[str, Any]
    data: dict[str, Any]

    @property
    def id(self) -> str:
        """The identity of the outcome."""
        return digest("outcome", self.drop)

    @property
    def content(self) -> str:
        """A digest of what the outcome says."""
        return digest(self.sentence, self.markdown)


Item = TraceScore | DropOutcome


@dataclass(frozen=True, slots=True)
class Delivery:
    """The result of sending a score, or the outcome of a drop. `reason` says why it failed, without secrets."""

    item: Item
    status: Literal["delivered", "failed"]
    reason: str | None = None
    remote_id: str | None = None


class ScoreSink(Protocol):
    """A sink of scores. Sending a score again, also after a crash, updates it."""

    def send(self, scores: Iterable[TraceScore]) -> Iterator[Delivery]:
        """Send scores; yield a delivery for each, in any order. A store that is down fails them, it does not raise."""
        ...


class OutcomeSink(Protocol):
    """A sink of the outcomes of drops."""

    def tell(self, outcome: DropOutcome) -> Delivery:
        """Send an outcome. A receiver that is down fails it, it does not raise."""
        ...


def grouped_by(
    scores: Iterable[TraceScore], key: Callable[[TraceScore], Any], limit: int
) -> Iterator[list[TraceScore]]:
    """Neighbouring scores with the same key, at most `limit` together."""
    for _, group in groupby(scores, key):
        yield from chunks(group, limit)


def send_groups(
    groups: Iterable[list[TraceScore]], send: Callable[[list[TraceScore]], Iterable[Delivery]]
) -> Iterator[Delivery]:
    """Send groups of scores, several at the same time.

    Once a store is down, all that follows fails for the same reason without being tried.
    """
    down: list[str] = []

    def attempt(group: list[TraceScore]) -> list[Delivery]:
        if down:
            return [Delivery(score, "failed", down[0]) for score in group]
        done: list[Delivery] = []
        try:
            for delivery in send(group):
                done.append(delivery)  # noqa: PERF402  (what came before a failure is kept)
        except SendError as problem:
            if problem.is_down:
                down.append(str(problem))
            done += _rest(group, done, str(problem))
        except UNEXPECTED:
            done += _rest(group, done, UNEXPECTED_REPLY)
        return done

    pool = ThreadPoolExecutor(_WORKERS, thread_name_prefix="sink")
    try:
        for some in chunks(groups, _GROUPS_AHEAD):
            for done in pool.map(attempt, some):
                yield from done
    finally:  # of a run that is stopped, before its requests have been answered
        pool.shutdown(wait=False, cancel_futures=True)


def _rest(group: list[TraceScore], done: list[Delivery], reason: str) -> list[Delivery]:
    """Failed deliveries of the scores of a group that have none yet."""
    sent = {delivery.item.id for delivery in done}
    return [Delivery(score, "failed", reason) for score in group if score.id not in sent]


def one_by_one(send: Callable[[TraceScore], str | None]) -> Callable[[list[TraceScore]], Iterator[Delivery]]:
    """Send the scores of a group one by one. One that is refused fails alone; `send` returns the remote ID."""

    def send_each(group: list[TraceScore]) -> Iterator[Delivery]:
        for score in group:
            try:
                yield Delivery(score, "delivered", remote_id=send(score))
            except SendError as problem:
                if problem.is_down:
                    raise
                yield Delivery(score, "failed", str(problem))

    return send_each
