"""`read`: the trajectories of a file as objects, without evaluating them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from evaluation_assets.api.errors import as_unusable
from evaluation_assets.api.html import reading_html
from evaluation_assets.api.one_drop import only_drop
from evaluation_assets.api.records import Source, as_path
from evaluation_assets.core.traces.formats.base import Rejection
from evaluation_assets.core.traces.formats.import_report import ImportReport, ImportSummary
from evaluation_assets.core.traces.formats.registry import format_of
from evaluation_assets.core.traces.trajectories.model import Trajectory


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read of a file. Iterating over it gives the trajectories.

    `rejected` are the records that no trajectory could be made of: file, line, reason, detail and the raw record.
    `format` is the name of the format. `summary` counts calls and tokens, and says whether the reading is complete.
    `unmapped_fields` counts the values of each field of the source that no trajectory holds.
    """

    name: str
    format: str
    trajectories: list[Trajectory]
    rejected: list[Rejection]
    summary: ImportSummary
    unmapped_fields: dict[str, int]

    def __iter__(self) -> Iterator[Trajectory]:
        return iter(self.trajectories)

    def __len__(self) -> int:
        return len(self.trajectories)

    def __getitem__(self, index: int) -> Trajectory:
        return self.trajectories[index]

    def __repr__(self) -> str:
        return (
            f"Reading({self.name!r}, format={self.format!r}, {len(self.trajectories)} trajectories, "
            f"{len(self.rejected)} rejected)"
        )

    def _repr_html_(self) -> str:
        rejected = [(f"{each.source}:{each.line}", f"{each.reason}: {each.detail}") for each in self.rejected]
        return reading_html(f"{self.name} ({self.format})", self.summary.sentence, rejected)


def read(source: Source, *, format: str | None = None, one_drop: bool = False) -> Reading:
    """Read the trajectories of a file. Nothing is written, no model is called. All trajectories are held in memory.

    Args:
        source: a file, a folder with one drop, or records (as for `evaluate`).
        format: name of the format (default: it is detected). `evaluation-assets formats` lists the names.
        one_drop: read a folder as one drop of all its files.

    Raises:
        UnusableInput: no format recognises the file, or it is damaged, or a record is none.
    """
    with as_unusable(), as_path(source) as path:
        drop = replace(only_drop(path, one_drop=one_drop), forced_format=format)
        chosen, report = format_of(drop.sources, drop.sidecar().format), ImportReport()
        items = list(report.read(chosen, drop.sources))
    return Reading(
        name=drop.key,
        format=chosen.name,
        trajectories=[item for item in items if isinstance(item, Trajectory)],
        rejected=[item for item in items if isinstance(item, Rejection)],
        summary=report.summary,
        unmapped_fields=dict(report.unmapped.table()),
    )
