"""Codec of findings: rows of `findings` and `process_scores`."""

from typing import Any

from evaluation_assets.core.sections.findings.course import LONGEST_QUOTATION
from evaluation_assets.core.sections.findings.finding import Finding, Place
from evaluation_assets.core.sections.findings.process_score import CRITERIA, ProcessScore
from evaluation_assets.core.traces.trajectories.model import Trajectory

Row = dict[str, Any]


def finding_rows(drop: str, trajectory: Trajectory, findings: list[Finding]) -> list[Row]:
    """Encode the findings of a run as rows of `findings`."""
    clips = _clips(trajectory)
    return [_row(drop, trajectory, finding, clips) for finding in findings]


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
        "heaviest_clip": None if heaviest is None else _clip(heaviest.place, _clips(trajectory)),
        "heaviest_evidence": None if heaviest is None else heaviest.evidence[:LONGEST_QUOTATION],
    }


def _row(drop: str, trajectory: Trajectory, finding: Finding, clips: dict[tuple[int, int, int], int]) -> Row:
    place = finding.place
    start, end = (None, None) if place.span is None else place.span
    return {
        "drop": drop,
        "trajectory_id": trajectory.id,
        "task_id": trajectory.task_id,
        "kind": finding.kind,
        "severity": finding.severity,
        "turn": place.turn,
        "interaction": place.interaction,
        "step": place.step,
        "agent_id": place.agent_id,
        "clip_index": _clip(place, clips),
        "start": start,
        "end": end,
        "evidence": finding.evidence[:LONGEST_QUOTATION],
        "detector": finding.detector,
        "detector_version": finding.detector_version,
        "false_alarm_rate": None,
    }


def _clips(trajectory: Trajectory) -> dict[tuple[int, int, int], int]:
    """The clip of each step: the number of calls before it."""
    found: dict[tuple[int, int, int], int] = {}
    clip = 0
    for turn, taken in enumerate(trajectory.turns):
        for interaction, own in enumerate(taken.interactions):
            for number, step in enumerate(own.steps):
                found[turn, interaction, number] = clip
                clip += step.call is not None
    return found


def _clip(place: Place, clips: dict[tuple[int, int, int], int]) -> int | None:
    if place.turn is None or place.interaction is None or place.step is None:
        return None
    return clips.get((place.turn, place.interaction, place.step))
