"""Baselines: the metrics of an accepted run, as JSON that is reviewed in git. Never the best run so far."""

import json
import re
from collections.abc import Mapping, Sequence
from math import isfinite
from statistics import fmean
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator
from upath import UPath

from evaluation_assets.core.gating.settings import GateSettings, check_value
from evaluation_assets.core.gating.task_metrics import (
    COMPLETED,
    PASS_RATE,
    RELATIVE,
    SUCCESS,
    DropMetrics,
    TaskValue,
    estimate_of,
    lower_is_better,
)
from evaluation_assets.core.intake.facts import MetricsFacts
from evaluation_assets.core.judging.panel import EMBEDDED, WITHOUT_MODEL
from evaluation_assets.core.text.exact_json import is_number
from evaluation_assets.core.text.faults import faults_of
from evaluation_assets.core.text.user_error import UserError
from evaluation_assets.core.traces.trajectories.identity import digest, file_name


class InvalidBaseline(UserError, ValueError):
    """A baseline cannot be read or created. The message says what to do."""


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class BaselineMetric(_Model):
    """One metric: its mean over tasks with a 95% interval, and its value for each task that has it.

    `trials` is the number of trials that a task's value is averaged over, if there are several.
    """

    mean: float
    ci_low: float | None
    ci_high: float | None
    n_tasks: int
    values: dict[str, float]
    trials: dict[str, int] = {}


class BaselineRun(_Model):
    """A drop that the baseline was created from."""

    drop: str
    content: str
    agent: str | None
    agent_version: str | None
    model: str | None = None


class Baseline(_Model):
    """What a suite's runs are compared with. `tasks` is the digest of what each task asks.

    `canaries` are the judges' scores of canary clips when its runs were judged, one for each repeat. `detectors` are
    those that searched its runs for findings; empty if unknown, or if they differ. `trials` is the number of runs of
    each task, if there are several. `disputed` are runs whose source states both success and failure.
    """

    format: Literal[1] = 1
    suite: str
    promoted_by: str
    promoted_at: str
    reason: str
    run_id: str
    runs: tuple[BaselineRun, ...]
    comparability_key: str
    comparability: dict[str, str]
    tasks: dict[str, str]
    trials: dict[str, int] = {}
    metrics: dict[str, BaselineMetric]
    canaries: dict[str, dict[str, list[float]]] = {}
    detectors: str = ""
    disputed: tuple[str, ...] = ()

    @field_validator("format", mode="before")
    @classmethod
    def _no_newer(cls, value: Any) -> Any:
        if isinstance(value, int) and value > 1:
            raise ValueError("is that of a newer version; upgrade evaluation-assets")
        return value

    @property
    def name(self) -> str:
        """The drops that the baseline was created from."""
        return ", ".join(run.drop for run in self.runs)

    @property
    def without_canaries(self) -> list[str]:
        """The model judges without canary scores in the baseline; changes of these judges are not detected."""
        providers = _providers(self.comparability)
        return sorted(
            judge
            for judge, provider in providers.items()
            if provider not in WITHOUT_MODEL and not self.canaries.get(judge)
        )


OTHER_NAMES = {
    "completion_rate": COMPLETED,
    "avg_tool_coverage": "tool_coverage",
    "avg_answer_quality": "keyword_score",
    "avg_efficiency": "efficiency",
    "overall_score": "suite_score",
}
"""Metrics by the names that reports of other test runners have for them."""


def comparability_key(parts: Mapping[str, str]) -> str:
    """Short name of a comparability key, for tables and plots."""
    return digest(*(f"{part}={value}" for part, value in sorted(parts.items())))[:12]


def scored_with(metrics: DropMetrics | MetricsFacts) -> dict[str, str]:
    """The parts of the comparability key, including the judges that are excluded from gates."""
    return dict(metrics.comparability) | {f"judge {judge}{KEPT_OUT}": "yes" for judge in metrics.kept_out}


KEPT_OUT = " kept out of gates"
SCORED_NO_CLIPS = " scored no clips"
"""End of a part of a comparability key: the judge has no share in `overall`, though others have."""

