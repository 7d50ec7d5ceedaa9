"""What a table of the lake is: its columns, each with a type and a meaning, and what one row stands for."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import pyarrow as pa

NAME = pa.string()
TEXT = pa.large_string()
"""Text without a limit of length: an Arrow string column holds at most 2 GiB a batch."""

INT, FLOAT, BOOL = pa.int64(), pa.float64(), pa.bool_()
NAMES = pa.list_(NAME)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    `meaning` is for the reader of this table: what the value says, in which unit, and what null stands for, if that is
    more than a value that is missing, unknown or does not apply. It appears in the documentation and in the UI, never
    in the stored files. `total` is how the figure of a drop follows from its rows: the sum of all, or of those that are
    `known`. It is shown wherever totals of the table are.
    """

    name: str
    type: pa.DataType
    meaning: str
    total: Literal["sum", "known"] | None = None


@dataclass(frozen=True)
class Table:
    """A table of the lake.

    Tables `per_judge` or `per_sink` have one file per judge or sink and partition; `whole` ones are one file.
    """

    name: str
    row: str
    columns: tuple[Column, ...]
    per_judge: bool = False
    per_sink: bool = False
    whole: bool = False

    @cached_property
    def schema(self) -> pa.Schema:
        """Names and types of the columns, in the order in which they are stored."""
        return pa.schema([(column.name, column.type) for column in self.columns])

    def totalled(self, *kinds: Literal["sum", "known"]) -> list[str]:
        """Names of the columns with a total of these kinds, in their order."""
        return [column.name for column in self.columns if column.total in kinds]


def records(**fields: pa.DataType) -> pa.DataType:
    """The type of a list of records with these fields."""
    return pa.list_(pa.struct(list(fields.items())))
