"""The labels that one person gives to a drop in the report's review queue, in a file of their own."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from upath import UPath

from evaluation_assets.core.lake.stored import publish_bytes
from evaluation_assets.core.review.labels import PASSED, Label, read_label_file
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.faults import faults_of
from evaluation_assets.core.traces.trajectories.identity import file_name


class InvalidLabel(ValueError):
    """A label that cannot be written; the message says why."""


class GivenLabel(BaseModel):
    """A label as the report sends it; without `label` an earlier one is taken back."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    trajectory_id: str
    clip_index: Annotated[int, Field(ge=0)] | None = None
    label: Literal["pass", "fail"] | Annotated[float, Field(ge=0, le=1)] | None
    comment: Annotated[str, Field(max_length=10_000)] = ""


_GIVEN = TypeAdapter(list[GivenLabel])


@dataclass(frozen=True, slots=True)
class ReviewDesk:
    """Reads and writes the file of one annotator and drop; several threads and processes may at the same time."""

    home: Installation
    drop: str
    annotator: str
    trajectories: frozenset[str]

    @property
    def file(self) -> UPath:
        """The file of the labels."""
        return self.home.labels / file_name(f"{self.drop}-{self.annotator}".replace("/", "_"), ".jsonl")

    def labels(self) -> list[dict[str, Any]]:
        """The labels in the file, as the report takes them."""
        return [label.model_dump() for label in self._read()[0].values()]

    def check_writable(self) -> None:
        """Write the file as it is; one that is not there stays away.

        Raises:
            OSError: it cannot be written.
        """
        is_new = not self.file.exists()
        self.save(b"[]")
        if is_new:
            self.file.unlink()

    def save(self, body: bytes) -> int:
        """Write labels over those given before; returns how many the file has then.

        Raises:
            InvalidLabel: the body holds something else, or a trajectory that the drop lacks; nothing is written.
        """
        try:
            given = _GIVEN.validate_json(body)
        except ValidationError as problem:
            raise InvalidLabel(str(faults_of(problem)[0])) from None
        if unknown := [label.trajectory_id for label in given if label.trajectory_id not in self.trajectories]:
            raise InvalidLabel(f"{self.drop} has no run {unknown[0][:200]!r}")
        with self.home.edits(self.file):
            known, others = self._read()
            for label in given:
                known.pop((label.trajectory_id, label.clip_index), None)
                if label.label is not None:
                    known[label.trajectory_id, label.clip_index] = label
            publish_bytes(self.file, b"".join(self._lines(others, known.values())))
        return len(known)

    def _read(self) -> tuple[dict[tuple[str, int | None], GivenLabel], list[str]]:
        """The labels that this person gave to this drop, and the other lines: files of `a/b` and `a_b` are one."""
        if not self.file.exists():
            return {}, []
        labels = [
            label
            for label in read_label_file(self.file, self.file.name)
            if isinstance(label, Label) and (label.drop, label.annotator, label.criterion) == self._own
        ]
        lines = {label.line for label in labels}
        others = [
            line
            for number, line in enumerate(self.file.read_text("utf-8-sig").split("\n"), 1)
            if number not in lines and line.strip()
        ]
        own = {
            (label.trajectory_id, label.clip_index): GivenLabel(
                trajectory_id=label.trajectory_id,
                clip_index=label.clip_index,
                label="pass" if label.label == 1 else "fail" if label.label == 0 else label.label,
                comment=label.comment,
            )
            for label in labels
        }
        return own, others

    @property
    def _own(self) -> tuple[str, str, str]:
        return self.drop, self.annotator, PASSED

    def _lines(self, others: Iterable[str], labels: Iterable[GivenLabel]) -> Iterator[bytes]:
        yield from (f"{line}\n".encode() for line in others)
        for label in labels:
            row = {"drop": self.drop, "annotator": self.annotator, **label.model_dump()}
            yield orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)
