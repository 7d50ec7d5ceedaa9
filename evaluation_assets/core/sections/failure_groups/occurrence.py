"""A finding in its drop, as groups see it."""

from dataclasses import dataclass

from evaluation_assets.core.sections.findings.finding import Severity

Member = tuple[str, str, str]
"""A run and a kind: the drop of a finding, its run and its kind."""


def instance_of(member: Member, clip_index: int | None, evidence: str) -> int:
    """By what a finding is known again; a number, so that the texts of all findings need not be kept."""
    return hash((member, clip_index, evidence))


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
        """Its run and kind."""
        return self.drop, self.trajectory_id, self.kind

    @property
    def instance(self) -> int:
        """By what it is known again."""
        return instance_of(self.member, self.clip_index, self.evidence)
