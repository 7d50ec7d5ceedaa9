"""Recorded verdicts: labels of a trajectory that are never shown to a judge."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

from pydantic import TypeAdapter, ValidationError

from evaluation_assets.core.traces.trajectories.model import JsonObject, Trajectory

LABEL = "verdicts"
"""Where recorded verdicts stand in a trajectory's labels: a list of objects."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedVerdict:
    """One judge's verdict as a file had it.

    `judge` is its name there. `subject` is the index of a clip, a category, or the level itself. `scores` are 0..1 by
    criterion, `probabilities` how likely the subject passes each; `verdict` is a word such as pass, where there is one.
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


def labelled(verdicts: Iterable[RecordedVerdict]) -> JsonObject:
    """The label that holds verdicts; no label for none."""
    labels: list[dict[str, Any]] = [asdict(verdict) for verdict in verdicts]
    for entry in labels:
        if entry["probabilities"] is None:
            del entry["probabilities"]
    return {LABEL: labels} if labels else {}


def recorded_verdicts(trajectory: Trajectory) -> list[RecordedVerdict]:
    """The verdicts among a trajectory's labels; what is no verdict is left out."""
    recorded: list[RecordedVerdict] = []
    entries = trajectory.labels.get(LABEL)
    for entry in entries if isinstance(entries, list) else []:
        try:
            recorded.append(_ADAPTER.validate_python(entry))
        except ValidationError:
            continue
    return recorded
