"""Tables on disk: parquet files written whole and read as a stream, with the columns of their `Table`."""

import errno
import gc
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import IO, Any, Self

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel
from upath import UPath

from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.lake.small_files import SmallFile, small_file
from evaluation_assets.core.lake.staging import is_staging, staged
from evaluation_assets.core.lake.tables import Table
from evaluation_assets.core.text.path_errors import OF_DISKS, OF_PATHS, remedy_of
from evaluation_assets.core.text.user_error import UserError

BATCH_ROWS = 2048
BATCH_BYTES = 1 << 20
"""A batch is closed at whichever comes first: trajectories are large, verdicts are many."""

_ROW_GROUP_BYTES = 16 << 20


class SchemaMismatch(ValueError):
    """Rows do not have the columns of their table; the message names the difference."""


class DamagedTable(UserError, ValueError):
    """A file of the lake that is no whole table; the message names it and says what to do."""


class Unwritable(OSError):
    """A disk that is full, or a place that cannot be written; the message names it and says what to do."""

    def __str__(self) -> str:
        return f"{self.filename}: {self.strerror}. {self.remedy} and try again."

    @property
    def remedy(self) -> str:
        """What to do."""
        return remedy_of(self.errno) or "Choose another path"


@dataclass(frozen=True, slots=True)
class Stream:
    """A table on its way to the lake: batches, and once all have passed a summary, and facts to keep in the file."""

    table: Table
    batches: Iterator[pa.RecordBatch]
    summary: Callable[[], Mapping[str, Any]] = field(default=dict)
    facts: Callable[[], Mapping[str, str]] = field(default=dict)

    @classmethod
    def of(
        cls,
        table: Table,
        rows: Iterable[Row],
        summary: Callable[[], Mapping[str, Any]] = dict,
        facts: Callable[[], Mapping[str, str]] = dict,
    ) -> Self:
        """Rows on their way to their table."""
        return cls(table, batched(rows, table), summary, facts)


