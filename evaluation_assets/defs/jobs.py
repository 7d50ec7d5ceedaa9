"""Jobs: the evaluation of a drop, parts of it, agents on a suite, and overviews over all drops."""

from collections.abc import Iterable
from functools import partial

import dagster as dg

from evaluation_assets.core.lake.tables import CANARY_VERDICTS
from evaluation_assets.defs.names import (
    AGENT_COMPARISON,
    AGENT_RUNS,
    COLLECTED_LABELS,
    DELIVERIES,
    EVALUATE,
    GATE,
    OVERVIEW,
    PREPROCESS_ONLY,
    PROMOTE_BASELINE,
    RESCORE,
    RETRY_FAILURE_TAG,
    RUN_AGENTS,
    SEND_SCORES,
    TASK_SUITES,
)
from evaluation_assets.defs.per_judge import LEVELS
from evaluation_assets.defs.regression import GATE_CHECK
from evaluation_assets.defs.storage_outage import retry_after_outage
from evaluation_assets.resources.dagster_private import UnresolvedAssetJobDefinition

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
AGENTS = dg.AssetSelection.assets(TASK_SUITES, AGENT_COMPARISON) | dg.AssetSelection.key_prefixes(AGENT_RUNS)
COLLECTED = dg.AssetSelection.key_prefixes(COLLECTED_LABELS)
SINKS = dg.AssetSelection.key_prefixes(DELIVERIES)
VERDICTS = dg.AssetSelection.key_prefixes(*(table.name for table in (*LEVELS, CANARY_VERDICTS)))

_job = partial(dg.define_asset_job, executor_def=dg.in_process_executor, tags={RETRY_FAILURE_TAG: "false"})
"""Jobs whose failed steps would fail again, also where Dagster is set to retry them: they found what they found."""

_retried_job = partial(_job, hooks={retry_after_outage})


def drop_jobs(of_a_drop: Iterable[dg.AssetKey]) -> list[UnresolvedAssetJobDefinition]:
    """The jobs that evaluate a drop: with all of its assets, from the verdicts on, or without judging.

    They are selected by key: a project that uses the component has other assets, and gives ours groups of its own.
    """
    own = dg.AssetSelection.assets(*of_a_drop)
    assets = own - dg.AssetSelection.assets("preprocessed_files")
    preprocessed = dg.AssetSelection.assets("preprocessed_files", "rejected_records").upstream()
    from_verdicts = VERDICTS.downstream() | dg.AssetSelection.assets("constraint_results")
    return [
        _retried_job(
            EVALUATE,
            selection=assets,
            description="Evaluate one drop, from the file to the report.",
        ),
        _retried_job(
            RESCORE,
            selection=from_verdicts & assets,
            description="Run all verdicts and constraints of ingested drops, and everything downstream of them.",
        ),
        _retried_job(
            PREPROCESS_ONLY,
            selection=preprocessed & own,
            description="Read and preprocess one drop, without judging.",
        ),
    ]


gate_job = _job(
    GATE,
    selection=dg.AssetSelection.checks(GATE_CHECK),
    description="Compare one evaluated drop with its suite's baseline, or with a given baseline file.",
)

promote_job = _job(
    PROMOTE_BASELINE,
    selection=dg.AssetSelection.assets("baseline"),
    description="Promote one evaluated drop to baseline of its suite.",
)

overview_job = _retried_job(
    OVERVIEW,
    selection=dg.AssetSelection.assets(*OVER_ALL_DROPS) | COLLECTED,
    description="Update labels, judge cards, calibration, drift, leaderboard, ranks and failure groups over all drops.",
)

run_agents_job = _job(
    RUN_AGENTS,
    selection=AGENTS,
    description="Run every agent on one suite; the drops they write are evaluated like any other.",
)

send_job = _job(
    SEND_SCORES,
    selection=SINKS,
    description="Send the scores of one evaluated drop to all sinks: what is new, has changed or failed.",
)
