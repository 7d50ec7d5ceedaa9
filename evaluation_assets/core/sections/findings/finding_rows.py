"""Codec of findings: rows of `findings`."""

from typing import Any

from evaluation_assets.core.sections.findings.course import LONGEST_QUOTATION
from evaluation_assets.core.sections.findings.finding import Finding, Place
from evaluation_assets.core.traces.trajectories.model import Trajectory

Row = dict[str, Any]


def finding_rows(drop: str, trajectory: Trajectory, findings: list[Finding]) -> list[Row]:
    """Encode the findings of a run as rows of `findings`."""
    clips = _clips(trajectory)
    return [_row(drop, trajectory, finding, clips) for finding in findings]


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
