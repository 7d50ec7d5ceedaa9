"""An installation as a Python object: its drops, tables and results."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evaluation_assets.api.errors import UnknownName, as_unusable
from evaluation_assets.core.lake.stored import Stored
from evaluation_assets.core.system.installation import Installation, UnusableHome

if TYPE_CHECKING:
    import pandas as pd

    from evaluation_assets.api.result import StoredResult
    from evaluation_assets.core.lake.tables import Table


@dataclass(frozen=True, slots=True)
class Home:
    """A home folder: `drops` are the evaluated ones, `home["main"]` is the result of a drop."""

    installation: Installation

    @property
    def drops(self) -> list[str]:
        """Keys of all evaluated drops, sorted."""
        return self.installation.drops_with("task_metrics")

    def table(self, name: str, drop: str | None = None, columns: Sequence[str] | None = None) -> "pd.DataFrame":
        """A table of the lake: of one drop, or of all of them.

        Tables with one file per judge or sink are read for all judges or sinks. Scores and shares are 0..1, money is
        US dollars, missing values are null. Integers and booleans have pandas' nullable types.

        Args:
            name: of the table; docs/tables.md describes all tables.
            drop: key of the drop (default: all drops).
            columns: the columns to read (default: all). Name them where a table holds long texts.

        Raises:
            UnknownName: there is no table, drop or column of this name.
        """
        from evaluation_assets.api.frames import frame_of, table_named  # noqa: PLC0415  (pandas: 0.5 s to import)

        table = table_named(name)
        return frame_of(self.stored(table, drop), table, columns)

    def result(self, drop: str) -> "StoredResult":
        """The result of an evaluated drop.

        Raises:
            UnknownName: no drop of this key has been evaluated.
        """
        from evaluation_assets.api.result import StoredResult  # noqa: PLC0415

        self.check_evaluated(drop)
        return StoredResult(self, drop)

    def __getitem__(self, drop: str) -> "StoredResult":
        return self.result(drop)

    def check_evaluated(self, drop: str) -> None:
        """Check that a drop has been evaluated.

        Raises:
            UnknownName: it has not.
        """
        if not self.installation.table(drop, "task_metrics").exists:
            known = ", ".join(self.drops) or "none"
            raise UnknownName(f"{drop} has not been evaluated in {self.installation.root}; evaluated drops: {known}")

    def stored(self, table: "Table", drop: str | None) -> Iterator[Stored]:
        """The files of a table."""
        if table.whole:
            yield self.installation.whole_table(table.name)
            return
        if drop is not None:
            self.check_evaluated(drop)
        owners: Sequence[str | None] = self._owners(table.name) if table.per_judge or table.per_sink else [None]
        for each in self.drops if drop is None else [drop]:
            for owner in owners:
                yield self.installation.table(each, table.name, *([] if owner is None else [owner]))

    def _owners(self, table: str) -> list[str]:
        folder = self.installation.lake / table
        return sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder.exists() else []

    def _repr_html_(self) -> str:
        from evaluation_assets.api.html import home_html  # noqa: PLC0415

        return home_html(str(self.installation.root), self.drops)


def load_home(home: str | Path | None = None) -> Home:
    """The home folder at a path or fsspec URL; default: `EVALUATION_HOME`, else `.evaluation`.

    Raises:
        UnknownName: there is no home folder.
    """
    found = installation_at(home)
    if not found.root.exists():
        raise UnknownName(f"there is no home folder at {found.root}; evaluate a file first, or name another path")
    return Home(found)


def installation_at(home: str | Path | None) -> Installation:
    """The installation at a path or URL, or that of the environment.

    Raises:
        UnusableInput: a folder of it cannot be used.
    """
    lake = os.environ.get("EVALUATION_LAKE_URL")
    with as_unusable():
        found = Installation.from_environment() if home is None else Installation.at(str(home), lake)
        if (problem := found.problem) is not None:
            raise UnusableHome(problem)
    return found
