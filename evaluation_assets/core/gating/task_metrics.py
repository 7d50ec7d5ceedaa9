"""Metrics of a drop by task: the input of gates, baselines and plots.

Trials are averaged per task first, so that each task counts once. Unknown values stay missing.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from statistics import fmean
from typing import Any

import orjson

from evaluation_assets.core.gating.participants import Participants
from evaluation_assets.core.intake.facts import MetricsFacts
from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.lake.stored import Aligned, Stored
from evaluation_assets.core.scoring.intervals import MIN_CLUSTERS, Estimate, mean_of_tasks, share_of_tasks
from evaluation_assets.core.sections.findings.kinds import JUDGED
from evaluation_assets.core.system.by_key import by_key
from evaluation_assets.core.traces.trajectories.identity import digest
from evaluation_assets.core.traces.trajectories.model import Agent
from evaluation_assets.core.traces.trajectories.trajectory_rows import header_of

SUCCESS, PASS_RATE, COMPLETED, COST, LATENCY = "success", "pass_rate", "completed", "cost_usd", "latency_s"
OUTCOMES = frozenset({SUCCESS, PASS_RATE, COMPLETED})
"""Metrics that are true or false in each trial."""

FIRST = (SUCCESS, PASS_RATE, "overall")
"""Metrics shown before all others."""

OF_CASES = {
    PASS_RATE: "passed",
    "suite_score": "score",
    COMPLETED: "completed",
    "tool_coverage": "coverage",
    "keyword_score": "keyword_score",
    "efficiency": "efficiency",
}
"""Metrics of the drop's suite, and the columns of `tool_use_results` that they come from."""

WITHOUT_JUDGES = frozenset({SUCCESS, COST, LATENCY, *OF_CASES})
"""Metrics that do not depend on judges, beside those of most findings."""

RELATIVE = frozenset({COST, LATENCY})
"""Metrics where lower is better and which are compared as ratios. All others are 0..1."""

FINDING = "finding."
"""Begins the names of metrics that are 1 for a run with a finding of a kind, else 0: `finding.loop`."""


def needs_judges(metric: str) -> bool:
    """Whether a metric depends on verdicts of judges."""
    if metric.startswith(FINDING):
        return metric.removeprefix(FINDING) in JUDGED
    return metric not in WITHOUT_JUDGES


def lower_is_better(metric: str) -> bool:
    """Whether an increase of the metric is worse: of cost, latency and findings."""
    return metric in RELATIVE or metric.startswith(FINDING)


@dataclass(frozen=True, slots=True)
class TaskValue:
    """A metric of one task: mean over the trials that have it, the best and the worst of them, and their number."""

    value: float
    best: float
    worst: float
    trials: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class DropMetrics:
    """A drop as the gate sees it.

    `tasks` is the digest of what each task asks; `metrics` holds by metric the tasks that have it. `kept_out` names
    the judges whose scores are not in it, with the reason; `canaries` are judges' scores of canary clips,
    `canaries_asked` the number of clips they were asked about, answered or not. `detectors` are those that searched
    for findings; metrics of findings are there for the kinds that they found. `trials` counts the runs of each task.
    `disputed` are runs whose source states both success and failure: ID, task and the outcome that counts.
    """

    drop: str
    suite: str | None
    agent: str | None = None
    agent_version: str | None = None
    model: str | None = None
    content: str = ""
    comparability: Mapping[str, str] = field(default_factory=dict)
    kept_out: Mapping[str, str] = field(default_factory=dict)
    canaries: Mapping[str, Mapping[str, list[float]]] = field(default_factory=dict)
    canaries_asked: Mapping[str, int] = field(default_factory=dict)
    detectors: str = ""
    trials: Mapping[str, int] = field(default_factory=dict)
    disputed: Sequence[tuple[str, str, bool]] = ()
    tasks: Mapping[str, str]
    metrics: Mapping[str, Mapping[str, TaskValue]]

    @property
    def n_runs(self) -> int:
        """The runs of all tasks."""
        return sum(self.trials.values())

    @property
    def version(self) -> tuple[str | None, ...]:
        """Key of an agent version. A drop whose agent or version is unknown has a key of its own."""
        known = self.agent is not None and self.agent_version is not None
        return (self.agent, self.agent_version, self.model, *(() if known else (self.drop,)))

    def metric(self, name: str) -> Mapping[str, TaskValue]:
        """A metric by task. Where a kind of findings was searched for and not found, it is 0 for all tasks."""
        by_task = self.metrics.get(name, {})
        if by_task or not self.detectors or not name.startswith(FINDING):
            return by_task
        return dict.fromkeys(self.tasks, TaskValue(0.0, 0.0, 0.0))

    def with_other_outcomes(self) -> "DropMetrics":
        """These metrics if each disputed run had the other outcome."""
        success = dict(self.metrics.get(SUCCESS, {}))
        for task, runs in by_key((task, counts) for _, task, counts in self.disputed).items():
            if (known := success.get(task)) is not None:
                passed = round(known.value * known.trials) + sum(-1 if counts else 1 for counts in runs)
                best, worst = float(passed > 0), float(passed == known.trials)
                success[task] = TaskValue(passed / known.trials, best, worst, known.trials)
        return replace(self, metrics={**self.metrics, SUCCESS: success}, disputed=())


