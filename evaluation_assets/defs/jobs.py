"""Jobs: the evaluation of a drop, parts of it, agents on a suite, and overviews over all drops."""

import dagster as dg

from evaluation_assets.core.lake.tables import CANARY_VERDICTS
from evaluation_assets.defs import groups
from evaluation_assets.defs.names import (
    COLLECTED_LABELS,
    EVALUATE,
    GATE,
    OVERVIEW,
    PREPROCESS_ONLY,
    PROMOTE_BASELINE,
    RESCORE,
    RUN_AGENTS,
    SEND_SCORES,
)
from evaluation_assets.defs.per_judge import LEVELS
from evaluation_assets.defs.regression import GATE_CHECK
from evaluation_assets.defs.storage_outage import retry_after_outage

OVER_ALL_DROPS = (
    "labels",
    "judge_cards",
    "pass_rates",
    "gate_calibration",
    "drift",
    "leaderboard",
    "session_agent_ranks",
    "grouped_findings",
    "failure_groups",
)
OURS = dg.AssetSelection.groups(*groups.ALL)
"""All assets of an installation; a project that uses the component has others too."""
AGENTS = dg.AssetSelection.groups(groups.AGENTS)
COLLECTED = dg.AssetSelection.key_prefixes(COLLECTED_LABELS)
SINKS = dg.AssetSelection.groups(groups.SINKS)
VERDICTS = dg.AssetSelection.key_prefixes(*(table.name for table in (*LEVELS, CANARY_VERDICTS)))

evaluate_job = dg.define_asset_job(
    EVALUATE,
    selection=OURS - dg.AssetSelection.assets("preprocessed_files", "baseline", *OVER_ALL_DROPS) - AGENTS - COLLECTED,
    description="Evaluate one drop, from the file to the report.",
    executor_def=dg.in_process_executor,
    hooks={retry_after_outage},
)

rescore_job = dg.define_asset_job(
    RESCORE,
    selection=(
        (VERDICTS.downstream() & OURS | dg.AssetSelection.assets("constraint_results"))
        - dg.AssetSelection.assets("baseline", *OVER_ALL_DROPS)
        - AGENTS
        - COLLECTED
    ),
    description="Run all verdicts and constraints of ingested drops, and everything downstream of them.",
    executor_def=dg.in_process_executor,
    hooks={retry_after_outage},
)

preprocess_job = dg.define_asset_job(
    PREPROCESS_ONLY,
    selection=dg.AssetSelection.assets("preprocessed_files", "rejected_records").upstream(),
    description="Read and preprocess one drop, without judging.",
    executor_def=dg.in_process_executor,
    hooks={retry_after_outage},
)

gate_job = dg.define_asset_job(
    GATE,
    selection=dg.AssetSelection.checks(GATE_CHECK),
    description="Compare one evaluated drop with its suite's baseline, or with a given baseline file.",
    executor_def=dg.in_process_executor,
)

promote_job = dg.define_asset_job(
    PROMOTE_BASELINE,
    selection=dg.AssetSelection.assets("baseline"),
    description="Promote one evaluated drop to baseline of its suite.",
    executor_def=dg.in_process_executor,
)

overview_job = dg.define_asset_job(
    OVERVIEW,
    selection=dg.AssetSelection.assets(*OVER_ALL_DROPS) | COLLECTED,
    description="Update labels, judge cards, calibration, drift, leaderboard, ranks and failure groups over all drops.",
    executor_def=dg.in_process_executor,
    hooks={retry_after_outage},
)

run_agents_job = dg.define_asset_job(
    RUN_AGENTS,
    selection=AGENTS,
    description="Run every agent on one suite; the drops they write are evaluated like any other.",
    executor_def=dg.in_process_executor,
)

send_job = dg.define_asset_job(
    SEND_SCORES,
    selection=SINKS,
    description="Send the scores of one evaluated drop to all sinks: what is new, has changed or failed.",
    executor_def=dg.in_process_executor,
)
