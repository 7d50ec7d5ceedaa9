"""Bridges: runs that an old and a new judge scored link the drops before a change of judges with those after it.

A bridge holds which parts of the comparability key it links, and by metric how much higher the new scores are. Drops
that differ in exactly these parts are compared on the scale of the old scores.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from math import sqrt

from pydantic import BaseModel, ConfigDict, ValidationError
from upath import UPath

from evaluation_assets.core.gating.baselines import SERVED, Baseline, InvalidBaseline, baseline_file
from evaluation_assets.core.gating.outcome import Bridge, Difference, Offset
from evaluation_assets.core.gating.paired_tests import tasks_needed
from evaluation_assets.core.gating.settings import GateSettings
from evaluation_assets.core.gating.task_metrics import DropMetrics, TaskValue, needs_judges
from evaluation_assets.core.scoring.intervals import clustered, half_width
from evaluation_assets.core.text.faults import faults_of


class Bridges(BaseModel):
    """The bridges of a suite, oldest first."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    suite: str
    bridges: tuple[Bridge, ...] = ()

    def over(self, differs: Mapping[str, Difference]) -> Bridge | None:
        """The newest bridge over exactly these differences."""
        return next((each for each in reversed(self.bridges) if each.differs == differs), None)

    def with_bridge(self, bridge: Bridge) -> "Bridges":
        """These bridges with another one, which replaces one over the same differences."""
        others = [each for each in self.bridges if each.differs != bridge.differs]
        return self.model_copy(update={"bridges": (*others, bridge)})


def bridges_file(folder: UPath, suite: str) -> UPath:
    """Path of a suite's bridges."""
    return baseline_file(folder, suite)


def read_bridges(file: UPath, suite: str) -> Bridges:
    """Read the bridges of a suite; none if the file does not exist.

    Raises:
        InvalidBaseline: the file has no bridges of this suite.
    """
    if not file.exists():
        return Bridges(suite=suite)
    try:
        return Bridges.model_validate_json(file.read_bytes())
    except ValidationError as problem:
        raise InvalidBaseline(
            f"{file} is not a valid file of bridges: {faults_of(problem)[0]}. Delete it and make the bridges again: "
            "evaluation-assets panel bridge OLD NEW (replies come from the ledger)"
        ) from problem


def differences(before: Mapping[str, str], now: Mapping[str, str]) -> dict[str, Difference]:
    """The parts of two comparability keys that differ. Model versions that providers report are compared elsewhere."""
    return {
        part: Difference(baseline=before.get(part), current=now.get(part))
        for part in sorted(before.keys() | now.keys())
        if before.get(part) != now.get(part) and not part.startswith(SERVED)
    }


def offset_of(values: Sequence[float], tasks: Sequence[Hashable]) -> Offset | None:
    """The mean of paired differences, new minus old, with its 95% interval; `None` for runs of a single task."""
    mean, error, degrees = clustered(values, tasks)
    if degrees < 1:
        return None
    half = half_width(error, degrees)
    return Offset(
        mean=mean, std_error=error, ci_low=mean - half, ci_high=mean + half, n_tasks=degrees + 1, n_runs=len(values)
    )


def tasks_of_overlap(offset: Offset, settings: GateSettings) -> int:
    """The number of tasks that a bridge needs: so many that its own uncertainty does not keep a run from passing.

    A run passes if a decrease of `max_undetected` would have been detected.
    """
    spread = offset.std_error * sqrt(offset.n_tasks)
    return max(settings.min_tasks, tasks_needed(spread, settings.max_undetected, settings.alpha, settings.power))


def on_old_scale(bridge: Bridge, baseline: Baseline, current: DropMetrics) -> tuple[Baseline, DropMetrics, list[str]]:
    """Both sides of a comparison over a bridge, and the metrics that it does not link.

    The offsets are subtracted from the values of the current run, which has the comparability key of the baseline
    then. Canary clips and served models of the bridged judges are left out, since these judges are known to differ.
    """
    known = {*baseline.metrics, *current.metrics}
    apart = sorted(name for name in known if name not in bridge.offsets and needs_judges(name))
    before = baseline.model_copy(
        update={
            "metrics": {name: metric for name, metric in baseline.metrics.items() if name not in apart},
            "canaries": {judge: scores for judge, scores in baseline.canaries.items() if judge not in bridge.asked},
        }
    )
    parts = {part: value for part, value in current.comparability.items() if part not in bridge.differs}
    parts |= {part: each.baseline for part, each in bridge.differs.items() if each.baseline is not None}
    for judge in bridge.asked:
        parts.pop(f"{SERVED}{judge}", None)
    metrics = {
        name: {task: _moved(value, bridge.offsets.get(name)) for task, value in values.items()}
        for name, values in current.metrics.items()
        if name not in apart
    }
    return before, replace(current, metrics=metrics, comparability=parts), apart


def _moved(value: TaskValue, offset: Offset | None) -> TaskValue:
    if offset is None:
        return value
    mean, best, worst = (each - offset.mean for each in (value.value, value.best, value.worst))
    return TaskValue(mean, best, worst, value.trials)


def combined_error(errors: Iterable[tuple[float, float]]) -> tuple[float, float]:
    """The standard error of a difference of independent means, and its degrees of freedom (Satterthwaite's).

    Source: Satterthwaite, Biometrics Bulletin 2 (1946).
    """
    squares = [(error**2, degrees) for error, degrees in errors]
    total = sum(square for square, _ in squares)
    below = sum(square**2 / degrees for square, degrees in squares)
    return sqrt(total), total**2 / below if below > 0 else min(degrees for _, degrees in squares)
