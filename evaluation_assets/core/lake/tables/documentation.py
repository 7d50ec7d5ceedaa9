"""The page `docs/tables.md`: `python -m evaluation_assets.core.lake.tables.documentation > docs/tables.md`."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from evaluation_assets.core.lake.tables import TABLES, Column, Table, verdicts

_SHARED_BY = 3
"""Tables that a column is in, from which on it is described before all tables."""

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

Scores and shares are 0..1, money is US dollars. A value that is missing, unknown or does not apply is null, never 0.

The column `trajectory` is a tree as JSON. It holds spans, `[start, end)` in characters, into the column `text`.
"""


def page(tables: Iterable[Table]) -> str:
    """The documentation of the tables, as Markdown. Each column is described once; other tables link there."""
    tables = list(tables)
    count = Counter(column for table in tables for column in table.columns)
    often = [column for column, number in count.items() if number >= _SHARED_BY]
    sections = {
        "Shared columns": [column for column in often if column not in verdicts.COLUMNS],
        "Columns of verdicts": list(verdicts.COLUMNS),
    }
    where = {column: title for title, columns in sections.items() for column in columns}
    parts = [_INTRODUCTION, *(f"## {title}\n\n{_list(columns)}" for title, columns in sections.items())]
    for table in tables:
        parts.append(_section(table, where))
        where = dict.fromkeys(table.columns, table.name) | where
    return "\n".join(parts)


def _section(table: Table, where: Mapping[Column, str]) -> str:
    """A table: what a row is, links to its columns that are described before, and its other columns."""
    file = f" One file over all drops: `lake/{table.name}.parquet`." if table.whole else ""
    elsewhere: dict[str, list[str]] = {}
    for column in table.columns:
        if column in where:
            elsewhere.setdefault(where[column], []).append(column.name)
    rows = Counter(where.values())
    linked = "".join(
        f"- {_link(title)}: {'all' if len(names) == rows[title] else ', '.join(names)}\n"
        for title, names in elsewhere.items()
    )
    own = _list([column for column in table.columns if column not in where])
    return f"## {table.name}\n\nEach row is {table.row}.{file}\n\n{linked}{own}"


def _link(title: str) -> str:
    return f"[{title}](#{title.lower().replace(' ', '-')})"


def _list(columns: Sequence[Column]) -> str:
    """The columns as a list; the two ends of an interval are one entry."""
    entries: list[str] = []
    left = list(columns)
    while left:
        column = left.pop(0)
        interval = column.meaning.removeprefix("Lower end")
        if left and interval != column.meaning and left[0].meaning == f"Upper end{interval}":
            entries.append(f"- `{column.name}`, `{left.pop(0).name}` (`{column.type}`): Ends{interval}\n")
        else:
            entries.append(f"- `{column.name}` (`{column.type}`): {column.meaning}\n")
    return "".join(entries)


if __name__ == "__main__":
    print(page(TABLES.values()), end="")
