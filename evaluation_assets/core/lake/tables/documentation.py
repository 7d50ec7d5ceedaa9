"""The page `docs/tables.md`: `python -m evaluation_assets.core.lake.tables.documentation > docs/tables.md`."""

from collections import Counter
from collections.abc import Container, Iterable

from evaluation_assets.core.lake.tables import TABLES, Column, Table

_SHARED_BY = 3
"""Tables that a column is in, from which on it is described once."""

_INTRODUCTION = """\
# Tables

<!-- Written by `make docs` from evaluation_assets/core/lake/tables. Change the text there. -->

Query the results with DuckDB, pandas or polars. A glob over drops reads all of them:

    duckdb -c "select drop, avg(mean) from '.evaluation/lake/trajectory_scores/**/*.parquet'
      where criterion = 'overall' group by 1"

```python
import pandas as pd

pd.read_parquet(".evaluation/lake/clip_scores/assistants.parquet").groupby("tool_type")["mean"].mean()
```

Each table has one Parquet file (zstd) per drop, `<home>/lake/<table>/<drop>.parquet`. Tables of verdicts have one file
per judge and drop, `<home>/lake/<table>/<judge>/<drop>.parquet`; `deliveries` has one per sink and drop. A few tables
cover all drops in one file.

Scores and shares are 0..1, money is US dollars, and a missing value is null, never 0.

The column `trajectory` is a tree as JSON. It holds spans, `[start, end)` in characters, into the column `text`.
"""


def page(tables: Iterable[Table]) -> str:
    """The documentation of the tables, as Markdown. Columns of several tables are described once, before the tables."""
    tables = list(tables)
    rows = Counter(_row(column) for table in tables for column in table.columns)
    shared = [row for row, count in rows.items() if count >= _SHARED_BY]
    return "\n".join((_INTRODUCTION, _shared(shared), *(_section(table, shared) for table in tables)))


_HEAD = "| column | type | meaning |\n|---|---|---|"


def _shared(rows: Iterable[str]) -> str:
    return "\n".join(("## Columns of several tables\n", _HEAD, *rows, ""))


def _section(table: Table, shared: Container[str]) -> str:
    suffix = "/<judge>" if table.per_judge else "/<sink>" if table.per_sink else ""
    where = f" One file over all drops: `lake/{table.name}.parquet`." if table.whole else ""
    also = [column.name for column in table.columns if _row(column) in shared]
    own = [_row(column) for column in table.columns if _row(column) not in shared]
    lines = [f"## {table.name}{suffix}", "", f"Each row is {table.row}.{where}", ""]
    lines += [f"[Columns of several tables](#columns-of-several-tables): {', '.join(also)}.", ""] if also else []
    return "\n".join([*lines, *([_HEAD, *own] if own else [])]).rstrip() + "\n"


def _row(column: Column) -> str:
    return f"| {column.name} | {column.type} | {column.meaning} |"


if __name__ == "__main__":
    print(page(TABLES.values()), end="")