@dataclass(slots=True)
class _Task:
    digest: str
    trials: int = 0
    values: dict[str, list[float]] = field(default_factory=dict)


def metric_rows(
    drop: str,
    trajectories: Stored,
    scores: Iterable[Row],
    cases: Mapping[str, Mapping[str, float | None]],
    sessions: Mapping[str, Mapping[str, float | None]],
    participants: Participants,
    findings: Mapping[str, Collection[str]],
    counts: Callable[[str, Sequence[Agent]], bool] = lambda run, agents: True,
) -> Iterator[Row]:
    """Rows of `task_metrics`: every metric that some trajectory has, for every task.

    Args:
        drop: key of the drop.
        trajectories: `preprocessed_trajectories`.
        scores: rows of `trajectory_scores`; the adjusted means are used, which do not depend on missing judges.
        cases: by trajectory, the metrics of its case (`OF_CASES`), where the drop has a suite.
        sessions: by trajectory that is a session, the scores of its analysis.
        participants: collects the agents of every trajectory.
        findings: by kind of finding, the trajectories that have it.
        counts: whether a trajectory with these agents does (default: all).
    """
    tasks: dict[str, _Task] = {}
    metrics: dict[str, None] = {}
    by_trajectory = Aligned(iter(scores))
    for row in trajectories.rows(["trajectory_id", "task_id", "task", "success", "duration_s", "trajectory"]):
        scored = by_trajectory.at(row["trajectory_id"])
        header = header_of(row)
        if not counts(row["trajectory_id"], header.agents):
            continue
        asked = row["task"] if header.goal is None else orjson.dumps(header.goal, option=orjson.OPT_SORT_KEYS).decode()
        prompt = digest(asked)[:12]
        task = tasks.setdefault(row["task_id"], _Task(prompt))
        task.digest = min(task.digest, prompt)  # a user whose goal is unknown has other words in each trial
        task.trials += 1
        of_run: dict[str, float | None] = {score["criterion"]: score["adjusted_mean"] for score in scored}
        of_run |= sessions.get(row["trajectory_id"], {})
        of_run[SUCCESS] = row["success"]
        of_run |= cases.get(row["trajectory_id"], {})
        participants.add(header.agents)
        of_run[COST] = _above_zero(None if header.usage is None else header.usage.cost_usd)
        of_run[LATENCY] = _above_zero(row["duration_s"])
        of_run |= {f"{FINDING}{kind}": row["trajectory_id"] in having for kind, having in findings.items()}
        for metric, value in of_run.items():
            if value is not None:
                metrics[metric] = None
                task.values.setdefault(metric, []).append(float(value))
    for task_id, task in tasks.items():
        for metric in metrics:
            values = task.values.get(metric, [])
            yield {
                "drop": drop,
                "task_id": task_id,
                "task_digest": task.digest,
                "metric": metric,
                "value": fmean(values) if values else None,
                "best": (min if lower_is_better(metric) else max)(values) if values else None,
                "worst": (max if lower_is_better(metric) else min)(values) if values else None,
                "n_known": len(values),
                "n_trials": task.trials,
            }


