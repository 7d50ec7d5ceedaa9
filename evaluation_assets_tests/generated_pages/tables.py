"""The page `docs/tables.md`: `python -m evaluation_assets_tests.generated_pages.tables > docs/tables.md`."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from evaluation_assets.core.lake.tables import TABLES, Column, Table, verdicts
from evaluation_assets.core.lake.tables.model import NAME

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
have one file for all drops, `<home>/lake/<table>.parquet`.

Columns without a type are strings. Integers are counts, unless their meaning says what else they are. Scores, shares
and probabilities are 0..1, money is US dollars. A value that is missing, unknown or does not apply is null, never 0.
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
    file = " One file for all drops." if table.whole else ""
    titles = dict.fromkeys(where[column] for column in table.columns if column in where)
    linked = "".join(f"- {_link(title)}: {_some(title, table, where)}\n" for title in titles)
    own = _list([column for column in table.columns if column not in where])
    return f"## {table.name}\n\nEach row is {table.row}.{file}\n\n{linked}{own}"


def _some(title: str, table: Table, where: Mapping[Column, str]) -> str:
    """Which columns of a section a table has, in its order."""
    here = [column.name for column in table.columns if where.get(column) == title]
    missing = [column.name for column, section in where.items() if section == title and column not in table.columns]
    if 2 * len(missing) < len(here):
        return f"all but {', '.join(missing)}" if missing else "all"
    return ", ".join(here)


def _link(title: str) -> str:
    return f"[{title}](#{title.lower().replace(' ', '-')})"


def _list(columns: Sequence[Column]) -> str:
    """The columns as a list. The ends of an interval are one entry, or part of that of the column they belong to."""
    entries: list[str] = []
    left = list(columns)
    while left:
        column, ends = left.pop(0), ""
        stem = column.name.removesuffix("_mean")
        if [each.name for each in left[:2]] == [f"{stem}_low", f"{stem}_high"]:
            ends = f", 95% interval `{left.pop(0).name}`, `{left.pop(0).name}`"
        interval = column.meaning.removeprefix("Lower end")
        if interval == column.meaning:
            kind = "" if column.type == NAME else f" (`{column.type}`)"
            entries.append(f"- `{column.name}`{kind}{ends}: {column.meaning}\n")
        else:
            entries.append(f"- `{column.name}`, `{left.pop(0).name}` (`{column.type}`): Ends{interval}\n")
    return "".join(entries)


if __name__ == "__main__":
    print(page(TABLES.values()), end="")
