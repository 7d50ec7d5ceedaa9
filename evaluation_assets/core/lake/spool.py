"""Rows set aside in temporary files, in the order they come or sorted."""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from typing import IO, Any, Self

import pyarrow as pa

from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.lake.stored import BATCH_BYTES, BATCH_ROWS, Stored, Stream, batched, named_disk
from evaluation_assets.core.lake.tables import Table

_SPOOL_BYTES = 8 << 20
_SORTED_ROWS = 4096
_MOST_PARTS = 64
"""Parts of sorted rows; each may be an open file."""


class Spool:
    """Rows set aside while another table passes; in memory while they are few, else in a temporary file."""

    def __init__(self, table: Table, in_memory: int = _SPOOL_BYTES) -> None:
        self.table = table
        self.count = 0
        self._file: IO[bytes] = tempfile.SpooledTemporaryFile(in_memory)  # noqa: SIM115
        self._writer = pa.ipc.new_stream(self._file, table.schema)
        self._pending: list[Row] = []
        self._pending_bytes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):  # what a full disk left in its buffer cannot be written, and is not wanted
            self._file.close()

    def add(self, row: Row) -> None:
        """Set a row aside."""
        self.count += 1
        self._pending.append(row)
        self._pending_bytes += sum(len(value) for value in row.values() if isinstance(value, str))
        if len(self._pending) >= BATCH_ROWS or self._pending_bytes >= BATCH_BYTES:
            self._flush()

    def batches(self) -> Iterator[pa.RecordBatch]:
        """All rows in the order they came. Nothing can be added afterwards."""
        self._flush()
        with named_disk(tempfile.gettempdir()):
            self._writer.close()
            self._file.seek(0)
        yield from pa.ipc.open_stream(self._file)

    def stream(self) -> Stream:
        """All rows on their way to their table."""
        return Stream(self.table, self.batches())

    def _flush(self) -> None:
        with named_disk(tempfile.gettempdir()):
            for batch in batched(self._pending, self.table):
                self._writer.write_batch(batch)
        self._pending, self._pending_bytes = [], 0


class Joined:
    """Stored tables one after the other. Like a spool, it is open while it is read."""

    def __init__(self, tables: Sequence[Stored]) -> None:
        self._tables = tables

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is held open."""

    def batches(self) -> Iterator[pa.RecordBatch]:
        """All rows in the order of the tables."""
        for stored in self._tables:
            yield from stored.batches()


class SortedSpool:
    """Rows set aside, and read in the order of their places: numbers from 0 to below 1, spread evenly as hashes are.

    Rows of neighbouring places share a spool, and one spool at a time is in memory. `expected`: how many rows may come.
    """

    def __init__(self, table: Table, place: Callable[[dict[str, Any]], float], expected: int) -> None:
        self.table = table
        self._place = place
        parts = min(_MOST_PARTS, 1 + expected // _SORTED_ROWS)
        self._spools = [Spool(table, _SPOOL_BYTES // parts) for _ in range(parts)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with ExitStack() as stack:
            for spool in self._spools:
                stack.enter_context(spool)

    def add(self, row: dict[str, Any]) -> None:
        """Set a row aside."""
        self._spools[int(self._place(row) * len(self._spools))].add(row)

    def rows(self) -> Iterator[dict[str, Any]]:
        """All rows in their order, as often as this is called. Nothing can be added afterwards."""
        for spool in self._spools:
            yield from sorted((row for batch in spool.batches() for row in batch.to_pylist()), key=self._place)