def case_metrics(results: Stored) -> dict[str, dict[str, float | None]]:
    """Metrics by trajectory from `tool_use_results`; cases without a run have none."""
    rows = results.rows(["trajectory_id", *OF_CASES.values()])
    return {
        row["trajectory_id"]: {metric: row[column] for metric, column in OF_CASES.items()}
        for row in rows
        if row["trajectory_id"] is not None
    }


def estimate_of(metric: str, values: Sequence[float], trials: float = inf) -> Estimate:
    """Mean over tasks with its 95% interval, which is clipped to the range of the metric.

    Shares of trials, and scores that are all 0 or 1, have Wilson's; `trials` is their number.
    """
    is_binary = metric not in RELATIVE and len(values) >= MIN_CLUSTERS and set(values) <= {0.0, 1.0}
    if metric in OUTCOMES or is_binary:
        return share_of_tasks(values, trials)
    interval = mean_of_tasks(values)
    most = float("inf") if metric in RELATIVE else 1.0
    return replace(
        interval,
        low=None if interval.low is None else max(interval.low, 0.0),
        high=None if interval.high is None else min(interval.high, most),
    )


def _above_zero(value: float | None) -> float | None:
    """Treat a cost or time of 0 as unknown: sources write 0 if they did not measure it."""
    return value if value is not None and value > 0 else None


def read_metrics(drop: str, stored: Stored) -> DropMetrics:
    """The metrics of a drop from its `task_metrics`."""
    return replace(without_tasks(drop, stored), **metrics_in(stored.rows()))


def metrics_in(rows: Iterable[Row]) -> dict[str, Any]:
    """What rows of `task_metrics` say: the fields `trials`, `tasks` and `metrics` of `DropMetrics`."""
    tasks: dict[str, str] = {}
    runs: dict[str, int] = {}
    metrics: dict[str, dict[str, TaskValue]] = {}
    ids: dict[str, str] = {}
    known: dict[TaskValue, TaskValue] = {}  # most are 0 or 1
    for row in rows:
        task = ids.setdefault(row["task_id"], row["task_id"])
        runs[task] = row["n_trials"]
        tasks[task] = row["task_digest"]
        values = metrics.setdefault(row["metric"], {})
        if row["value"] is not None:
            # Tables written before `worst` existed are read until their drops are evaluated again.
            worst = row["value"] if row["worst"] is None else row["worst"]
            value = TaskValue(row["value"], row["best"], worst, row["n_known"])
            values[task] = known.setdefault(value, value)
    return {"trials": runs, "tasks": tasks, "metrics": metrics}


def without_tasks(drop: str, stored: Stored) -> DropMetrics:
    """What a drop's `task_metrics` say of it as a whole."""
    facts = MetricsFacts.of(stored)
    sidecar, recorded = facts.sidecar, facts.participants
    return DropMetrics(
        drop=drop,
        suite=sidecar.suite,
        agent=sidecar.agent or recorded.get("agent"),
        agent_version=sidecar.agent_version or recorded.get("agent_version"),
        model=sidecar.model or recorded.get("model"),
        content=facts.content,
        comparability=facts.comparability,
        kept_out=facts.kept_out,
        canaries=facts.canaries,
        canaries_asked=facts.canaries_asked,
        detectors=facts.detectors,
        disputed=facts.disputed,
        tasks={},
        metrics={},
    )
