"""The section of a report on constraints: each with its counts. The trajectories that violate them are findings."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from evaluation_assets.core.lake.stored import Stored
from evaluation_assets.core.sections.constraints.settings import Severity
from evaluation_assets.core.system.frozen import Frozen
from evaluation_assets.core.text.counted import counted

_SHOWN = 10
"""Constraints that do not hold, on the terminal."""


class ConstraintSummary(Frozen):
    """A constraint: the number of trajectories by status.

    `unchecked` is the reason for the first trajectory that could not be checked.
    """

    name: str
    rule: str
    severity: Severity
    passed: int
    failed: int
    not_applicable: int
    not_checked: int
    unchecked: str | None

    @property
    def holds(self) -> bool:
        """Whether it is violated in no trajectory and could be checked in all."""
        return not self.failed and not self.not_checked


class ConstraintsSummary(Frozen):
    """All constraints of a drop, those that do not hold first, and of these errors before warnings."""

    constraints: list[ConstraintSummary]
    violating_trajectories: int

    @property
    def failed(self) -> list[ConstraintSummary]:
        """Those that do not hold."""
        return [one for one in self.constraints if not one.holds]


@dataclass(slots=True)
class _Counts:
    rule: str
    severity: Severity
    statuses: dict[str, int] = field(
        default_factory=lambda: {"passed": 0, "failed": 0, "not_applicable": 0, "not_checked": 0}
    )
    unchecked: str | None = None


def constraints_summary(results: Stored) -> ConstraintsSummary | None:
    """Summarise `constraint_results`; `None` without constraints."""
    by_constraint: dict[str, _Counts] = {}
    trajectories: set[str] = set()
    for row in results.rows(["trajectory_id", "constraint", "rule", "severity", "status", "message"]):
        own = by_constraint.setdefault(row["constraint"], _Counts(row["rule"], row["severity"]))
        own.statuses[row["status"]] += 1
        if row["status"] == "not_checked" and own.unchecked is None:
            own.unchecked = row["message"]
        if row["status"] == "failed":
            trajectories.add(row["trajectory_id"])
    if not by_constraint:
        return None
    summaries = [
        ConstraintSummary(
            name=name,
            rule=own.rule,
            severity=own.severity,
            unchecked=own.unchecked,
            **own.statuses,
        )
        for name, own in by_constraint.items()
    ]
    summaries.sort(key=lambda one: (one.holds, one.severity != "error"))
    return ConstraintsSummary(constraints=summaries, violating_trajectories=len(trajectories))


def constraint_lines(summary: ConstraintsSummary) -> Iterator[tuple[str, str]]:
    """A summary for the terminal: labels and texts of a few lines."""
    failed = summary.failed
    yield "constraints", f"{len(summary.constraints) - len(failed)} of {len(summary.constraints)} hold"
    for one in failed[:_SHOWN]:
        yield f"  {one.severity}", f"{one.name}: {in_words(one)}. {one.rule}."
    if len(failed) > _SHOWN:
        yield "", f"and {len(failed) - _SHOWN} more"


def in_words(one: ConstraintSummary) -> str:
    """How often a constraint is violated, of the trajectories that it is about."""
    about = one.passed + one.failed + one.not_checked
    said = [f"violated in {one.failed:,} of {counted(about, 'run')}"] if one.failed else []
    said += [f"not checked in {counted(one.not_checked, 'run')}: {one.unchecked}"] if one.not_checked else []
    return "; ".join(said) or f"holds in {counted(about, 'run')}"