FAILED_MOSTLY = " failed on most questions"
"""End of a part of a comparability key: the rest is too little to measure the judge's leniency by.

With two judges, one of which answered a tenth of the questions, 19% of unchanged simulated runs failed, with half 7%.
"""

OF_DROPS = (SCORED_NO_CLIPS, FAILED_MOSTLY)
"""Ends of parts that a judge has in some drops."""

SERVED = "model served to "
"""Part of a comparability key: the model version that a provider reports in its replies to a judge."""


def gating_metrics(settings: GateSettings, parts: Mapping[str, str]) -> tuple[str, ...]:
    """The gating metrics of runs scored with these parts.

    The default is outcomes, and `overall` if a model judge or a recorded judge scored clips. `overall` of the embedded
    judge alone does not gate: it measures how an agent works, which says little about whether it succeeds.
    """
    if settings.metrics is not None:
        return settings.metrics
    return (SUCCESS, PASS_RATE) if is_by_rules_only(parts) else (SUCCESS, PASS_RATE, "overall")


def is_by_rules_only(parts: Mapping[str, str]) -> bool:
    """Whether `overall` is the mean of the embedded judge's scores alone, by the parts of the comparability key."""
    providers = _providers(parts)
    without = {part.removesuffix(SCORED_NO_CLIPS).removeprefix("judge ") for part in parts if is_note(part)}
    return {provider for judge, provider in providers.items() if judge not in without} <= {EMBEDDED}


def judges_in(parts: Mapping[str, str]) -> list[str]:
    """The judges whose scores count, by the parts of a comparability key."""
    return list(_providers(parts))


def is_note(part: str) -> bool:
    """Whether a part says what share a judge has in the scores, and not how it scores."""
    return part.endswith((KEPT_OUT, *OF_DROPS))


def _providers(parts: Mapping[str, str]) -> dict[str, str]:
    """The provider of each judge that is not excluded, by name."""
    out = {part.removesuffix(KEPT_OUT) for part in parts if part.endswith(KEPT_OUT)}
    return {
        part.removeprefix("judge "): value.split(" ", 1)[0]
        for part, value in parts.items()
        if part.startswith("judge ") and not is_note(part) and part not in out
    }


def make_baseline(
    drops: Sequence[DropMetrics],
    *,
    promoted_by: str,
    promoted_at: str,
    reason: str,
    run_id: str,
    suite: str | None = None,
) -> Baseline:
    """The baseline of a drop, or the mean of several: each task's value is the mean over the drops that have it.

    It is that of `suite`; default: the suite of the first drop, or else its own name.

    Raises:
        InvalidBaseline: a drop without scores, or drops that cannot be compared with each other.
    """
    first = drops[0]
    for other in drops[1:]:
        parts = [(each.suite, scored_with(each), each.tasks.keys()) for each in (first, other)]
        if parts[0] != parts[1]:
            raise InvalidBaseline(f"{other.drop} and {first.drop} differ in suite, judges, settings or tasks")
    made = as_baseline(drops)
    promotion = {
        "suite": suite or first.suite or first.drop,
        "promoted_by": promoted_by,
        "promoted_at": promoted_at,
        "reason": reason,
        "run_id": run_id,
    }
    return made.model_copy(update=promotion)


def as_baseline(drops: Sequence[DropMetrics]) -> Baseline:
    """What another drop is compared with, without a promotion. The suite is empty if the drops have none.

    Raises:
        InvalidBaseline: the first drop has no evaluated tasks.
    """
    first = drops[0]
    if not first.tasks:
        raise InvalidBaseline(
            f"{first.drop} has no evaluated tasks: none of its records was read and kept. Its report says why"
        )
    parts = scored_with(first)
    every = dict.fromkeys(name for drop in drops for name in drop.metrics)
    by_name = {name: [drop.metric(name) for drop in drops] for name in every}
    return Baseline(
        suite=first.suite or "",
        promoted_by="",
        promoted_at="",
        reason="",
        run_id="",
        runs=tuple(
            BaselineRun(
                drop=drop.drop,
                content=drop.content,
                agent=drop.agent,
                agent_version=drop.agent_version,
                model=drop.model,
            )
            for drop in drops
        ),
        comparability_key=comparability_key(parts),
        comparability=parts,
        tasks=dict(sorted(first.tasks.items())),
        trials={task: n for task in sorted(first.tasks) if (n := sum(drop.trials.get(task, 1) for drop in drops)) > 1},
        metrics={name: _metric(name, by_drop) for name, by_drop in by_name.items() if all(by_drop)},
        canaries=_canaries(drops),
        detectors=first.detectors if len({drop.detectors for drop in drops}) == 1 else "",
        disputed=tuple(run for drop in drops for run, _, _ in drop.disputed),
    )


