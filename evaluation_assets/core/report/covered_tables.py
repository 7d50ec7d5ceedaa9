"""The tables of a drop as its report may show them: each value that is redacted is covered, character by character.

Covered texts are as long as before, so that the spans of trajectories point to the same places. Identifiers stay:
tables and links are joined by them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import orjson
import pyarrow as pa

from evaluation_assets.core.lake.stored import Stored
from evaluation_assets.core.models.redaction.redactor import Redactor
from evaluation_assets.core.models.redaction.settings import Redaction
from evaluation_assets.core.report.drop_tables import DropTables
from evaluation_assets.core.traces.trajectories.trajectory_rows import TREE_AND_TEXT, trajectory_of

_JSON = ("trajectory", "analysis")
"""Columns of JSON that is read again; its texts are covered one by one."""

Cover = Callable[[str], str]


def covered(tables: DropTables, redaction: Redaction) -> DropTables:
    """The tables without what is redacted, and without images, which cannot be searched for it.

    Raises:
        NotRedacted: an own pattern takes too long on a text.
    """
    cover = cover_of(tables.preprocessed, redaction)

    def of(value: Any) -> Any:
        if isinstance(value, Stored):
            return CoveredTable(value.table, value.path, cover)
        return {name: of(each) for name, each in value.items()} if isinstance(value, Mapping) else value

    shown = {field.name: of(getattr(tables, field.name)) for field in fields(tables)}
    return replace(tables, **shown | {"images": None})


def covered_trajectories(trajectories: Stored, redaction: Redaction) -> Stored:
    """A table of trajectories without what is redacted.

    Raises:
        NotRedacted: an own pattern takes too long on a text.
    """
    return CoveredTable(trajectories.table, trajectories.path, cover_of(trajectories, redaction))


def cover_of(trajectories: Stored, redaction: Redaction | None) -> Cover:
    """Covers what is redacted in texts about trajectories; without a redaction nothing.

    All texts are searched first, for values that stand elsewhere too; tables hold texts that were cut in a value.

    Raises:
        NotRedacted: an own pattern takes too long on a text.
    """
    if redaction is None:
        return lambda text: text
    texts = (text for row in trajectories.rows(TREE_AND_TEXT) for text in trajectory_of(row).texts)
    return Redactor(redaction, texts, also_parts=True).covered


@dataclass(frozen=True, slots=True)
class CoveredTable(Stored):
    """A stored table whose texts are covered when they are read."""

    cover: Cover

    def batches(self, columns: Sequence[str] | None = None, batch_size: int = 256) -> Iterator[pa.RecordBatch]:
        """The rows in stored order, covered.

        Raises:
            NotRedacted: an own pattern takes too long on a text.
        """
        for batch in Stored.batches(self, columns, batch_size):
            kept = [self._column(name, column) for name, column in zip(batch.schema.names, batch.columns, strict=True)]
            yield pa.RecordBatch.from_arrays(kept, schema=batch.schema)

    def _column(self, name: str, column: pa.Array) -> pa.Array:
        kind = column.type
        if _is_identifier(name) or not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
            return column
        change = self._json if name in _JSON else self.cover
        return pa.array([None if value is None else change(value) for value in column.to_pylist()], kind)

    def _json(self, text: str) -> str:
        return orjson.dumps(_inside(orjson.loads(text), self.cover)).decode()


def _inside(value: Any, cover: Cover) -> Any:
    if isinstance(value, str):
        return cover(value)
    if isinstance(value, list):
        return [_inside(each, cover) for each in value]
    if isinstance(value, dict):
        return {cover(name): each if _is_identifier(name) else _inside(each, cover) for name, each in value.items()}
    return value


def _is_identifier(name: str) -> bool:
    return name in ("id", "drop") or name.endswith("_id")
