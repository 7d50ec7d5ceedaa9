"""Single tasks that fell or rose by a large amount since the baseline."""

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from evaluation_assets.core.gating.baselines import BaselineMetric
from evaluation_assets.core.gating.outcome import ChangedTask
from evaluation_assets.core.gating.paired_tests import warning_level
from evaluation_assets.core.gating.settings import GateSettings
from evaluation_assets.core.gating.single_tasks import benjamini_hochberg, p_outcomes, p_scores
from evaluation_assets.core.gating.task_metrics import OUTCOMES, TaskValue


def changed_tasks(
    direction: Literal["fell", "rose"],
    metrics: Sequence[str],
    baseline: Mapping[str, BaselineMetric],
    current: Mapping[str, Mapping[str, TaskValue]],
    tasks: Sequence[str],
    settings: GateSettings,
) -> list[ChangedTask]:
    """The tasks that changed in this direction by at least `fallen_drop` in every trial, largest change first."""
    sign = 1.0 if direction == "fell" else -1.0
    compared: list[ChangedTask] = []
    p_values: list[np.ndarray] = []
    for metric in metrics:
        if metric not in baseline or metric not in current:
            continue
        before, now = baseline[metric], current[metric]
        both = [task for task in tasks if task in before.values and task in now]
        if not both:
            continue
        values = np.array([[before.values[task], now[task].value] for task in both]).T
        trials = np.array([[before.trials.get(task, 1), now[task].trials] for task in both]).T
        if metric in OUTCOMES or np.isin(values, (0, 1)).all():
            worse, better = (0, 1) if direction == "fell" else (1, 0)
            p_values.append(p_outcomes(values[worse], trials[worse], values[better], trials[better]))
        else:
            p_values.append(p_scores(sign * (values[1] - values[0])))
        compared += [
            ChangedTask(
                task_id=task,
                metric=metric,
                baseline=before.values[task],
                current=now[task].value,
                beyond_noise=False,
            )
            for task in both
        ]
    adjusted = benjamini_hochberg(np.concatenate(p_values)) if p_values else np.array([])
    changed: list[ChangedTask] = []
    for each, p in zip(compared, adjusted, strict=True):
        nearest = current[each.metric][each.task_id]
        moved = sign * (each.baseline - (nearest.best if direction == "fell" else nearest.worst))
        if moved >= settings.fallen_drop - 1e-9:
            changed.append(each.model_copy(update={"beyond_noise": bool(p <= warning_level(settings.alpha))}))
    return sorted(changed, key=lambda each: (sign * (each.current - each.baseline), each.task_id))