def _canaries(drops: Sequence[DropMetrics]) -> dict[str, dict[str, list[float]]]:
    """Scores of the canary clips over all drops."""
    collected: dict[str, dict[str, list[float]]] = {}
    for drop in drops:
        for judge, clips in drop.canaries.items():
            for clip, scores in clips.items():
                collected.setdefault(judge, {}).setdefault(clip, []).extend(scores)
    return collected


def _metric(name: str, by_drop: Sequence[Mapping[str, TaskValue]]) -> BaselineMetric:
    collected: dict[str, list[TaskValue]] = {}
    for values in by_drop:
        for task_id, task in values.items():
            collected.setdefault(task_id, []).append(task)
    values = {task_id: fmean(task.value for task in known) for task_id, known in sorted(collected.items())}
    trials = {task_id: sum(task.trials for task in known) for task_id, known in sorted(collected.items())}
    estimate = estimate_of(name, list(values.values()), sum(trials.values()))
    return BaselineMetric(
        mean=estimate.mean,
        ci_low=estimate.low,
        ci_high=estimate.high,
        n_tasks=estimate.n,
        values=values,
        trials={task_id: n for task_id, n in trials.items() if n > 1},
    )


def baseline_file(folder: UPath, suite: str) -> UPath:
    """Path of a suite's baseline. Names that are not valid file names are converted."""
    safe = re.sub(r"[^\w.-]+", "_", suite).strip(".")
    return folder / file_name(safe if safe == suite else f"{safe}-{digest(suite)[:6]}", ".json")


def promoted_suites(folder: UPath) -> list[str]:
    """The names of the baseline files in a folder, without their ending."""
    return sorted(path.stem for path in folder.glob("*.json"))


def read_baseline(file: UPath) -> Baseline | None:
    """Read a baseline file; `None` if it does not exist.

    Raises:
        InvalidBaseline: the file is not a baseline, or a metric has a value that it cannot have.
    """
    if not file.exists():
        return None
    try:
        baseline = Baseline.model_validate_json(file.read_text("utf-8-sig"), strict=True)
        for name, metric in baseline.metrics.items():
            for value in (metric.mean, *metric.values.values()):
                check_value(name, value)
    except ValidationError as problem:
        raise InvalidBaseline(f"{file} is not a valid baseline: {faults_of(problem)[0]}") from problem
    except ValueError as problem:
        raise InvalidBaseline(f"{file} is not a valid baseline: {problem}") from problem
    return baseline


def read_figures(file: UPath) -> dict[str, float] | None:
    """The figures of a file that has names of metrics and numbers only; `None` for any other file.

    Raises:
        InvalidBaseline: a figure cannot be that of its metric.
    """
    try:
        given: Any = json.loads(file.read_bytes())
    except (ValueError, RecursionError):
        return None
    if not isinstance(given, dict) or not given or any(isinstance(value, dict | list) for value in given.values()):
        return None
    for name, value in given.items():
        if not is_number(value) or not isfinite(value):
            raise InvalidBaseline(f"{file}: {name} is {value!r}; it has to be a number")
    return {OTHER_NAMES.get(str(name), str(name)): value for name, value in given.items()}


def floors_of(figures: Mapping[str, float], settings: GateSettings) -> dict[str, float]:
    """The limits of a drop: each figure less `tolerance`.

    Of findings, of which more is worse, it is `tolerance` more; of cost and latency, `relative_delta` more.
    """
    return {name: _limit(name, value, settings) for name, value in figures.items()}


def _limit(name: str, value: float, settings: GateSettings) -> float:
    if name in RELATIVE:
        return value * (1 + settings.relative_delta)
    if lower_is_better(name):
        return min(1.0, value + settings.tolerance)
    return max(0.0, value - settings.tolerance)
