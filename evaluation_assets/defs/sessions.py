"""[sessions] What happened between agents and users: one analysis a session, and checks of it."""

from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import fmean

import dagster as dg

from evaluation_assets.core import tables
from evaluation_assets.core.gating import session_agents as agents_in_sessions
from evaluation_assets.core.gating.task_metrics import read_metrics
from evaluation_assets.core.judging.judge import Judge
from evaluation_assets.core.judging.panel import Panel
from evaluation_assets.core.lake import Stored, Stream, batched
from evaluation_assets.core.llm.embeddings import Taken
from evaluation_assets.core.scoring import analysed_sessions
from evaluation_assets.core.sessions.embedding_similarity import measure_name, opened_measure
from evaluation_assets.core.sessions.session_scores import LOW
from evaluation_assets.defs.judging import JudgingConfig
from evaluation_assets.defs.partitions import DROPS
from evaluation_assets.resources.installation import HomeResource

SESSIONS_VERSION = "4"
"""Increment when the same sessions and verdicts would give a different analysis."""

MIN_JUDGED = 0.9
"""Minimum share of responses that must be judged."""

_COLUMNS = [
    "analyst",
    "responses",
    "overall_score",
    "conversation_score",
    "tool_use_score",
    "coordination_score",
    "reasoning_score",
    "intent_drift_score",
    "judged_responses",
    "bad_responses",
    "unauthorized_calls",
]
_COUNTS = (
    "responses",
    "bad_responses",
    "judged_responses",
    "unauthorized_calls",
    "ungrounded_values",
    "failed_calls",
)
_SCORES = tuple(column for column in _COLUMNS if column.endswith("_score"))


def session_analyses(judges: Sequence[Judge], panel: Panel, ledger_url: str) -> dg.AssetsDefinition:
    """The analyses over a panel's verdicts."""
    verdicts = {f"verdicts_{judge.name}": dg.AssetIn([tables.SESSION_VERDICTS.name, judge.name]) for judge in judges}

    @dg.asset(
        name=tables.SESSION_ANALYSES.name,
        partitions_def=DROPS,
        group_name="sessions",
        code_version=f"{SESSIONS_VERSION}|quorum {panel.quorum}|{measure_name(panel.embeddings)}",
        ins={"preprocessed_trajectories": dg.AssetIn("preprocessed_trajectories")} | verdicts,
        kinds={"parquet"},
        description=f"Each row is {tables.SESSION_ANALYSES.row}. None for trajectories of one agent and one turn.",
    )
    def analyses(
        context: dg.AssetExecutionContext, config: JudgingConfig, **stored: Stored
    ) -> dg.MaterializeResult[Stream]:
        summary = Summary()

        def rows() -> Iterator[analysed_sessions.Row]:
            budget = config.budget_usd
            with opened_measure(panel.embeddings, ledger_url, context.run.run_id, budget) as (measure, summary.taken):
                yield from analysed_sessions.session_analyses(
                    context.partition_key,
                    stored["preprocessed_trajectories"],
                    {judge.name: stored[f"verdicts_{judge.name}"] for judge in judges},
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


class Summary:
    """Counts and means over the panel's analyses, for the UI."""

    def __init__(self) -> None:
        self.taken = Taken()
        self._values: dict[str, list[float]] = {}
        self._signals: Counter[str] = Counter()
        self._sums: Counter[str] = Counter()

    def over(self, rows: Iterator[analysed_sessions.Row]) -> Iterator[analysed_sessions.Row]:
        """Pass the rows on."""
        for row in rows:
            if row["analyst"] == analysed_sessions.PANEL:
                self._sums["sessions"] += 1
                for name in _COUNTS:
                    self._sums[name] += row[name]
                self._signals[row["signal"] or "nothing done"] += 1
                for name in (*_SCORES, "tool_chain"):
                    if row[name] is not None:
                        self._values.setdefault(name, []).append(row[name])
            yield row

    def metadata(self) -> dict[str, float | int | str | None]:
        """The means as numbers, which the UI plots over drops; a drop without sessions says so."""
        if not self._sums["sessions"]:
            return {"sessions": 0, "note": "no trajectory has several agents or several user turns"}
        return {
            **dict(sorted(self._sums.items())),
            **{f"mean_{name}": fmean(values) for name, values in sorted(self._values.items())},
            "courses": ", ".join(f"{signal}: {count}" for signal, count in sorted(self._signals.items())),
            **self._embedded(),
        }

    def _embedded(self) -> dict[str, float | int | str | None]:
        """What embeddings took; nothing where there are none. Unknown tokens and costs are null."""
        taken = self.taken
        figures: dict[str, float | int | str | None] = {}
        if taken.texts:
            figures |= {"embedded_texts": taken.texts, "embeddings_from_ledger": taken.from_ledger}
            figures |= {"embedding_tokens": taken.input_tokens, "embedding_cost_usd": taken.cost_usd}
        if taken.over_budget:
            figures["over_budget"] = taken.over_budget
        return figures


@dg.asset_check(
    asset="session_analyses",
    partitions_def=DROPS,
    description=f"At least {MIN_JUDGED:.0%} of the responses in sessions are judged.",
)
def sessions_judged(session_analyses: Stored) -> dg.AssetCheckResult:
    """Without sessions there is nothing to judge."""
    rows = _of_the_panel(session_analyses)
    responses, judged = sum(row["responses"] for row in rows), sum(row["judged_responses"] for row in rows)
    share = judged / responses if responses else None
    return dg.AssetCheckResult(
        passed=share is None or share >= MIN_JUDGED,
        severity=dg.AssetCheckSeverity.ERROR,
        metadata={"responses": responses, "judged": judged, **({} if share is None else {"judged_share": share})},
        description=f"{judged} of {responses} responses were judged (minimum {MIN_JUDGED:.0%}).",
    )


@dg.asset_check(
    asset="session_analyses",
    partitions_def=DROPS,
    description="No agent called a tool that it does not have.",
)
def unauthorised_calls(session_analyses: Stored) -> dg.AssetCheckResult:
    """Agents whose tools are unknown cannot fail this."""
    rows = _of_the_panel(session_analyses)
    found = sum(row["unauthorized_calls"] for row in rows)
    affected = sum(row["unauthorized_calls"] > 0 for row in rows)
    return dg.AssetCheckResult(
        passed=not found,
        severity=dg.AssetCheckSeverity.WARN,
        metadata={"calls": found, "sessions": affected},
        description=f"Agents called tools that they do not have {found} times, in {affected} of {len(rows)} sessions.",
    )


@dg.asset_check(
    asset="session_analyses",
    partitions_def=DROPS,
    description=f"The mean coordination of sessions with several agents is at least {LOW}.",
)
def coordinated(session_analyses: Stored) -> dg.AssetCheckResult:
    """Sessions of one agent have no coordination."""
    scores = [
        row["coordination_score"] for row in _of_the_panel(session_analyses) if row["coordination_score"] is not None
    ]
    mean = fmean(scores) if scores else None
    return dg.AssetCheckResult(
        passed=mean is None or mean >= LOW,
        severity=dg.AssetCheckSeverity.WARN,
        metadata={"sessions": len(scores), **({} if mean is None else {"coordination": mean})},
        description="No session has several agents."
        if mean is None
        else f"The mean coordination of {len(scores)} sessions is {mean:.3f} (minimum {LOW}).",
    )


def _of_the_panel(stored: Stored) -> list[analysed_sessions.Row]:
    return [row for row in stored.rows(_COLUMNS) if row["analyst"] == analysed_sessions.PANEL]
