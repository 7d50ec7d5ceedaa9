"""What is known of each run without a judge, made again from the drop's files.

These are the suite, constraints, work on code, and the process score.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from evaluation_assets.core.intake.drops import Drop
from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.pipeline.findings import call_forms
from evaluation_assets.core.pipeline.tool_use import suite_of
from evaluation_assets.core.sections.coding_work.work import FORMATS, coding_work_of, work_row
from evaluation_assets.core.sections.constraints.constraint_rows import constraint_row
from evaluation_assets.core.sections.constraints.evaluation import Evaluator
from evaluation_assets.core.sections.constraints.scope import DropScope
from evaluation_assets.core.sections.constraints.settings import load_checks
from evaluation_assets.core.sections.findings.detecting import detected
from evaluation_assets.core.sections.findings.evidence.call_forms import NO_FORMS, CallForms
from evaluation_assets.core.sections.findings.gathering import findings_of
from evaluation_assets.core.sections.findings.process_score import process_score
from evaluation_assets.core.suites.calls import run_of
from evaluation_assets.core.suites.case_results import CaseIndex, evaluate
from evaluation_assets.core.suites.formats.registry import LoadedSuite
from evaluation_assets.core.suites.suite import InvalidSuite
from evaluation_assets.core.suites.tool_use_rows import case_without_run, tool_use_row
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.traces.trajectories.model import Trajectory


@dataclass(frozen=True, slots=True)
class SuiteRows:
    """The runs measured by the cases of the suite, with a row for each case that has no run."""

    rows: Sequence[Row]
    without_case: int
    incomplete: int


@dataclass(frozen=True, slots=True)
class ScoredRun:
    """A run with its process score."""

    task_id: str
    success: bool | None
    score: float | None


@dataclass(frozen=True, slots=True)
class RunRows:
    """Rows of runs. `suite` is `None` if the drop has no suite, or one that cannot be used."""

    suite: SuiteRows | None
    constraints: Sequence[Row]
    coding: Sequence[Row]
    process: Sequence[ScoredRun]


@dataclass(slots=True)
class RunReader:
    """Makes the rows of the readable runs of a drop, one run at a time.

    Raises:
        InvalidChecks: `checks.yaml` cannot be used.
    """

    home: Installation
    drop: Drop
    _loaded: LoadedSuite | None = None
    _index: CaseIndex | None = None
    _evaluator: Evaluator | None = None
    _suite: list[Row] = field(default_factory=list)
    _constraints: list[Row] = field(default_factory=list)
    _coding: list[Row] = field(default_factory=list)
    _process: list[ScoredRun] = field(default_factory=list)
    _forms: CallForms = NO_FORMS
    _without_case: int = 0

    def __post_init__(self) -> None:
        sidecar = self.drop.sidecar()
        self._forms = call_forms(self.home.table(self.drop.key, "raw_trajectories"))
        try:
            self._loaded = suite_of(self.home, sidecar.suite)
        except InvalidSuite:  # the report says so, and has no figures of the suite
            self._loaded = None
        self._index = None if self._loaded is None else CaseIndex(self._loaded.suite.cases)
        constraints = load_checks(self.home.checks_file).constraints
        self._evaluator = Evaluator(constraints, DropScope.of(sidecar)) if constraints else None

    def add(self, trajectory: Trajectory) -> None:
        """Measure a run as it was read, before rules and repairs."""
        key = self.drop.key
        if self._loaded is not None and self._index is not None:
            case = self._index.find(trajectory.task_id, trajectory.task)
            if case is None:
                self._without_case += 1
            else:
                result = evaluate(case, run_of(trajectory), self._loaded.suite)
                self._suite.append(_without_texts(tool_use_row(key, "", case, trajectory, result)))
        outcomes = [] if self._evaluator is None else self._evaluator.outcomes(trajectory)
        constrained = [constraint_row(key, trajectory, outcome) for outcome in outcomes]
        self._constraints += map(_without_texts, constrained)
        found = findings_of(trajectory, detected(trajectory, self._forms), constraints=constrained)
        scored = process_score(trajectory, found, has_rules=bool(constrained))
        self._process.append(ScoredRun(trajectory.task_id, trajectory.success, scored.score))
        if trajectory.format in FORMATS:
            self._coding.append(work_row(key, trajectory, coding_work_of(trajectory)))

    def rows(self) -> RunRows:
        """The rows, once all runs are measured."""
        suite = None
        if self._loaded is not None:
            seen = {row["case_id"] for row in self._suite}
            missing = [case_without_run("", "", case) for case in self._loaded.suite.cases if case.id not in seen]
            suite = SuiteRows([*self._suite, *missing], self._without_case, len(self._loaded.incomplete))
        return RunRows(suite, self._constraints, self._coding, self._process)


def _without_texts(row: Row) -> Row:
    """A row without the texts that no figure comes from."""
    return {name: value for name, value in row.items() if name not in ("calls", "violations", "message", "rule")}
