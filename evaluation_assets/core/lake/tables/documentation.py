"""The page `docs/tables.md`: `python -m evaluation_assets.core.lake.tables.documentation > docs/tables.md`."""

from collections.abc import Iterable

from evaluation_assets.core.lake.tables import TABLES, Table

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
    """The documentation of the tables, as Markdown."""
    return "\n".join((_INTRODUCTION, *(_section(table) for table in tables)))


def _section(table: Table) -> str:
    lines = [
        f"## {table.name}{'/<judge>' if table.per_judge else '/<sink>' if table.per_sink else ''}",
        "",
        f"Each row is {table.row}."
        + (f" One file over all drops: `lake/{table.name}.parquet`." if table.whole else ""),
        "",
        "| column | type | meaning |",
        "|---|---|---|",
        *(f"| {column.name} | {column.type} | {column.meaning} |" for column in table.columns),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page(TABLES.values()), end="")
