"""What detectors find in short runs."""

from typing import Any

from evaluation_assets.core.sections.findings.detector import Detector
from evaluation_assets.core.sections.findings.evidence.course import Course
from evaluation_assets.core.sections.findings.finding import Finding
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets_tests.core.sections.sessions.making import part, session, turn


def asked(message: str | None, *steps: dict[str, Any], answer: str | None = "All right.") -> dict[str, Any]:
    """A turn of one agent."""
    return turn(message, part("agent", answer, *steps))


def run(*turns: dict[str, Any], **fields: Any) -> Trajectory:
    """A run of these turns."""
    return session(*turns, **fields)


def found(detector: Detector, trajectory: Trajectory) -> list[tuple[str, str]]:
    """Kind and evidence of each finding. The evidence stands in the run, at its place where it has one."""
    findings = list(detector.findings(Course(trajectory)))
    for finding in findings:
        assert finding.kind in detector.kinds
        assert is_quoted(finding, trajectory), finding
    return [(finding.kind, finding.evidence) for finding in findings]


def is_quoted(finding: Finding, trajectory: Trajectory) -> bool:
    """Whether the evidence is what stands at the place, or else anywhere in the run."""
    if finding.place.span is not None:
        return trajectory.piece(finding.place.span) == finding.evidence
    responses = [each.response or "" for turn in trajectory.turns for each in turn.interactions]
    return any(finding.evidence in text for text in (*trajectory.texts, *responses))
