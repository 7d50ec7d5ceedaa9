"""A drop as rows: the trajectories of its files, and the records no trajectory could be made of."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from evaluation_assets.core.intake.drops import Drop, InvalidDrop, find
from evaluation_assets.core.intake.facts import DropFacts
from evaluation_assets.core.intake.image_rows import image_row
from evaluation_assets.core.intake.sidecar import Sidecar
from evaluation_assets.core.lake.spool import Spool
from evaluation_assets.core.pipeline.drawing import Drawing
from evaluation_assets.core.sections.findings.evidence.call_forms import Form, form_rows, forms_in
from evaluation_assets.core.text.plain_text import markdown_cell
from evaluation_assets.core.text.well_formed import well_formed
from evaluation_assets.core.traces.formats.base import Rejection, UnreadableDrop
from evaluation_assets.core.traces.formats.import_report import ImportReport, ImportSummary
from evaluation_assets.core.traces.formats.registry import format_of
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets.core.traces.trajectories.trajectory_rows import Row, trajectory_row

_MOST_IMAGES = 200_000_000
"""Characters of base64 that are stored of a drop: its report holds them too."""

_NAMED = 20
"""Files that are named in the metadata."""

_UNMAPPED_FIELDS = 50
"""Lost fields that are named in the metadata."""


class ReadDrop:
    """The records of a drop, read with the reader of its format.

    Unreadable ones go to the spool `unreadable`, images beside the texts to the spool `images`.

    Raises:
        InvalidDrop: its sidecar cannot be used.
        UnreadableDrop: its files have no format that is known.
    """

    def __init__(self, drop: Drop, unreadable: Spool, images: Spool) -> None:
        self._drop = drop
        self._unreadable = unreadable
        self._images = images
        self._room = _MOST_IMAGES
        self._report = ImportReport()
        self._call_forms: Counter[Form] = Counter()
        self.sidecar: Sidecar = drop.sidecar()
        self._drawing = Drawing.of(drop, self.sidecar)
        self._items: Iterable[Trajectory | Rejection] = self._report.read(
            format_of(drop.sources, self.sidecar.format), drop.sources
        )
        self._stamp = drop.stamp()
        self.content = drop.content_hash()

    def trajectories(self) -> Iterator[Row]:
        """Rows of `raw_trajectories`.

        Raises:
            UnreadableDrop: a file turns out damaged half way, or was changed while it was read: its first records would
                be of the old content, and its last ones of the new.
        """
        try:
            for item in self._items:
                if isinstance(item, Rejection):
                    self._unreadable.add(unreadable_row(self._drop.key, item))
                elif self._drawing.takes(item):
                    self._keep_images(item)
                    self._call_forms.update(forms_in(item))
                    yield trajectory_row(self._drop.key, item)
        except UnreadableDrop:
            self._check_unchanged()
            raise
        self._check_unchanged()

    def _keep_images(self, trajectory: Trajectory) -> None:
        for image in self._report.unmapped.images.marked_in(trajectory.texts):
            self._room -= len(image.data)
            if self._room < 0:
                break
            self._images.add(image_row(self._drop.key, trajectory.id, image))

    def _check_unchanged(self) -> None:
        """A file that was only touched is as it was."""
        try:
            now = find(self._drop.root, self._drop.key) if self._drop.marks else self._drop
            is_unchanged = now.stamp() == self._stamp or now.content_hash() == self.content
        except (FileNotFoundError, InvalidDrop):
            is_unchanged = False
        if not is_unchanged:
            raise UnreadableDrop("it was changed while it was read; evaluate it again once it is complete")

    @property
    def reading(self) -> ImportSummary:
        """How the drop was read, once all records have passed."""
        return self._report.summary

    @property
    def facts(self) -> DropFacts:
        """What is kept with the trajectories."""
        not_taken = dict(self._drawing.not_taken)
        return DropFacts(
            content=self.content,
            sidecar=self.sidecar,
            reading=self.reading,
            not_taken=not_taken,
            call_forms=form_rows(self._call_forms),
        )

    def metadata(self) -> dict[str, Any]:
        """Formats, number of unmapped fields and the fields of the sidecar, once all records have passed."""
        return {
            "unreadable": self._unreadable.count,
            "images": self._images.count,
            "not_taken": self._drawing.not_taken.total(),
            "content": self.content,
            "stamp": self._stamp,
            "format": ", ".join(sorted(self._report.formats)) or "none",
            "reading": self.reading.sentence,
            "unmapped_fields": self._report.unmapped.counts.total(),
            "source": ", ".join(file.source for file in self._drop.sources[:_NAMED]),
            **{key: value for key, value in self.sidecar.model_dump().items() if isinstance(value, str)},
        }

    def unmapped_table(self) -> str:
        """Which fields of the source no trajectory holds, as Markdown."""
        return unmapped_table(self._report.unmapped)


def unmapped_table(unmapped: UnmappedFields) -> str:
    """The first fields that no trajectory holds, and how often, as a Markdown table."""
    lines = [f"| {markdown_cell(path)} | {count} |" for path, count in unmapped.table()[:_UNMAPPED_FIELDS]]
    return "\n".join(["| field | times |", "| --- | ---: |", *lines])


def unreadable_row(drop: str, rejection: Rejection) -> Row:
    """A row of `unreadable_records`."""
    return {
        "drop": drop,
        "source": rejection.source,
        "line": rejection.line,
        "stage": "read",
        "reason": rejection.reason,
        "detail": well_formed(rejection.detail),
        "raw": well_formed(rejection.raw),
    }
