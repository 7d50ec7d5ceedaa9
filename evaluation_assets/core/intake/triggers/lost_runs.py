"""Which runs show no sign of life any more, from looks at their heartbeats."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import TypeAdapter

MAX_SILENT_LOOKS = 6
"""So many looks in a row without a new heartbeat and a run is lost, wherever it ran. Looks are counted instead of time,
so that neither clocks that differ nor a laptop that slept make a run look dead."""


@dataclass(frozen=True, slots=True)
class Silence:
    """The last heartbeat of a run, `None` before its first, and in how many looks in a row it was the same."""

    beat: int | None
    looks: int


_SILENCES = TypeAdapter(dict[str, tuple[int | None, int]])


def look_at(beats: Mapping[str, int | None], before: Mapping[str, Silence]) -> dict[str, Silence]:
    """By run at work, how long it has been silent."""
    after: dict[str, Silence] = {}
    for run, beat in beats.items():
        last = before.get(run, Silence(beat, -1))
        after[run] = Silence(beat, last.looks + 1 if beat == last.beat else 0)
    return after


def is_lost(silence: Silence) -> bool:
    """Whether a run was silent for too many looks."""
    return silence.looks >= MAX_SILENT_LOOKS


def to_cursor(silences: Mapping[str, Silence]) -> str:
    """What a look found, for the next one."""
    return json.dumps({run: [each.beat, each.looks] for run, each in silences.items()}, sort_keys=True)


def from_cursor(cursor: str | None) -> dict[str, Silence]:
    """What the last look found.

    Raises:
        ValueError: it is the cursor of something else.
    """
    return {run: Silence(*value) for run, value in _SILENCES.validate_json(cursor or "{}").items()}
