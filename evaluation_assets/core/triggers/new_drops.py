"""Which new and changed drops start an evaluation, and what is remembered of a drop between two looks."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass

from evaluation_assets.core.drops import Drop, Seen, changes


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
