"""Which new and changed drops start an evaluation, and what is remembered of a drop between two looks."""

import json
from collections.abc import Callable, Mapping, Set
from dataclasses import asdict, dataclass, field, replace

from pydantic import TypeAdapter

from evaluation_assets.core.intake.drops import Drop


@dataclass(frozen=True, slots=True)
class Seen:
    """What a sensor remembers of a drop.

    `stamp` is the last look; `scored_stamp` and `content` are the look and the content last asked to be scored,
    `generation` how often that was. `is_waiting` says that it was ready at a look that asked for others.

    Of runs that were killed: `lost` is how many were at work on this content, `lost_run` the last one, `retry_at` when
    to ask again in seconds since 1970, `None` if not. `alone` says that it may be what kills them, `given_up`
    that it is not asked for again.
    """

    stamp: str = ""
    scored_stamp: str = ""
    content: str = ""
    generation: int = 0
    is_waiting: bool = False
    lost: int = 0
    lost_run: str = ""
    retry_at: float | None = None
    alone: bool = False
    given_up: bool = False

    def is_due(self, clock: float) -> bool:
        """Whether it is time to ask again, as its last run was killed."""
        return self.retry_at is not None and self.retry_at <= clock


_SEEN = TypeAdapter(Seen)
_REMEMBERED = TypeAdapter(dict[str, Seen])


@dataclass(frozen=True, slots=True)
class Limits:
    """Most drops that a look gives, and most if those count that were ready at an earlier look."""

    new: int
    waiting: int


@dataclass(slots=True)
class Changes:
    """The outcome of one look: drops to score now, and what to remember for the next look."""

    to_score: list[tuple[Drop, Seen]] = field(default_factory=list)
    seen: dict[str, Seen] = field(default_factory=dict)
    unsettled: list[str] = field(default_factory=list)
    waiting: int = 0


def to_json(seen: Seen) -> str:
    """What is remembered of a drop, for a key-value storage."""
    return json.dumps(asdict(seen), sort_keys=True)


def from_json(text: str) -> Seen:
    """What `to_json` wrote, in this version or another."""
    return _SEEN.validate_json(text)


def to_cursor(asked: Mapping[str, Seen]) -> str:
    """The drops that a tick asked to be run, for the next one."""
    return json.dumps({key: asdict(after) for key, after in asked.items()}, sort_keys=True)


def from_cursor(cursor: str | None) -> dict[str, Seen]:
    """The drops that the last tick asked to be run. Fields of other versions are ignored.

    Raises:
        ValueError: it is the cursor of something else.
    """
    return _REMEMBERED.validate_json(cursor or "{}")


def changes(seen: Mapping[str, Seen], now: Mapping[str, Drop], limits: Limits, clock: float) -> Changes:
    """Which drops to score: new or changed in content and at rest since the last look, or due again.

    A file that grew or was touched since the last look is left for the next one, so that a half-written file is never
    read. Drops that were not ready before come first: a new drop does not wait for a backlog. Those over the limits
    wait for the next look. A drop whose content goes back to an earlier state counts as changed: `generation` tells the
    two times apart.
    """
    result, ready = Changes(), list[tuple[Drop, Seen]]()
    for key, drop in now.items():
        before = seen.get(key, Seen())
        stamp = drop.stamp()
        if stamp != before.stamp:
            result.seen[key] = replace(before, stamp=stamp)
            result.unsettled.append(key)
        elif stamp != before.scored_stamp or before.is_due(clock):
            ready.append((drop, before))
        else:
            result.seen[key] = before
    for drop, before in sorted(ready, key=lambda each: each[1].is_waiting):
        if len(result.to_score) >= (limits.waiting if before.is_waiting else limits.new):
            result.seen[drop.key] = replace(before, is_waiting=True)
            result.waiting += 1
            continue
        content = drop.content_hash()
        after = replace(before, scored_stamp=before.stamp, is_waiting=False, retry_at=None)
        if content != before.content:
            after = Seen(before.stamp, before.stamp, content, before.generation + 1)
        if content != before.content or before.is_due(clock):
            result.to_score.append((drop, after))
        result.seen[drop.key] = after
    return result


@dataclass(frozen=True, slots=True)
class Evaluated:
    """The last report of a drop: the content that it is about, and the run that wrote it."""

    content: str
    run: str


@dataclass(frozen=True, slots=True)
class Look:
    """The outcome of one look.

    `to_run` are drops to run now, the `new` ones first; `to_remember` is what to remember of the others. Some are still
    changing, some wait for a later look.
    """

    to_run: Mapping[str, Seen]
    new: Set[str]
    to_remember: Mapping[str, Seen]
    unsettled: int
    waiting: int

    def leaving(self, seen: Mapping[str, Seen], later: Set[str]) -> "Look":
        """The look without drops that are left for a later one."""
        left = {key: replace(seen.get(key, Seen()), is_waiting=True) for key in later}
        to_run = {key: after for key, after in self.to_run.items() if key not in later}
        return replace(self, to_run=to_run, to_remember={**self.to_remember, **left}, waiting=self.waiting + len(later))


def look_at(
    drops: Mapping[str, Drop],
    seen: Mapping[str, Seen],
    limits: Limits,
    clock: float,
    evaluated: Callable[[str], Evaluated | None],
) -> Look:
    """Which drops to run.

    Args:
        drops: what lies in the drops folder.
        seen: what is remembered of them.
        limits: most drops to run.
        clock: seconds since 1970.
        evaluated: a drop's last report. A drop that was evaluated otherwise, by the command line for instance, is not
            run when it is new to the sensor, nor when its own run was killed.
    """
    changed = changes(seen, drops, limits, clock)
    to_run = {drop.key: after for drop, after in changed.to_score if _is_needed(after, evaluated(drop.key))}
    return Look(
        to_run,
        {key for key in to_run if not seen[key].is_waiting},
        {key: now for key, now in changed.seen.items() if key not in to_run and now != seen.get(key)},
        len(changed.unsettled),
        changed.waiting,
    )


def _is_needed(after: Seen, last: Evaluated | None) -> bool:
    if last is None or last.content != after.content:
        return True
    return last.run == after.lost_run if after.lost_run else after.generation > 1


def run_key(drop: str, seen: Seen) -> str:
    """What tells evaluations apart: Dagster remembers run keys for ever, so a content that comes back gets another."""
    again = f"+{seen.lost_run}" if seen.lost_run else ""
    return f"{drop}#{seen.generation}@{seen.content[:16]}{again}"