@dataclass(frozen=True, slots=True)
class Written:
    """A stored table: where, how much, and its first rows."""

    path: UPath
    rows: int
    bytes: int
    head: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Stored:
    """A table in the lake that is read as a stream. A file that is not there reads as a table without rows."""

    table: Table
    path: UPath

    @property
    def exists(self) -> bool:
        """Whether the file is there."""
        return self.path.exists()

    def batches(self, columns: Sequence[str] | None = None, batch_size: int = 256) -> Iterator[pa.RecordBatch]:
        """The rows in stored order, as record batches of the named columns. None spans row groups, to spare memory.

        Another version may have written the file: a column that it lacks is null, one that the table lacks is left out.
        """
        if not self.exists:
            return
        wanted = [column for column in self.table.schema if columns is None or column.name in columns]
        if (small := self._small) is not None:
            yield from (_shaped(batch, wanted) for batch in small.batches)
            return
        with self.path.open("rb") as source, self._named():
            parquet = pq.ParquetFile(source, pre_buffer=False, page_checksum_verification=True)
            stored = set(parquet.schema_arrow.names)
            names = [column.name for column in wanted if column.name in stored]
            for group in range(parquet.num_row_groups):
                for batch in parquet.iter_batches(batch_size, [group], names, use_threads=False):  # a quarter less CPU
                    yield _shaped(batch, wanted)

    def rows(self, columns: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
        """The rows in stored order, as dictionaries. Maps come as dictionaries too."""
        maps = [column.name for column in self.table.schema if pa.types.is_map(column.type)]
        for batch in self.batches(columns):
            for row in batch.to_pylist():
                for name in maps:
                    if row.get(name) is not None:
                        row[name] = dict(row[name])
                yield row

    def values(self, column: str) -> Iterator[Any]:
        """The values of one column, in stored order."""
        return (row[column] for row in self.rows([column]))

    @property
    def count(self) -> int:
        """Number of rows, from the file's footer."""
        return 0 if (footer := self._footer) is None else footer.num_rows

    @property
    def facts(self) -> dict[str, str]:
        """What the writer noted about the table as a whole, from the file's footer."""
        noted = {} if (footer := self._footer) is None else footer.metadata or {}
        with self._named():
            return {key.decode(): value.decode() for key, value in noted.items() if key != b"ARROW:schema"}

    @property
    def _footer(self) -> pq.FileMetaData | None:
        if not self.exists:
            return None
        if (small := self._small) is not None:
            return small.footer
        with self.path.open("rb") as source, self._named():
            return pq.ParquetFile(source).metadata

    @property
    def _small(self) -> SmallFile | None:
        with self._named():
            return small_file(self.path)

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Tell which file is damaged, which Arrow does not."""
        try:
            yield
        except (pa.ArrowInvalid, UnicodeDecodeError, OSError) as problem:
            why = " ".join(str(problem).split()).rstrip(". ")
            raise DamagedTable(f"{self.path} is damaged: {why}. Delete it and evaluate the drop again.") from problem


def _shaped(batch: pa.RecordBatch, wanted: Sequence[pa.Field]) -> pa.RecordBatch:
    """The wanted columns of a batch; those that it lacks are null."""
    there = batch.schema.names
    if there == [column.name for column in wanted]:
        return batch
    columns = [
        batch.column(column.name) if column.name in there else pa.nulls(batch.num_rows, column.type)
        for column in wanted
    ]
    return pa.RecordBatch.from_arrays(columns, names=[column.name for column in wanted])


def batched(rows: Iterable[Row], table: Table) -> Iterator[pa.RecordBatch]:
    """Rows as record batches with exactly the table's columns and types.

    Raises:
        SchemaMismatch: a row lacks a column or has one more, or a value does not fit its type.
    """
    texts = [column.name for column in table.schema if pa.types.is_large_string(column.type)]
    pending: list[Row] = []
    size = 0
    for row in rows:
        pending.append(row)
        for name in texts:
            size += len(row.get(name) or "")
        if len(pending) == BATCH_ROWS or size >= BATCH_BYTES:
            yield _batch(pending, table)
            pending, size = [], 0
    if pending:
        yield _batch(pending, table)


def revised(
    stored: Stored, columns: Sequence[str], revise: Callable[[dict[str, Any]], Row | None], table: Table
) -> Iterator[pa.RecordBatch]:
    """The rows of a stored table for a table of the same columns, each as `revise` gives it.

    `revise` is given the named columns of a row. It gives this very dictionary back where the row stays as it is, a
    whole row in its place, or `None` where it is left out. Rows that stay are never made into objects and back.

    Raises:
        SchemaMismatch: a row lacks a column or has one more, or a value does not fit its type.
    """
    for batch in stored.batches():
        order: list[int] = []
        changed: list[Row] = []
        for index, row in enumerate(batch.select(columns).to_pylist()):
            revision = revise(row)
            if revision is row:
                order.append(index)
            elif revision is not None:
                order.append(batch.num_rows + len(changed))
                changed.append(revision)
        both = pa.Table.from_batches([batch, _batch(changed, table)], table.schema)
        yield from both.take(pa.array(order, pa.int64())).to_batches()


def _batch(rows: list[Row], table: Table) -> pa.RecordBatch:
    names = table.schema.names
    expected = set(names)
    for row in rows:
        if row.keys() != expected:
            raise SchemaMismatch(
                f"{table.name}: missing {sorted(expected - row.keys())}, unknown {sorted(row.keys() - expected)}"
            )
    try:
        columns = [
            _column([row[name] for row in rows], kind) for name, kind in zip(names, table.schema.types, strict=True)
        ]
    except (pa.ArrowInvalid, pa.ArrowTypeError) as problem:
        raise SchemaMismatch(f"{table.name}: {problem}") from problem
    return pa.RecordBatch.from_arrays(columns, schema=table.schema)


def _column(values: list[Any], kind: pa.DataType) -> pa.Array:
    if pa.types.is_map(kind):
        values = [None if map_ is None else [(key, _unsigned(value)) for key, value in map_.items()] for map_ in values]
    elif pa.types.is_integer(kind) and any(isinstance(value, float) for value in values):
        raise pa.ArrowTypeError("a fraction in a column of whole numbers, which pyarrow would cut off")
    elif pa.types.is_floating(kind):
        values = list(map(_unsigned, values))
    return pa.array(values, type=kind)


def _unsigned(value: Any) -> Any:
    """0.0 for -0.0, which other bytes and another text would stand for."""
    return 0.0 if isinstance(value, float) and value == 0 else value


def write(path: UPath, stream: Stream) -> Written:
    """Write a table whole: a reader sees the old file or the new one, never a part of it.

    Raises:
        SchemaMismatch: a batch has other columns or types than the table.
    """
    rows, head = 0, []
    with (
        _without_cycle_collection(),
        published(path) as sink,
        pq.ParquetWriter(
            sink, stream.table.schema, compression="zstd", compression_level=1, write_page_checksum=True
        ) as writer,
    ):
        with ThreadPoolExecutor(1) as background:  # compression releases the GIL: it runs beside the reading
            end_of_last: Callable[[], object] = int
            for group in _row_groups(stream):
                if not head:
                    head = group.slice(0, 5).to_pylist()
                rows += group.num_rows
                end_of_last()
                if group.nbytes < _ROW_GROUP_BYTES:  # nothing is read after it: most tables need no thread
                    writer.write_table(group, group.num_rows)
                else:
                    end_of_last = background.submit(writer.write_table, group, group.num_rows).result
            end_of_last()
        if facts := stream.facts():
            writer.add_key_value_metadata(dict(facts))
    return Written(path, rows, path.stat().st_size, head)


@contextmanager
def _without_cycle_collection() -> Iterator[None]:
    """A stream makes millions of small objects and no cycles; looking for cycles took a fifth of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _row_groups(stream: Stream) -> Iterator[pa.Table]:
    """The batches side by side in row groups of a size that compresses and reads well."""
    pending: list[pa.RecordBatch] = []
    size = 0
    for batch in stream.batches:
        if not batch.schema.equals(stream.table.schema):
            raise SchemaMismatch(f"{stream.table.name}: expected {stream.table.schema}, got {batch.schema}")
        pending.append(batch)
        size += batch.nbytes
        if size >= _ROW_GROUP_BYTES:
            yield pa.Table.from_batches(pending)
            pending, size = [], 0
    if pending:
        yield pa.Table.from_batches(pending)


@contextmanager
def published(path: UPath) -> Iterator[IO[bytes]]:
    """A new file that appears under `path` at the end of the block.

    Local files are renamed into place. Others are made in a local file first, as closing a failed upload commits it.

    Raises:
        Unwritable: the disk is full, or the file cannot be written; nothing of the new file is kept.
    """
    with named_disk(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    if path.protocol not in ("", "file", "local"):
        with tempfile.TemporaryFile() as whole:
            with named_disk(tempfile.gettempdir()):
                yield whole
            whole.seek(0)
            with path.open("wb") as sink:
                shutil.copyfileobj(whole, sink, 1 << 20)
        return
    with named_disk(path), staged(Path(path.path)) as sink:
        yield sink


@contextmanager
def named_disk(place: UPath | str) -> Iterator[None]:
    """Tell which disk cannot be written, which the system does not."""
    try:
        yield
    except OSError as problem:
        is_named = _is_named(problem, str(place))
        reasons = OF_DISKS | (OF_PATHS if is_named else {})
        number = errno.EROFS if is_named and problem.errno == errno.ENOENT else problem.errno  # `/proc` takes no files
        if isinstance(problem, Unwritable) or number not in reasons:
            raise
        raise Unwritable(number, reasons[number], str(place)) from problem


def _is_named(problem: OSError, place: str) -> bool:
    """Whether an error names a place, a folder that it is in, or the temporary name of a file."""
    named = Path(str(problem.filename))
    return named == Path(place) or named in Path(place).parents or is_staging(named)


def publish_bytes(path: UPath, content: bytes) -> None:
    """Write a file; it appears whole."""
    with published(path) as sink:
        sink.write(content)


def publish_document(path: UPath, document: BaseModel) -> None:
    """Write a file of JSON; it appears whole."""
    publish_bytes(path, (document.model_dump_json(indent=2) + "\n").encode())


def publish_copy(source: UPath, target: UPath) -> None:
    """Copy a file; it appears whole."""
    with source.open("rb") as stream, published(target) as sink:
        shutil.copyfileobj(stream, sink, 1 << 20)


def grouped(
    rows: Iterable[dict[str, Any]], column: str = "trajectory_id"
) -> Iterator[tuple[Any, list[dict[str, Any]]]]:
    """Runs of neighbouring rows with the same value; tables of the lake keep a trajectory's rows together."""
    for key, group in groupby(rows, key=itemgetter(column)):
        yield key, list(group)


class Aligned:
    """Groups of a second table beside those of a first: both in the same order, the second may lack some.

    Every key of the second table has to be asked for; who passes one over gets nothing from there on. So go through
    the first table and ask for each of its keys, never through something that may leave one out.
    """

    def __init__(self, rows: Iterable[dict[str, Any]], column: str = "trajectory_id") -> None:
        self._groups = grouped(rows, column)
        self._next = next(self._groups, None)

    def at(self, key: Any) -> list[dict[str, Any]]:
        """The rows of a key; keys must be asked for in the order of the table."""
        if self._next is None or self._next[0] != key:
            return []
        _, rows = self._next
        self._next = next(self._groups, None)
        return rows
