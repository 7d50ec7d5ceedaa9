"""One thing that went wrong in one run."""

from dataclasses import dataclass
from typing import Literal

from evaluation_assets.core.traces.trajectories.model import Span

Severity = Literal["HIGH", "MEDIUM", "LOW"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where in a trajectory something is; a part that is `None` is not narrowed down.

    `turn` counts from 0 in the run, `interaction` in its turn, `step` in its interaction. `span` is a piece of the
    trajectory's text.
    """

    turn: int | None = None
    interaction: int | None = None
    step: int | None = None
    agent_id: str | None = None
    span: Span | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that went wrong: a `kind` of the vocabulary, its place, and a quotation as evidence.

    `detector` names who says so, with its version: a detector of this section, another section, or a judge.
    """

    kind: str
    severity: Severity
    place: Place
    evidence: str
    detector: str
    detector_version: str
