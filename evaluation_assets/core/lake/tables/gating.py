"""Tables that drops are compared by: metrics, their history, the gate's error rates, drift and the leaderboard."""

from evaluation_assets.core.lake.tables.model import FLOAT, INT, NAME, NAMES, Column, Table
from evaluation_assets.core.lake.tables.shared_columns import (
    AGENT,
    AGENT_VERSION,
    COMPARABILITY_KEY,
    DROP,
    EVALUATED_AT,
    SUITE,
    SUITE_OF_DROP,
    TASK_ID,
)

_METRIC = Column("metric", NAME, "Name of the metric, as in `task_metrics`.")

TASK_METRICS = Table(
    "task_metrics",
    "a metric of a task, averaged over its trials; the source of gate, history and leaderboard",
    (
        DROP,
        TASK_ID,
        Column("task_digest", NAME, "Digest of the prompt, or of the simulated user's recorded goal."),
        Column(
            "metric",
            NAME,
            "Name of the metric. Scores of the panel, 0..1: `overall`, a trajectory criterion, `answer.<criterion>`, "
            "or `session.<score>`. From the suite, 0..1: `pass_rate`, `suite_score`, `completed`, `tool_coverage`, "
            "`keyword_score`, `efficiency`. From the trajectories: `success` (0..1), `cost_usd` (US dollars), "
            "`latency_s` (seconds).",
        ),
        Column("value", FLOAT, "Mean over the trials that have the metric."),
        Column("best", FLOAT, "Value of the best trial: the highest, for cost and latency the lowest."),
        Column("worst", FLOAT, "Value of the worst trial."),
        Column("n_known", INT, "Trials that have the metric."),
        Column("n_trials", INT, "Trials of the task."),
    ),
)
SCORE_HISTORY = Table(
    "score_history",
    "a metric of a drop, with the time of the evaluation; rows under earlier comparability keys are kept",
    (
        DROP,
        SUITE_OF_DROP,
        AGENT,
        AGENT_VERSION,
        EVALUATED_AT,
        _METRIC,
        Column("mean", FLOAT, "Mean over tasks, in the unit of the metric."),
        Column("std_error", FLOAT, "Standard error of the mean over tasks."),
        Column("ci_low", FLOAT, "Lower end of the 95% interval of the mean."),
        Column("ci_high", FLOAT, "Upper end of the 95% interval of the mean."),
        Column("n", INT, "Tasks that have the metric."),
        COMPARABILITY_KEY,
    ),
)
LEADERBOARD = Table(
    "leaderboard",
    "a version of an agent on the tasks of a suite that all versions did",
    (
        SUITE,
        _METRIC,
        Column("rank", INT, "Rank in the suite by this metric, from 1 (best). Equal means share a rank."),
        AGENT,
        AGENT_VERSION,
        Column("model", NAME, "Model of the agent, from the same sources."),
        Column("drops", NAMES, "Drops of this version, which are averaged per task."),
        Column("mean", FLOAT, "Mean over the tasks that all versions did, in the unit of the metric."),
        Column("ci_low", FLOAT, "Lower end of the 95% interval of the mean."),
        Column("ci_high", FLOAT, "Upper end of the 95% interval of the mean."),
        Column("n_tasks", INT, "Tasks that all versions did."),
        Column("n_drops", INT, "Drops of this version."),
        Column("difference", FLOAT, "Mean difference from the best version, paired by task."),
        Column("difference_low", FLOAT, "Lower end of the 95% interval of the difference."),
        Column("difference_high", FLOAT, "Upper end of the 95% interval of the difference."),
        COMPARABILITY_KEY,
    ),
    whole=True,
)
GATE_CALIBRATION = Table(
    "gate_calibration",
    "what the gate says at one injected effect, by resampling the suite's own history",
    (
        SUITE,
        Column("metric", NAME, "Name of the metric, as in `task_metrics`; never cost or latency."),
        Column("n_tasks", INT, "Tasks in each simulated comparison."),
        Column("n_runs", INT, "Drops that were resampled."),
        Column(
            "source",
            NAME,
            "What was resampled: `runs` of one version, or `versions` if none ran twice (their differences count as "
            "noise).",
        ),
        Column("drop_size", FLOAT, "Injected decrease of the metric; 0 measures false alarms."),
        Column("fails", FLOAT, "Share of the simulated comparisons that the gate fails."),
        Column("warns", FLOAT, "Share that it warns about, because of the metric or of single tasks that fell."),
        Column("passes", FLOAT, "Share that it passes."),
        Column("inconclusive", FLOAT, "Share that it reports as inconclusive."),
        Column(
            "smallest_drop",
            FLOAT,
            "Smallest decrease that the gate fails with the configured power.",
        ),
        Column(
            "tolerance_false_alarms",
            FLOAT,
            "Share of comparisons without an effect that a fixed tolerance would fail.",
        ),
        Column("pairs", INT, "Ordered pairs of real, complete drops."),
        Column("pairs_failed", INT, "Those of them that the gate fails."),
    ),
    whole=True,
)
DRIFT = Table(
    "drift",
    "a drop since the baseline of its suite, on two control charts for lasting regressions",
    (
        SUITE,
        _METRIC,
        Column("night", INT, "Number of the drop since the baseline, from 1 (oldest)."),
        Column("z", FLOAT, "Effect against the lower bound of the baseline: the normal quantile of its p-value."),
        Column("cusum", FLOAT, "CUSUM chart: cumulative sum of decreases."),
        Column("e_value", FLOAT, "E-process: evidence against 'no lasting regression'."),
        Column(
            "alarm",
            NAME,
            "Only on the latest drop: `e_process` if that chart has ever reached its limit, else `cusum` if that "
            "chart is at its limit now.",
        ),
    ),
    whole=True,
)

TABLES = (TASK_METRICS, SCORE_HISTORY, LEADERBOARD, GATE_CALIBRATION, DRIFT)
