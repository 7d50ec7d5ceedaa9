"""A finding in its drop, as groups see it."""

from dataclasses import dataclass

from evaluation_assets.core.sections.findings.finding import Severity

Member = tuple[str, str, str]
"""By what a finding is known again: its drop, its run and its kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Occurrence:
    """A finding in its drop. `tool` is the tool of the call at its step; a failed run without finding has none."""

    drop: str
    trajectory_id: str
    task_id: str
    kind: str
    severity: Severity
    tool: str | None
    evidence: str
    clip_index: int | None = None
    start: int | None = None
    end: int | None = None

    @property
    def run(self) -> tuple[str, str]:
        """The run that it is in."""
        return self.drop, self.trajectory_id

    @property
    def member(self) -> Member:
        """By what it is known again."""
        return self.drop, self.trajectory_id, self.kind
