"""[sessions] What happened between agents and users: one analysis a session, and what it says about each agent."""

from collections.abc import Iterator, Sequence

import dagster as dg

from evaluation_assets.core.gating import session_agents as agents_in_sessions
from evaluation_assets.core.gating.history import session_history_rows, with_earlier
from evaluation_assets.core.gating.task_metrics import without_tasks
from evaluation_assets.core.intake.facts import HistoryFacts
from evaluation_assets.core.judging.judge import Judge
from evaluation_assets.core.judging.panel import Panel
from evaluation_assets.core.judging.selection import selections_of
from evaluation_assets.core.lake import tables
from evaluation_assets.core.lake.stored import Stream
from evaluation_assets.core.pipeline.checks import sessions
from evaluation_assets.core.scoring import analysed_sessions
from evaluation_assets.core.scoring.averages import described
from evaluation_assets.core.scoring.session_summary import SessionSummary
from evaluation_assets.core.sections.sessions.embedding_similarity import measure_name, opened_measure
from evaluation_assets.defs import groups
from evaluation_assets.defs.drop_run import DropRun
from evaluation_assets.defs.names import COORDINATED, SESSIONS_JUDGED, UNAUTHORISED_CALLS
from evaluation_assets.defs.partitions import check_of_drops
from evaluation_assets.defs.per_judge import by_judge, judge_keys
from evaluation_assets.defs.results import check_result
from evaluation_assets.defs.stage import Result, Stage, stage
from evaluation_assets.defs.table_assets import table_over_all_drops, table_spec
from evaluation_assets.resources.installation import HomeResource

SESSIONS_VERSION = "19"
"""Increment when the same sessions and verdicts would give a different analysis."""

JUDGED = f"At least {sessions.MIN_JUDGED:.0%} of the responses in the sessions that a judge is asked about are judged."

CHECKS = {
    UNAUTHORISED_CALLS: ("No agent called a tool that it does not have.", sessions.unauthorised_calls),
    COORDINATED: (
        f"The mean coordination of sessions with several agents is at least {sessions.MIN_COORDINATION}.",
        sessions.coordinated,
    ),
}


def session_analyses(judges: Sequence[Judge], panel: Panel, ledger_url: str) -> Stage:
    """The analyses over a panel's verdicts."""
    table = tables.SESSION_ANALYSES
    selections = selections_of(judges)
    asked = selections.asker([judge.name for judge in judges], ("turn", "interaction"))

    @stage(
        table_spec(
            table,
            groups.SESSIONS_AND_SUITES,
            f"{SESSIONS_VERSION}|quorum {panel.quorum}|{measure_name(panel.embeddings)}{described(panel.stages)}",
            ["preprocessed_trajectories", *judge_keys([tables.SESSION_VERDICTS], judges)],
            f"Each row is {table.row}. None for trajectories of one agent and one turn.",
        ),
        checks=[
            check_of_drops(name, asset=table.name, description=description)
            for name, description in ((SESSIONS_JUDGED, JUDGED), *((name, told) for name, (told, _) in CHECKS.items()))
        ],
    )
    def analyses(drop: DropRun) -> Iterator[Result]:
        summary = SessionSummary()
        trajectories = drop.table("preprocessed_trajectories")

        def rows() -> Iterator[analysed_sessions.Row]:
            opened = opened_measure(panel.embeddings, ledger_url, drop.run_id, drop.config.budget(), panel.redaction)
            with opened as (measure, summary.taken):
                yield from analysed_sessions.session_analyses(
                    drop.key,
                    trajectories,
                    by_judge(drop, tables.SESSION_VERDICTS, judges),
                    panel.quorum,
                    measure,
                    drop.log.warning,
                    selections,
                    panel.stages,
                )

        yield Stream.of(table, summary.over(rows()), summary.metadata)
        for name, (_, found_in) in CHECKS.items():
            yield check_result(found_in(drop.table(table.name)), name)
        yield check_result(sessions.sessions_judged(drop.table(table.name), asked), SESSIONS_JUDGED)

    return analyses


@stage(table_spec(tables.SESSION_HISTORY, groups.GATE, SESSIONS_VERSION, ["session_analyses", "score_history"]))
def session_history(drop: DropRun) -> Stream:
    """An evaluation with other judges, rubrics or settings leaves the analyses of the earlier ones."""
    analyses, metrics, history = drop.tables("session_analyses", "task_metrics", "score_history")
    evaluated_at = HistoryFacts.of(history).evaluated_at or ""
    rows = session_history_rows(analyses, without_tasks(drop.key, metrics), evaluated_at)
    every = with_earlier(drop.table(tables.SESSION_HISTORY.name).rows(), rows)
    return Stream.of(tables.SESSION_HISTORY, every)


@stage(table_spec(tables.SESSION_AGENTS, groups.REPORT, SESSIONS_VERSION, ["session_analyses", "task_metrics"]))
def session_agents(drop: DropRun) -> Stream:
    """Scores with their intervals, issues, latency and cost of every agent that acted."""
    analyses, metrics = drop.tables("session_analyses", "task_metrics")
    rows = agents_in_sessions.session_agents(analyses, without_tasks(drop.key, metrics))
    return Stream.of(tables.SESSION_AGENTS, rows)


@table_over_all_drops(tables.SESSION_AGENT_RANKS, SESSIONS_VERSION, ["session_agents", "score_history"])
def session_agent_ranks(home: HomeResource) -> dg.MaterializeResult[Stream]:
    """Every agent against itself: in which drop of the suite it did best."""
    return dg.MaterializeResult(value=Stream.of(tables.SESSION_AGENT_RANKS, agents_in_sessions.rank_rows(home.home)))
