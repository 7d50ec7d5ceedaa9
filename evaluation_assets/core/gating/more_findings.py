"""Findings that became more frequent than in the baseline beyond noise, of kinds that do not gate."""

from collections.abc import Iterable, Sequence
from functools import cache

from evaluation_assets.core.gating.baselines import Baseline
from evaluation_assets.core.gating.comparisons import compare_metrics
from evaluation_assets.core.gating.outcome import MetricComparison
from evaluation_assets.core.gating.settings import GateSettings
from evaluation_assets.core.gating.task_metrics import FINDING, DropMetrics
from evaluation_assets.core.sections.findings.detectors.registry import DETECTORS
from evaluation_assets.core.sections.findings.kinds import kinds


def more_findings(
    baseline: Baseline, current: DropMetrics, settings: GateSettings, tasks: Sequence[str], gating: Iterable[str]
) -> list[MetricComparison]:
    """The kinds of detectors whose share of the runs rose; Holm's method adjusts for their number."""
    if not current.detectors or baseline.detectors != current.detectors:
        return []
    names = [name for name in _grave() if current.metrics.get(name) and name not in set(gating)]
    own = {name: {task: value.value for task, value in current.metric(name).items()} for name in names}
    asked = settings.model_copy(update={"metrics": tuple(names)})
    compared = compare_metrics(baseline, own, asked, tasks) if names else []
    return [each for each in compared if each.gates and each.verdict == "fail"]


@cache
def _grave() -> tuple[str, ...]:
    """The metrics of kinds that detectors find and that are more than LOW."""
    found = {kind for detector in DETECTORS for kind in detector.kinds}
    return tuple(f"{FINDING}{name}" for name, kind in kinds().items() if name in found and kind.severity != "LOW")
