"""Names that several modules, the command line among them, refer to: jobs, checks and groups. Importing it is cheap."""

EVALUATE = "evaluate"
RESCORE = "rescore"
PREPROCESS_ONLY = "preprocess_only"
GATE = "gate"
PROMOTE_BASELINE = "promote_baseline"
OVERVIEW = "overview"
RUN_AGENTS = "run_agents"

COVERAGE = "coverage"
TEXT_SEEN = "share_of_text_seen"
REGRESSION_GATE = "regression_gate"
NO_DRIFT = "no_drift"
READABLE = "readable"
MAY_GATE = "may_gate"

AGENT_RUNS = "agent_runs"
"""First part of the keys of agents' assets, and the name of the op that runs them, which its configuration goes to."""

STOPPED = "stopped"
"""Metadata of a failure: why agents stopped (`budget`, `auth`, ...), or `unusable`."""

PARTITION_TAG = "dagster/partition"
"""Dagster's own tag of a run that names its partition."""
