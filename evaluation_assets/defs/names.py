"""Names that several modules, the command line among them, refer to: jobs, checks and groups. Importing it is cheap."""

EVALUATE = "evaluate"
RESCORE = "rescore"
JUDGE_PART = "judge_part"
PREPROCESS_ONLY = "preprocess_only"
GATE = "gate"
PROMOTE_BASELINE = "promote_baseline"
OVERVIEW = "overview"
RUN_AGENTS = "run_agents"
SEND_SCORES = "send_scores"
PRUNE_HISTORY = "prune_history"

JOBS = (
    EVALUATE,
    GATE,
    JUDGE_PART,
    OVERVIEW,
    PREPROCESS_ONLY,
    PROMOTE_BASELINE,
    PRUNE_HISTORY,
    RESCORE,
    RUN_AGENTS,
    SEND_SCORES,
)
"""All jobs. Runs of other jobs may be those of the project that our assets are part of."""

EVALUATE_DROP = "evaluate_drop"
"""The step of all assets of a drop, and the name of the op that its configuration goes to."""

PART = "part"
"""The op of `judge_part`, to which its configuration goes; Dagster allows it no name of a job."""

WELL_READ = "well_read"
RECORDS_ADD_UP = "records_add_up"
REJECT_RATE = "reject_rate"
COVERAGE = "coverage"
TEXT_SEEN = "share_of_text_seen"
PANEL_AGREEMENT = "panel_agreement"
SESSIONS_JUDGED = "sessions_judged"
UNAUTHORISED_CALLS = "unauthorised_calls"
COORDINATED = "coordinated"
EVALUATED = "evaluated"
CONSTRAINT_WARNINGS = "constraint_warnings"
QUOTATIONS = "quotations"
NO_DRIFT = "no_drift"
NO_REOPENED_FAILURES = "no_reopened_failures"
STATES_OF_GROUPS = "states_of_groups"
READABLE = "readable"
MAY_GATE = "may_gate"
DELIVERED = "delivered"

AGENT_RUNS = "agent_runs"
"""First part of the keys of agents' assets, and the name of the op that runs them, which its configuration goes to."""

TASK_SUITES = "task_suites"
AGENT_COMPARISON = "agent_comparison"

DELIVERIES = "deliveries"
"""First part of the keys of sinks' assets."""

COLLECTED_LABELS = "collected_labels"
"""First part of the keys, and the group, of the assets that collect labels from stores."""

STOPPED = "stopped"
"""Metadata of a failure: why agents stopped (`budget`, `auth`, ...), or `unusable`."""

BLOCKED = "blocked"
"""Metadata of a failure: drops were evaluated, and failed blocking checks."""

PARTITION_TAG = "dagster/partition"
"""Dagster's own tag of a run that names its partition."""

RANGE_TAG = "dagster/asset_partition_range_start"
"""Dagster's own tag of a run of several partitions, with the first of them."""

RETRY_TAG = "dagster/retry_number"
"""Dagster's own tag of a run that it started because another was killed."""

RETRY_FAILURE_TAG = "dagster/retry_on_asset_or_op_failure"
"""Dagster's own tag of a run that is retried although its step failed."""

OVER_BUDGET_TAG = "evaluation/over_budget"
"""Tag of a run whose budget was spent before all judges were asked."""

PREFIX_TAG = "evaluation/key_prefix"
"""Tag of a run that a sensor or schedule asked for: what the keys of its assets begin with, if with anything."""

SENSOR_TAG = "dagster/sensor_name"
"""Dagster's own tag of a run that a sensor asked for."""

NEW_DROPS = "new_drops"
"""The sensor on the drops folder."""

SCHEDULE_TAG = "dagster/schedule_name"
"""Dagster's own tag of a run that a schedule asked for."""

STALE_DROPS = "nightly_stale_drops"
"""The schedule that evaluates drops again."""

FAILURE_REASON_TAG = "dagster/failure_reason"
"""Dagster's own tag of a failed run: whether a step failed, or the run itself."""

WILL_RETRY_TAG = "dagster/will_retry"
"""Dagster's own tag of a failed run: whether it starts it again."""

RETRIED_BY_TAG = "dagster/auto_retry_run_id"
"""Dagster's own tag of a failed run: the run that it started instead."""
