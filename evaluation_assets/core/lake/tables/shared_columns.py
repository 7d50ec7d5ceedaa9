"""Columns that mean the same in every table that has them."""

from evaluation_assets.core.lake.tables.model import NAME, Column

DROP = Column("drop", NAME, "Key of the drop: its path below `drops/`, without extension.")
TRAJECTORY_ID = Column("trajectory_id", NAME, "ID of the trajectory, unique within its drop.")
TASK_ID = Column("task_id", NAME, "ID of the task. Runs with the same ID are compared with each other across drops.")
SUITE = Column("suite", NAME, "Name of the suite: its file below `suites/`, without extension.")
SUITE_OF_DROP = Column("suite", NAME, "Suite of the drop, from its sidecar or its folder.")
AGENT = Column(
    "agent",
    NAME,
    "Name of the agent, from the drop's sidecar, else from its trajectories if they agree on one.",
)
AGENT_VERSION = Column("agent_version", NAME, "Version of the agent, from the same sources.")
EVALUATED_AT = Column("evaluated_at", NAME, "Time of the evaluation: ISO 8601, UTC.")
COMPARABILITY_KEY = Column(
    "comparability_key",
    NAME,
    "Digest of judges, rubrics, quorum, preprocessing settings and suite version. Values with different keys are not "
    "comparable.",
)
