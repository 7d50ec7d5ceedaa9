"""A finding in its drop, as groups see it."""

from dataclasses import dataclass

from evaluation_assets.core.sections.findings.finding import Severity


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
