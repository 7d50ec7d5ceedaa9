"""Stored tables as pandas data frames that keep the types of their columns."""

from collections.abc import Iterable, Sequence

import pandas as pd
import pyarrow as pa

from evaluation_assets.api.errors import UnknownName
from evaluation_assets.core.lake.stored import Stored
from evaluation_assets.core.lake.tables import TABLES, Table
from evaluation_assets.core.text.meant import did_you_mean

_NULLABLE: dict[pa.DataType, pd.api.extensions.ExtensionDtype] = {
    pa.int64(): pd.Int64Dtype(),
    pa.bool_(): pd.BooleanDtype(),
}
"""Types of pandas for columns in which NumPy has no missing value: it would make numbers and objects of them."""


_DROP = "drop"


def table_named(name: str) -> Table:
    """The table of a name.

    Raises:
        UnknownName: there is none.
    """
    if name not in TABLES:
        hint = did_you_mean(name, TABLES, f"choose one of: {', '.join(sorted(TABLES))}")
        raise UnknownName(f"there is no table {name!r}; {hint}")
    return TABLES[name]


def frame_of(stored: Iterable[Stored], table: Table, columns: Sequence[str] | None = None) -> pd.DataFrame:
    """The rows of stored tables of one kind, one after another.

    Raises:
        UnknownName: the table has no column of a name.
    """
    return _as_frame([arrow_of(stored, table, columns)])


def rows_of(drop: str, stored: Iterable[Stored], table: Table, columns: Sequence[str] | None = None) -> pd.DataFrame:
    """The rows of a drop in a table that has those of all drops.

    Raises:
        UnknownName: the table has no column of a name, or none that says of which drop a row is.
    """
    if _DROP not in table.schema.names:
        raise UnknownName(f"the rows of {table.name} are about several drops; read it from the home, without a drop")
    names = table.schema.names if columns is None else list(columns)
    frame = frame_of(stored, table, list(dict.fromkeys([*names, _DROP])))
    return frame.loc[frame[_DROP] == drop, names].reset_index(drop=True)


def frame_by_level(tables: Iterable[tuple[str, pa.Table]]) -> pd.DataFrame:
    """Tables of different levels in one frame, with their names in the column `level`, which comes first."""
    named = [each.add_column(0, "level", pa.array([name] * each.num_rows, pa.string())) for name, each in tables]
    return _as_frame(named)


def arrow_of(stored: Iterable[Stored], table: Table, columns: Sequence[str] | None = None) -> pa.Table:
    """The rows of stored tables of one kind. A column that an earlier version did not write is null."""
    names = table.schema.names if columns is None else list(columns)
    if unknown := [name for name in names if name not in table.schema.names]:
        raise UnknownName(
            f"{table.name} has no column {', '.join(map(repr, unknown))}; its columns: {', '.join(table.schema.names)}"
        )
    wanted = pa.schema([table.schema.field(name) for name in names])
    parts = [wanted.empty_table()]
    for each in stored:
        parts += [pa.Table.from_batches([batch]) for batch in each.batches(names, batch_size=2048)]
    return pa.concat_tables(parts, promote_options="default")


def _as_frame(tables: Sequence[pa.Table]) -> pd.DataFrame:
    whole = pa.concat_tables(tables, promote_options="default")
    return whole.to_pandas(types_mapper=_NULLABLE.get, maps_as_pydicts="strict")
