"""The gate's answer about a drop, as reports, checks and programs read it."""

from pydantic import BaseModel, ConfigDict

from evaluation_assets.core.gating.settings import GateVerdict


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True)


class MetricComparison(_Model):
    """One metric over the `n_tasks` tasks that have it on both sides.

    `baseline` and `current` are means over these tasks. `difference` is current minus baseline; for cost and latency
    the relative change (0.1: ten per cent more), and more is worse. The interval has confidence `1 - 2 alpha`.
    `p_adjusted` is `p_regression` adjusted for the number of gating metrics. `tasks_needed` would show or rule out a
    decrease of the margin with the configured power, `smallest_drop` is the smallest decrease these tasks show with it.
    """

    metric: str
    gates: bool
    baseline: float | None = None
    current: float | None = None
    difference: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    p_regression: float | None = None
    p_adjusted: float | None = None
    p_non_inferior: float | None = None
    n_tasks: int = 0
    tasks_needed: int | None = None
    smallest_drop: float | None = None
    method: str | None = None
    verdict: GateVerdict
    reason: str


class ChangedTask(_Model):
    """A task that fell, or rose, by much in every trial. Both sides are means of its trials.

    `beyond_noise`: further than noise goes, with the false discovery rate held over all tasks and gating metrics.
    """

    task_id: str
    metric: str
    baseline: float
    current: float
    beyond_noise: bool


class Difference(_Model):
    """A part of the comparability key that is not the same; `None` where it does not exist."""

    baseline: str | None
    current: str | None


class Comparability(_Model):
    """Whether both runs asked the same of the same judges. `differs` is by part."""

    baseline_key: str | None
    current_key: str
    differs: dict[str, Difference]


class GateOutcome(_Model):
    """The gate's answer about a drop.

    `only_in_baseline` are the tasks that are missing. `reworded_tasks` have the same ID and another prompt, as tasks
    with a simulated user do; they are compared. `judges_changed` have moved on the canary clips, or are served by
    another version of their model: then nothing is said about the agent, and the run is blocked.
    """

    drop: str
    baseline: str | None
    suite: str | None
    verdict: GateVerdict
    rule: str
    reasons: list[str]
    metrics: list[MetricComparison]
    fallen_tasks: list[ChangedTask]
    improved_tasks: list[ChangedTask] = []
    only_in_baseline: list[str]
    only_in_current: list[str]
    reworded_tasks: list[str]
    judges_kept_out: dict[str, str]
    judges_changed: list[str] = []
    comparability: Comparability
