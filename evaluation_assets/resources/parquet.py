"""The IO manager of the lake: assets write and read streams of record batches."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import dagster as dg
import pyarrow as pa

from evaluation_assets.core.lake.stored import Stored, Stream, Written, write
from evaluation_assets.core.lake.tables import Table
from evaluation_assets.core.system.cancellation import raise_if_told
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.plain_text import markdown_cell
from evaluation_assets.resources.asset_keys import table_path

TABLES_IO = "evaluation_tables"
"""Key of this IO manager. With a key of its own, it can be added to projects that have another `io_manager`."""

_CELL = 120
"""Characters of a value shown in the preview."""


@dataclass(frozen=True)
class ParquetIOManager(dg.IOManager):
    """Tables over all drops: `<lake>/<asset>.parquet`, written atomically. Those of a drop are written by its step.

    It has no configuration of its own: launchpads would show the installation twice, and could change one of both.
    """

    home_url: str
    lake_url: str | None = None
    key_prefix: Sequence[str] = ()

    def handle_output(self, context: dg.OutputContext, obj: Stream) -> None:
        """Write the stream and describe what was written."""
        path = self._stored(context).path
        context.add_output_metadata(_described(write(path, obj), obj))

    def load_input(self, context: dg.InputContext) -> Stored:
        """The table, to be read as a stream; a table that was never written reads as empty."""
        return self._stored(context)

    def _stored(self, context: dg.OutputContext | dg.InputContext) -> Stored:
        return Installation.at(self.home_url, self.lake_url).whole_table(context.asset_key.path[len(self.key_prefix)])


def write_table(home: Installation, key: dg.AssetKey, drop: str, stream: Stream) -> dict[str, Any]:
    """Write a table of a drop, `<lake>/<asset path>/<drop>.parquet`; the metadata of its asset.

    Raises:
        KeyboardInterrupt: this thread was told to stop; the table is as it was.
    """
    watched = replace(stream, batches=map(_unless_told, stream.batches))
    return _described(write(home.table(drop, *table_path(key)).path, watched), stream)


def _unless_told(batch: pa.RecordBatch) -> pa.RecordBatch:
    raise_if_told()
    return batch


def _described(written: Written, stream: Stream) -> dict[str, Any]:
    return {
        "dagster/row_count": written.rows,
        "dagster/uri": str(written.path),
        "size": written.bytes,
        "preview": preview(written.head),
        **stream.summary(),
    }


def column_schema(table: Table) -> dg.TableSchema:
    """The columns of a table, for the UI."""
    return dg.TableSchema(
        [dg.TableColumn(column.name, str(column.type), description=column.meaning) for column in table.columns]
    )


def preview(rows: list[dict[str, Any]]) -> dg.MetadataValue:
    """The first rows as a Markdown table. Cell text is hostile: it is cut and cannot leave its cell."""
    if not rows:
        return dg.MetadataValue.md("no rows")
    names = list(rows[0])
    lines = ["| " + " | ".join(names) + " |", "|" + " --- |" * len(names)]
    lines += ["| " + " | ".join(_cell(row[name]) for name in names) + " |" for row in rows]
    return dg.MetadataValue.md("\n".join(lines))


def _cell(value: Any) -> str:
    return "" if value is None else markdown_cell(str(value)[: _CELL + 1], _CELL)
