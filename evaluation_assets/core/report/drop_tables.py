"""All tables of a drop that its report is built from."""

from collections.abc import Mapping
from dataclasses import dataclass, fields

from evaluation_assets.core.gating.measured_drop import MeasuredTables
from evaluation_assets.core.lake.stored import DamagedTable, Stored


@dataclass(frozen=True, slots=True, kw_only=True)
class DropTables(MeasuredTables):
    """All tables of a drop that its report is built from; verdicts by judge. Without `images` it shows none."""

    rejected: Stored
    clip_scores: Stored
    category_assessments: Stored
    failure_patterns: Stored
    coding_work: Stored
    constraint_results: Stored
    claims: Stored
    process_scores: Stored
    predicted_outcomes: Stored
    category_verdicts: Mapping[str, Stored]
    session_verdicts: Mapping[str, Stored]
    images: Stored | None = None

    @property
    def verdicts(self) -> dict[str, Mapping[str, Stored]]:
        """The verdict tables on the drop by judge, by level."""
        return {
            "clip": self.clip_verdicts,
            "category": self.category_verdicts,
            "trajectory": self.trajectory_verdicts,
            "session": self.session_verdicts,
        }

    @property
    def are_readable(self) -> bool:
        """Whether the footer of each file can be read; a file that is cut off has none."""
        values = [getattr(self, each.name) for each in fields(self)]
        tables = [each for one in values for each in (one.values() if isinstance(one, Mapping) else (one,))]
        try:
            return all(table.count >= 0 for table in tables if isinstance(table, Stored))
        except DamagedTable:
            return False
