"""The process score of a run: how much its findings say went wrong, 0..1, and 1 if all that was checked is right.

A finding weighs its severity, times the share of findings of its kind that are right. Of several of one kind in a run,
each further one weighs half as much. What remains after each finding is multiplied, `1 - weight`: there is no mean over
calls or answers, in which the many good ones would hide one lie, or a repeated call would make the run longer and so
better. What could go wrong in a run are the criteria that apply to it; where none does, there is no score.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Literal

from evaluation_assets.core.sections.findings.detectors.registry import DETECTORS
from evaluation_assets.core.sections.findings.evidence.course import Course
from evaluation_assets.core.sections.findings.finding import Finding, Severity
from evaluation_assets.core.traces.trajectories.model import Trajectory

PROCESS_VERSION = "8"
"""Increment when the same findings would give another score."""

Criterion = Literal["calls", "errors", "answers", "course", "rules"]

CRITERIA: Mapping[Criterion, tuple[str, ...]] = {
    "calls": ("unsupported_argument", "contradicted_argument", "unsuitable_tool", "repeated_call", "loop"),
    "errors": ("ignored_error", "unresolved_error"),
    "answers": ("unperformed_claim", "contradicted_answer", "unsupported_answer"),
    "course": ("cut_off", "missing_answer", "unkept_promise", "failing_tests"),
    "rules": ("broken_rule",),
}
"""What is scored, with the kinds of findings that it is scored by."""

_SCORED = frozenset(kind for own in CRITERIA.values() for kind in own)

_SEVERITIES: Mapping[Severity, float] = {"HIGH": 0.9, "MEDIUM": 0.5, "LOW": 0.2}

_READ: Mapping[str, tuple[int, int]] = {
    "unsupported_argument": (7, 9),
    "repeated_call": (9, 9),
    "loop": (2, 2),
    "ignored_error": (3, 3),
    "unresolved_error": (4, 4),
    "contradicted_answer": (12, 12),
    "unsupported_answer": (3, 6),
    "unperformed_claim": (1, 1),
    "cut_off": (3, 3),
    "failing_tests": (4, 4),
}
"""Findings by kind that are right, of all in the development data of `docs/findings.md`, which were read for this.

What the reader could not confirm counts as wrong. Of other kinds no finding was read.
"""

_SOURCES = frozenset({"flags", "constraint_results", *(detector.name for detector in DETECTORS)})
"""Whose findings count. Those of sessions have no measured precision, and those of test cases are about the outcome."""

_DISTINCT = 50
"""Findings of a kind from which on a further one changes nothing that a float can hold."""


@dataclass(frozen=True, slots=True)
class ProcessScore:
    """The score of a run, by criterion too, if the criterion applies. `heaviest` weighs most of the `n` findings."""

    score: float | None
    criteria: Mapping[Criterion, float]
    n: int
    heaviest: Finding | None


def process_score(trajectory: Trajectory, findings: Sequence[Finding], *, has_rules: bool = False) -> ProcessScore:
    """Score a run by its findings. `has_rules` says whether constraints were checked on it."""
    counted = [finding for finding in findings if finding.detector in _SOURCES and _precision(finding.kind) is not None]
    counted_kinds = {finding.kind for finding in counted}
    applying = {*_applying(Course(trajectory)), *(("rules",) if has_rules else ())}
    criteria: dict[Criterion, float] = {
        criterion: prod((_remaining(counted, kind) for kind in kinds), start=1.0)
        for criterion, kinds in CRITERIA.items()
        if criterion in applying or not counted_kinds.isdisjoint(kinds)
    }
    return ProcessScore(
        score=prod(criteria.values()) if criteria else None,
        criteria=criteria,
        n=len(counted),
        heaviest=max(counted, key=weight, default=None),
    )


def weight(finding: Finding) -> float:
    """What a finding takes from the score: its severity times the precision of its kind."""
    return _SEVERITIES[finding.severity] * (_precision(finding.kind) or 0.0)


def _precision(kind: str) -> float | None:
    """The share of findings that are right, by Laplace's rule: 1/2 if none was read. A rule of the user always is."""
    if kind in CRITERIA["rules"]:
        return 1.0
    if kind not in _SCORED:
        return None
    right, read = _READ.get(kind, (0, 0))
    return (right + 1) / (read + 2)


def _remaining(findings: Sequence[Finding], kind: str) -> float:
    weights = sorted((weight(finding) for finding in findings if finding.kind == kind), reverse=True)
    return prod((1 - each / 2**further for further, each in enumerate(weights[:_DISTINCT])), start=1.0)


def _applying(course: Course) -> Iterator[Criterion]:
    """The criteria by which something can go wrong in a run."""
    calls, trajectory = course.calls, course.trajectory
    has_result = any(made.step.result is not None for made in calls)
    if calls:
        yield "calls"
    if has_result:
        yield "errors"
    if course.messages and (has_result or any(agent.tools for agent in trajectory.agents)):
        yield "answers"
    if calls or len(trajectory.turns) > 1:
        yield "course"
