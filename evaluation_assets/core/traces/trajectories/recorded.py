"""Recorded verdicts: labels of a trajectory that are never shown to a judge."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

from pydantic import TypeAdapter, ValidationError

from evaluation_assets.core.text.faults import faults_of
from evaluation_assets.core.traces.trajectories.model import JsonObject, Trajectory

LABEL = "verdicts"
"""Where recorded verdicts stand in a trajectory's labels: a list of objects."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedVerdict:
    """One judge's verdict as a file had it.

    `judge` is its name there. `subject` is the index of a clip, a category, or the level itself. `scores` are by
    criterion, 0..1 where they count, `probabilities` how likely the subject passes each; `verdict` is a word such as
    pass, where there is one.
    """

    level: str
    subject: str
    judge: str = "recorded"
    scores: dict[str, float | None] = field(default_factory=dict)
    probabilities: dict[str, float | None] | None = None
    verdict: str | None = None
    summary: str | None = None
    reasoning: str | None = None


verdict_on_run = partial(RecordedVerdict, level="trajectory", subject="trajectory")
"""A verdict about all of a run."""

_ADAPTER = TypeAdapter(RecordedVerdict)


@dataclass(frozen=True, slots=True)
class UnreadableVerdict:
    """An entry among recorded verdicts that is none. `entry` is as it was recorded."""

    entry: JsonObject
    reason: str


def labelled(verdicts: Iterable[RecordedVerdict]) -> JsonObject:
    """The label that holds verdicts; no label for none."""
    labels: list[dict[str, Any]] = [asdict(verdict) for verdict in verdicts]
    for entry in labels:
        if entry["probabilities"] is None:
            del entry["probabilities"]
    return {LABEL: labels} if labels else {}


def recorded_verdicts(trajectory: Trajectory) -> list[RecordedVerdict]:
    """The verdicts among a trajectory's labels; what is no verdict is left out."""
    return [entry for entry in _entries(trajectory) if isinstance(entry, RecordedVerdict)]


def unreadable_verdicts(trajectory: Trajectory) -> list[UnreadableVerdict]:
    """The objects among the recorded verdicts of a trajectory that are no verdict."""
    return [entry for entry in _entries(trajectory) if isinstance(entry, UnreadableVerdict)]


def _entries(trajectory: Trajectory) -> Iterator[RecordedVerdict | UnreadableVerdict]:
    entries = trajectory.labels.get(LABEL)
    for entry in entries if isinstance(entries, list) else []:
        if isinstance(entry, dict):
            subject = entry.get("subject")
            is_index = isinstance(subject, int) and not isinstance(subject, bool)
            try:
                yield _ADAPTER.validate_python({**entry, "subject": str(subject)} if is_index else entry)
            except ValidationError as problem:
                yield UnreadableVerdict(entry, str(faults_of(problem)[0]))
