"""A drop compared with a baseline or with another drop, task by task, as the gate does."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from upath import UPath

from evaluation_assets.api.errors import GateFailed, UnknownName, as_unusable
from evaluation_assets.api.html import comparison_html
from evaluation_assets.core.gating.baselines import Baseline, as_baseline, baseline_file, promoted_suites, read_baseline
from evaluation_assets.core.gating.evaluated_drops import baseline_for, bridges_of, gate_metrics, metrics_of
from evaluation_assets.core.gating.outcome import GateOutcome
from evaluation_assets.core.gating.settings import GateVerdict
from evaluation_assets.core.gating.task_metrics import DropMetrics, lower_is_better
from evaluation_assets.core.gating.version_of_drop import drop_and_version, metrics_of_version
from evaluation_assets.core.pipeline.settings import load_settings
from evaluation_assets.core.report.gate.gate_formats import as_text
from evaluation_assets.core.report.paths import report_files
from evaluation_assets.core.review.judge_cards import disqualified_judges
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.plain_text import for_terminal

if TYPE_CHECKING:
    import pandas as pd

EvaluatedDrop = tuple[Installation, str]
"""A drop, by the installation that holds it and its key, or one version of it: `DROP@VERSION`."""

_WORST = 5
"""Tasks that `summary` names for each metric that got worse."""


@dataclass(frozen=True, slots=True)
class TaskChange:
    """A metric of one task before and after: means over the task's trials, and their difference."""

    task_id: str
    metric: str
    baseline: float
    current: float

    @property
    def difference(self) -> float:
        """Current minus baseline."""
        return self.current - self.baseline

    @property
    def decrease(self) -> float:
        """By how much the task got worse; of cost, latency and findings, more is worse."""
        return self.difference if lower_is_better(self.metric) else -self.difference


@dataclass(frozen=True, slots=True)
class Comparison:
    """A drop compared with a baseline, or with another drop, over the tasks of both.

    `outcome` is what the gate says, with all figures. `blocks` is whether this verdict fails a run (`blocks` in
    gate.yaml). `report` is the page of the drop. `changes` are the changes of all tasks in all metrics.
    """

    outcome: GateOutcome
    blocks: bool
    report: UPath
    changes: tuple[TaskChange, ...]

    @property
    def verdict(self) -> GateVerdict:
        """`pass`, `warn`, `fail`, `inconclusive` or `incomparable`."""
        return self.outcome.verdict

    @property
    def passed(self) -> bool:
        """Whether the gate lets the drop through."""
        return not self.blocks

    @property
    def reasons(self) -> list[str]:
        """Why the verdict is what it is, most severe first."""
        return self.outcome.reasons

    @property
    def metrics(self) -> "pd.DataFrame":
        """A row for each metric: means before and after, paired difference, its interval, p-values and verdict.

        `difference` is current minus baseline; for cost and latency it is the relative change.
        """
        import pandas as pd  # noqa: PLC0415  (0.5 s to import)

        frame = pd.DataFrame([each.model_dump() for each in self.outcome.metrics])
        return frame if frame.empty else frame.set_index("metric")

    @property
    def tasks(self) -> "pd.DataFrame":
        """A row for each task and metric of both: value before and after, and their difference."""
        import pandas as pd  # noqa: PLC0415  (0.5 s to import)

        rows = [(each.task_id, each.metric, each.baseline, each.current, each.difference) for each in self.changes]
        return pd.DataFrame(rows, columns=["task_id", "metric", "baseline", "current", "difference"])

    def worst(self, metric: str, most: int = _WORST) -> list[TaskChange]:
        """The tasks that got worse in a metric, largest decrease first."""
        fallen = [each for each in self.changes if each.metric == metric and each.decrease > 0]
        return sorted(fallen, key=lambda each: (-each.decrease, each.task_id))[:most]

    def summary(self) -> str:
        """Verdict, reasons, metrics, the tasks that got worse most, and the path of the report, as text."""
        # A task is listed once, by the rule of the gate; the largest changes are of metrics of which it lists none.
        listed = {task.metric for task in self.outcome.fallen_tasks}
        worse = [each for each in self.outcome.metrics if each.gates and each.verdict in ("fail", "warn")]
        lines = [as_text(self.outcome)]
        for metric in worse:
            if metric.metric not in listed and (tasks := self.worst(metric.metric)):
                change = "increases" if lower_is_better(metric.metric) else "decreases"
                lines += ["", f"  largest {change} of {metric.metric}"]
                lines += [f"    {each.task_id}: {each.baseline:.3f} -> {each.current:.3f}" for each in tasks]
        lines += ["", f"  report: {self.report}"]
        return "\n".join(for_terminal(line) for line in lines)

    def check(self) -> "Comparison":
        """This comparison, if the gate lets the drop through.

        Raises:
            GateFailed: the gate blocks; the message is `summary()`.
        """
        if self.blocks:
            raise GateFailed(self.summary())
        return self

    def __str__(self) -> str:
        return as_text(self.outcome)

    def _repr_html_(self) -> str:
        return comparison_html(self.outcome, self.report)


def compared(home: Installation, drop: str, against: EvaluatedDrop | str | Path | None) -> Comparison:
    """Compare a drop with another one, or with a baseline, which is named as in `StoredResult.gate`."""
    with as_unusable():
        settings = load_settings(home.gate_file)
        baseline = _baseline(home, drop, against)
        metrics = _metrics(home, drop)
        disqualified = disqualified_judges(home, settings.review)
        bridges = bridges_of(home, metrics.suite)
        outcome = gate_metrics(baseline, metrics, settings.gate, disqualified, bridges)
    if outcome is None:
        raise UnknownName(
            f"there is no baseline for {drop}. Name a drop or a file with baseline=..., or promote one: "
            f"{home.command('baseline', 'promote', 'OTHER')}"
        )
    key, _ = drop_and_version(home, drop)
    return Comparison(
        outcome=outcome,
        blocks=outcome.verdict in settings.gate.blocks or bool(outcome.judges_changed),
        report=report_files(home.reports(key), key).html,
        changes=tuple(_changes(baseline, metrics)),
    )


def _metrics(home: Installation, name: str) -> DropMetrics:
    """The metrics of a drop, or of one version of it."""
    drop, version = drop_and_version(home, name)
    return metrics_of(home, drop) if version is None else metrics_of_version(home, drop, version)


def _baseline(home: Installation, drop: str, against: EvaluatedDrop | str | Path | None) -> Baseline | None:
    if against is None:
        return baseline_for(home, drop, metrics_of(home, drop).suite)
    if not isinstance(against, str | Path):
        return as_baseline([_metrics(*against)])
    if isinstance(against, Path) or against.endswith(".json"):
        file = UPath(against)
    else:
        file = baseline_file(home.baselines, against)
    if (baseline := read_baseline(file)) is not None:
        return baseline
    evaluated = home.drops_with("task_metrics")
    if against in evaluated:
        return as_baseline([metrics_of(home, str(against))])
    promoted = promoted_suites(home.baselines)
    raise UnknownName(
        f"there is no baseline {str(against)!r}; promoted baselines: {', '.join(promoted) or 'none'}; evaluated drops: "
        f"{', '.join(evaluated) or 'none'}"
    )


def _changes(baseline: Baseline | None, current: DropMetrics) -> Iterator[TaskChange]:
    before: Mapping[str, Mapping[str, float]] = (
        {} if baseline is None else {name: metric.values for name, metric in baseline.metrics.items()}
    )
    for name, values in current.metrics.items():
        for task, value in values.items():
            if task in before.get(name, {}):
                yield TaskChange(task, name, before[name][task], value.value)
