"""Tables in the lake with only the columns that a test is about."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

from upath import UPath

from evaluation_assets.core.lake.stored import Stored, Stream, batched, write
from evaluation_assets.core.lake.tables import Table


def stored(folder: Path, table: Table, rows: Iterable[Mapping[str, Any]], **facts: str) -> Stored:
    """A stored table with these rows; columns that they lack are empty."""
    path = UPath(folder / f"{table.name}-{uuid4().hex}.parquet")
    empty = dict.fromkeys(table.schema.names)
    write(path, Stream(table, batched(({**empty, **row} for row in rows), table), facts=lambda: facts))
    return Stored(table, path)
