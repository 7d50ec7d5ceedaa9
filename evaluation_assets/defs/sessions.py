"""[sessions] What happened between agents and users: one analysis a session, and what it says about each agent."""

from collections.abc import Iterator, Sequence

import dagster as dg

from evaluation_assets.core import tables
from evaluation_assets.core.gating import session_agents as agents_in_sessions
from evaluation_assets.core.gating.task_metrics import read_metrics
from evaluation_assets.core.judging.judge import Judge
from evaluation_assets.core.judging.panel import Panel
from evaluation_assets.core.lake import Stored, Stream, batched
from evaluation_assets.core.scoring import analysed_sessions
from evaluation_assets.core.scoring.session_summary import SessionSummary
from evaluation_assets.core.sessions.embedding_similarity import measure_name, opened_measure
from evaluation_assets.defs.partitions import DROPS
from evaluation_assets.defs.per_judge import JudgingConfig, by_judge, judge_inputs
from evaluation_assets.resources.installation import HomeResource

SESSIONS_VERSION = "5"
"""Increment when the same sessions and verdicts would give a different analysis."""


def session_analyses(judges: Sequence[Judge], panel: Panel, ledger_url: str) -> dg.AssetsDefinition:
    """The analyses over a panel's verdicts."""

    @dg.asset(
        name=tables.SESSION_ANALYSES.name,
        partitions_def=DROPS,
        group_name="sessions",
        code_version=f"{SESSIONS_VERSION}|quorum {panel.quorum}|{measure_name(panel.embeddings)}",
        ins={
            "preprocessed_trajectories": dg.AssetIn("preprocessed_trajectories"),
            **judge_inputs([tables.SESSION_VERDICTS], judges),
        },
        kinds={"parquet"},
        description=f"Each row is {tables.SESSION_ANALYSES.row}. None for trajectories of one agent and one turn.",
    )
    def analyses(
        context: dg.AssetExecutionContext, config: JudgingConfig, **stored: Stored
    ) -> dg.MaterializeResult[Stream]:
        summary = SessionSummary()

        def rows() -> Iterator[analysed_sessions.Row]:
            budget = config.budget_usd
            with opened_measure(panel.embeddings, ledger_url, context.run.run_id, budget) as (measure, summary.taken):
                yield from analysed_sessions.session_analyses(
                    context.partition_key,
                    stored["preprocessed_trajectories"],
                    by_judge(stored, tables.SESSION_VERDICTS, judges),
                    panel.quorum,
                    measure,
                    context.log.warning,
                )

        table = tables.SESSION_ANALYSES
        return dg.MaterializeResult(value=Stream(table, batched(summary.over(rows()), table), summary.metadata))

    return analyses


@dg.asset(
    partitions_def=DROPS,
    group_name="sessions",
    code_version=SESSIONS_VERSION,
    kinds={"parquet"},
    description=f"Each row is {tables.SESSION_AGENTS.row}.",
)
def session_agents(
    context: dg.AssetExecutionContext, session_analyses: Stored, task_metrics: Stored
) -> dg.MaterializeResult[Stream]:
    """Scores with their intervals, issues, latency and cost of every agent that acted."""
    table = tables.SESSION_AGENTS
    rows = agents_in_sessions.session_agents(session_analyses, read_metrics(context.partition_key, task_metrics))
    return dg.MaterializeResult(value=Stream(table, batched(rows, table)))


@dg.asset(
    group_name="sessions",
    code_version=SESSIONS_VERSION,
    deps=["session_agents", "score_history"],
    kinds={"parquet"},
    description=f"Each row is {tables.SESSION_AGENT_RANKS.row}.",
)
def session_agent_ranks(home: HomeResource) -> dg.MaterializeResult[Stream]:
    """Every agent against itself: in which drop of the suite it did best."""
    table = tables.SESSION_AGENT_RANKS
    return dg.MaterializeResult(value=Stream(table, batched(agents_in_sessions.rank_rows(home.home), table)))
