"""Which new and changed drops start an evaluation, and what is remembered of a drop between two looks."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace

from evaluation_assets.core.drops import Drop


@dataclass(frozen=True, slots=True)
class Seen:
    """What a sensor remembers of a drop.

    `stamp` is the last look; `scored_stamp` and `content` are the look and the content last asked to be scored,
    `generation` how often that was.
    """

    stamp: str = ""
    scored_stamp: str = ""
    content: str = ""
    generation: int = 0


@dataclass(slots=True)
class Changes:
    """The outcome of one look: drops to score now, and what to remember for the next look."""

    to_score: list[tuple[Drop, Seen]] = field(default_factory=list)
    seen: dict[str, Seen] = field(default_factory=dict)
    unsettled: list[str] = field(default_factory=list)


def to_json(seen: Seen) -> str:
    """What is remembered of a drop, for a key-value storage."""
    return json.dumps(asdict(seen), sort_keys=True)


def from_json(text: str) -> Seen:
    """What `to_json` wrote."""
    return Seen(**json.loads(text))


def to_cursor(asked: Mapping[str, Seen]) -> str:
    """The drops that a tick asked to be run, for the next one."""
    return json.dumps({key: asdict(after) for key, after in asked.items()}, sort_keys=True)


def from_cursor(cursor: str | None) -> dict[str, Seen]:
    """The drops that the last tick asked to be run."""
    return {key: Seen(**value) for key, value in json.loads(cursor or "{}").items()}


def changes(seen: Mapping[str, Seen], now: Mapping[str, Drop], limit: int) -> Changes:
    """Which drops to score: new or changed in content, and at rest since the last look.

    A file that grew or was touched since the last look is left for the next one, so that a half-written file is never
    read. At most `limit` drops are given; the others stay as they were seen and come with the next look. A drop whose
    content goes back to an earlier state counts as changed: `generation` tells the two times apart.
    """
    result = Changes()
    for key, drop in now.items():
        before = seen.get(key, Seen())
        stamp = drop.stamp()
        if stamp != before.stamp:
            result.seen[key] = replace(before, stamp=stamp)
            result.unsettled.append(key)
        elif stamp == before.scored_stamp or len(result.to_score) == limit:
            result.seen[key] = before
        else:
            content = drop.content_hash()
            after = replace(before, scored_stamp=stamp)
            if content != before.content:
                after = replace(after, content=content, generation=before.generation + 1)
                result.to_score.append((drop, after))
            result.seen[key] = after
    return result


@dataclass(frozen=True, slots=True)
class Look:
    """The outcome of one look: drops to run now, what to remember of the others, and those still changing."""

    to_run: Mapping[str, Seen]
    to_remember: Mapping[str, Seen]
    unsettled: int


def look_at(
    drops: Mapping[str, Drop], seen: Mapping[str, Seen], limit: int, evaluated_content: Callable[[str], str | None]
) -> Look:
    """Which drops to run, at most `limit`.

    Args:
        drops: what lies in the drops folder.
        seen: what is remembered of them.
        limit: most drops to run.
        evaluated_content: content hash of a drop's last report. A drop that was evaluated otherwise, by the command
            line for instance, is not run when it is new to the sensor.
    """
    found = changes(seen, drops, limit)
    to_run = {
        drop.key: after
        for drop, after in found.to_score
        if after.generation > 1 or evaluated_content(drop.key) != after.content
    }
    to_remember = {key: now for key, now in found.seen.items() if key not in to_run and now != seen.get(key)}
    return Look(to_run, to_remember, len(found.unsettled))


def run_key(drop: str, seen: Seen) -> str:
    """What tells evaluations apart: Dagster remembers run keys for ever, so a content that comes back gets another."""
    return f"{drop}#{seen.generation}@{seen.content[:16]}"
