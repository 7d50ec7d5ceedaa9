"""An installation as a Python object, and its evaluated drops: tables as data frames, the report, the gate."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from upath import UPath

from evaluation_assets.api.errors import UnknownName, UnusableInput, as_unusable
from evaluation_assets.core.lake.stored import Stored
from evaluation_assets.core.lake.tables.verdicts import BY_LEVEL
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.counted import first_of
from evaluation_assets.core.text.meant import did_you_mean

if TYPE_CHECKING:
    import pandas as pd

    from evaluation_assets.api.comparison import Comparison
    from evaluation_assets.core.lake.tables import Table
    from evaluation_assets.core.report.report import DropReport


@dataclass(frozen=True, slots=True)
class Home:
    """A home folder: `drops` are the evaluated ones, `home["main"]` is the result of a drop."""

    installation: Installation

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.installation.root)!r})"

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
            UnknownName: there is no table, drop or column of this name, or the rows of the table are about no drop.
        """
        from evaluation_assets.api.frames import frame_of, rows_of, table_named  # noqa: PLC0415  (pandas: 0.5 s)

        table = table_named(name)
        if drop is not None and table.whole:
            self.check_evaluated(drop)
            return rows_of(drop, self.stored(table, None), table, columns)
        return frame_of(self.stored(table, drop), table, columns)

    def result(self, drop: str) -> "StoredResult":
        """The result of an evaluated drop.

        Raises:
            UnknownName: no drop of this key has been evaluated.
        """
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
            listed = f"evaluated drops: {first_of(self.drops, 10) or 'none'}"
            hint = did_you_mean(drop, self.drops, listed)
            raise UnknownName(f"{drop or repr(drop)} has not been evaluated in {self.installation.root}; {hint}")

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


@dataclass(frozen=True, slots=True)
class StoredResult:
    """The result of an evaluated drop, read from the home folder when it is asked for."""

    home: Home
    drop: str

    @property
    def trajectories(self) -> "pd.DataFrame":
        """The evaluated trajectories, with their texts: the table `preprocessed_trajectories`."""
        return self.table("preprocessed_trajectories")

    @property
    def clips(self) -> "pd.DataFrame":
        """The clips that the trajectories were cut into, with their texts: the table `clips`."""
        return self.table("clips")

    @property
    def verdicts(self) -> "pd.DataFrame":
        """Every judge's verdicts. `level` is `clip`, `category`, `trajectory` or `session`, the table of the verdict.

        `scores` is a dictionary from criterion to score, 0..1. `subject` is null at the level `clip`, `clip_index` at
        the others.
        """
        from evaluation_assets.api.frames import arrow_of, frame_by_level  # noqa: PLC0415  (pandas)

        by_level = ((level, arrow_of(self.home.stored(table, self.drop), table)) for level, table in BY_LEVEL.items())
        return frame_by_level(by_level)

    @property
    def scores(self) -> "pd.DataFrame":
        """The panel's scores of each trajectory, a row for each criterion: the table `trajectory_scores`."""
        return self.table("trajectory_scores")

    @property
    def findings(self) -> "pd.DataFrame":
        """What went wrong, a row for each finding with its kind, severity, place and evidence: the table `findings`."""
        return self.table("findings")

    def table(self, name: str, columns: Sequence[str] | None = None) -> "pd.DataFrame":
        """A table of this drop, as `Home.table` reads it."""
        return self.home.table(name, self.drop, columns)

    @property
    def report(self) -> UPath:
        """Path of the HTML report; the same report in Markdown and JSON is beside it."""
        from evaluation_assets.core.report.paths import report_files  # noqa: PLC0415

        return report_files(self.home.installation.reports(self.drop), self.drop).html

    @property
    def summary(self) -> "DropReport":
        """The figures of the report: headline, scores by tool type and criterion, judges, cost, gate.

        Raises:
            UnknownName: the drop has no report that this version can read.
        """
        from evaluation_assets.core.report.paths import report_files  # noqa: PLC0415
        from evaluation_assets.core.report.stored_report import (  # noqa: PLC0415  (pydantic: 0.3 s to import)
            UnreadableReport,
            stored_report,
        )

        file = report_files(self.home.installation.reports(self.drop), self.drop).json
        if not file.exists():
            raise UnknownName(f"{self.drop} has no report in {file.parent}; evaluate it again")
        try:
            return stored_report(file)
        except UnreadableReport as problem:
            raise UnknownName(str(problem)) from problem

    def gate(self, baseline: "StoredResult | str | Path | None" = None) -> "Comparison":
        """Compare this drop with a baseline. Nothing is run or written.

        Args:
            baseline: a promoted baseline by its suite, a baseline file (`.json`), an evaluated drop by its key, or a
                result. A promoted baseline goes before a drop of the same name. Default: that of the drop's suite.

        Raises:
            UnknownName: there is no such baseline.
        """
        from evaluation_assets.api.comparison import compared  # noqa: PLC0415  (statistics: 0.5 s to import)

        against = (baseline.home.installation, baseline.drop) if isinstance(baseline, StoredResult) else baseline
        return compared(self.home.installation, self.drop, against)

    def promote(self, *, reason: str = "", by: str | None = None) -> Path:
        """Accept this drop as the baseline of its suite, and return the file. Commit it.

        A drop without a suite gets a baseline of its own name.

        Args:
            reason: why the drop is accepted; stored in the file.
            by: who accepts it (default: the name of the system user).

        Raises:
            UnusableInput: the drop has no evaluated tasks.
        """
        from evaluation_assets.runs.own_loop import ALONE  # noqa: PLC0415  (Dagster: 1 s to import)

        config = {"promoted_by": by or "", "reason": reason}
        with as_unusable(), ALONE:
            from evaluation_assets.core.judging.panel import load_panel  # noqa: PLC0415
            from evaluation_assets.defs.names import PROMOTE_BASELINE  # noqa: PLC0415
            from evaluation_assets.runs.jobs import run_job  # noqa: PLC0415

            home = self.home.installation
            panel = load_panel(home.panel_file)
            done = run_job(home, panel, PROMOTE_BASELINE, drop=self.drop, ops={"baseline": {"config": config}})
        if not done.success:
            raise UnusableInput("; ".join(done.failures))
        return Path(str(done.metadata["baseline"]["path"]))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.drop!r}, report={str(self.report)!r})"

    def _repr_html_(self) -> str:
        from evaluation_assets.api.html import result_html  # noqa: PLC0415

        return result_html(self.summary, self.report, "")


def load_home(home: str | Path | None = None) -> Home:
    """The home folder at a path or fsspec URL; default: `EVALUATION_HOME`, else `.evaluation`.

    Raises:
        UnknownName: there is no home folder.
    """
    installation = installation_at(home)
    if not installation.root.exists():
        raise UnknownName(
            f"there is no home folder at {installation.root}; evaluate a file first, or name another path"
        )
    return Home(installation)


def installation_at(home: str | Path | None) -> Installation:
    """The installation at a path or URL, or that of the environment.

    Raises:
        UnusableInput: a folder of it cannot be used.
    """
    with as_unusable():
        installation = Installation.from_environment(None if home is None else str(home))
        installation.check()
    return installation
