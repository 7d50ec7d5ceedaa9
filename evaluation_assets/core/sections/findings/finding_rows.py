"""Codec of findings: rows of `findings`, `claims` and `process_scores`."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.sections.findings.claim import Claim
from evaluation_assets.core.sections.findings.evidence.course import LONGEST_QUOTATION, Course
from evaluation_assets.core.sections.findings.finding import Finding, Place
from evaluation_assets.core.sections.findings.gathering import MISSING_CALL
from evaluation_assets.core.sections.findings.process_score import CRITERIA, ProcessScore
from evaluation_assets.core.traces.trajectories.model import Trajectory

_LONGEST_MESSAGE = 5000
"""Characters of evidence that is no quotation: an expected call stands in no other place."""

_At = tuple[int | None, int | None, int | None]
"""Turn, interaction and step."""


class _Step(NamedTuple):
    clip: int | None
    tool: str | None


_NOWHERE = _Step(None, None)


def finding_rows(drop: str, trajectory: Trajectory, findings: list[Finding]) -> list[Row]:
    """Encode the findings of a run as rows of `findings`."""
    steps = _steps(trajectory) if findings else {}
    return [_row(drop, trajectory, finding, steps) for finding in findings]


def claim_rows(drop: str, trajectory: Trajectory, claims: list[Claim]) -> Iterator[Row]:
    """Encode the claims of a run as rows of `claims`."""
    steps = _steps(trajectory) if claims else {}
    for claim in claims:
        yield {
            "drop": drop,
            "trajectory_id": trajectory.id,
            "task_id": trajectory.task_id,
            **_place(claim.place),
            "clip_index": _step_at(claim.place, steps).clip,
            "claim": claim.text[:LONGEST_QUOTATION],
            "verdict": claim.verdict,
        }


def process_score_row(drop: str, trajectory: Trajectory, scored: ProcessScore) -> Row:
    """Encode the process score of a run as a row of `process_scores`."""
    heaviest = scored.heaviest
    return {
        "drop": drop,
        "trajectory_id": trajectory.id,
        "task_id": trajectory.task_id,
        "score": scored.score,
        **{criterion: scored.criteria.get(criterion) for criterion in CRITERIA},
        "findings": scored.n,
        "heaviest_kind": None if heaviest is None else heaviest.kind,
        "heaviest_clip": None if heaviest is None else _step_at(heaviest.place, _steps(trajectory)).clip,
        "heaviest_evidence": None if heaviest is None else heaviest.evidence[:LONGEST_QUOTATION],
    }


def _row(drop: str, trajectory: Trajectory, finding: Finding, steps: Mapping[_At, _Step]) -> Row:
    step = _step_at(finding.place, steps)
    return {
        "drop": drop,
        "trajectory_id": trajectory.id,
        "task_id": trajectory.task_id,
        "kind": finding.kind,
        "severity": finding.severity,
        **_place(finding.place),
        "tool": None if finding.kind == MISSING_CALL else step.tool,
        "clip_index": step.clip,
        "evidence": finding.evidence[: _LONGEST_MESSAGE if finding.place.span is None else LONGEST_QUOTATION],
        "detector": finding.detector,
        "detector_version": finding.detector_version,
        "false_alarm_rate": None,
    }


def _place(place: Place) -> Row:
    start, end = (None, None) if place.span is None else place.span
    return {
        "turn": place.turn,
        "interaction": place.interaction,
        "step": place.step,
        "agent_id": place.agent_id,
        "start": start,
        "end": end,
    }


def _steps(trajectory: Trajectory) -> dict[_At, _Step]:
    """The clip and the tool of each step."""
    return {
        (at.turn, at.interaction, at.number): _Step(at.clip, at.step.call and at.step.call.name)
        for at in Course(trajectory).steps
    }


def _step_at(place: Place, steps: Mapping[_At, _Step]) -> _Step:
    at = (place.turn, place.interaction, place.step)
    return _NOWHERE if None in at else steps.get(at, _NOWHERE)
