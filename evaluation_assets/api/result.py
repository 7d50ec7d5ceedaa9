"""The result of an evaluated drop: tables as data frames, the report, the gate."""

import getpass
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from upath import UPath

from evaluation_assets.api.comparing import Comparison, gate
from evaluation_assets.api.errors import RunFailed, UnknownName, UnusableInput, as_unusable
from evaluation_assets.api.home import Home
from evaluation_assets.api.html import result_html
from evaluation_assets.core.judging.panel import load_panel
from evaluation_assets.core.report.files import report_files
from evaluation_assets.core.report.report import DropReport

if TYPE_CHECKING:
    import pandas as pd

    from evaluation_assets.runs.jobs import FailedCheck

_LEVELS = {
    "clip": "clip_verdicts",
    "category": "category_verdicts",
    "trajectory": "trajectory_verdicts",
    "session": "session_verdicts",
}


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
        from evaluation_assets.api.frames import arrow_of, labelled_frame, table_named  # noqa: PLC0415  (pandas)

        tables = {level: table_named(name) for level, name in _LEVELS.items()}
        found = ((level, arrow_of(self.home.stored(table, self.drop), table)) for level, table in tables.items())
        return labelled_frame(found, "level")

    @property
    def scores(self) -> "pd.DataFrame":
        """The panel's scores of each trajectory, a row for each criterion: the table `trajectory_scores`."""
        return self.table("trajectory_scores")

    def table(self, name: str, columns: Sequence[str] | None = None) -> "pd.DataFrame":
        """A table of this drop, as `Home.table` reads it."""
        return self.home.table(name, self.drop, columns)

    @property
    def report(self) -> UPath:
        """Path of the HTML report; the same report in Markdown and JSON is beside it."""
        return report_files(self.home.installation.reports(self.drop), self.drop).html

    @property
    def summary(self) -> DropReport:
        """The figures of the report: headline, scores by tool type and criterion, judges, cost, gate.

        Raises:
            UnknownName: the drop has no report, because its evaluation was stopped.
        """
        file = report_files(self.home.installation.reports(self.drop), self.drop).json
        if not file.exists():
            raise UnknownName(f"{self.drop} has no report in {file.parent}; evaluate it again")
        return DropReport.model_validate_json(file.read_text("utf-8"))

    def gate(self, baseline: "StoredResult | str | Path | None" = None) -> Comparison:
        """Compare this drop with a baseline. Nothing is run or written.

        Args:
            baseline: a promoted baseline by its suite, a baseline file (`.json`), an evaluated drop by its key, or a
                result. A promoted baseline goes before a drop of the same name. Default: that of the drop's suite.

        Raises:
            UnknownName: there is no such baseline.
        """
        return gate(self.home, self.drop, baseline)

    def promote(self, *, reason: str = "", by: str | None = None) -> Path:
        """Accept this drop as the baseline of its suite, and return the file. Commit it.

        Args:
            reason: why the drop is accepted; stored in the file.
            by: who accepts it (default: the name of the system user).

        Raises:
            UnusableInput: the drop has no suite, or no evaluated tasks.
        """
        from evaluation_assets.runs.own_loop import quiet  # noqa: PLC0415  (Dagster: 1 s to import)

        config = {"promoted_by": by or getpass.getuser(), "reason": reason, "with_drops": []}
        with as_unusable(), quiet():
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
        return result_html(self.summary, self.report, "")


@dataclass(frozen=True, slots=True, repr=False)
class Result(StoredResult):
    """What `evaluate` returns. `failed_checks` are the asset checks that failed, with those that do not block.

    `status` is `passed`, `check_failed` (a blocking check failed) or `over_budget`.
    """

    status: Literal["passed", "check_failed", "over_budget"]
    failed_checks: "tuple[FailedCheck, ...]" = ()

    @property
    def passed(self) -> bool:
        """Whether the evaluation is complete and all blocking checks passed, the gate among them."""
        return self.status == "passed"

    def check(self) -> "Result":
        """This result, if it passed.

        Raises:
            RunFailed: a blocking check failed, or the budget is spent; the message names the checks.
        """
        if self.passed:
            return self
        blocking = [f"{each.name}: {each.description or 'failed'}" for each in self.failed_checks if each.blocks]
        raise RunFailed(f"{self.drop}: {'; '.join(blocking) or self.status}. Report: {self.report}")

    def __repr__(self) -> str:
        return f"Result({self.drop!r}, {self.status!r}, report={str(self.report)!r})"

    def _repr_html_(self) -> str:
        return result_html(self.summary, self.report, self.status.replace("_", " "))
