"""Scores of the agents inside sessions, and their ranking over the drops of a suite.

An agent is ranked only against itself in other drops: agents in different roles have different tasks.
"""

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from evaluation_assets.core.gating.baselines import comparability_key, scored_with
from evaluation_assets.core.gating.drops_in_time import place_in_time
from evaluation_assets.core.gating.evaluated_drops import of_each_drop
from evaluation_assets.core.gating.task_metrics import DropMetrics, estimate_of
from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.lake.stored import Stored
from evaluation_assets.core.sections.sessions.analysis import PANEL, SessionAnalysis
from evaluation_assets.core.sections.sessions.analysis_rows import analysis_of
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.nullable import sum_of

SCORES = ("overall", "tool_use", "reasoning", "handoff")


@dataclass(slots=True)
class _Agent:
    """Totals of one agent. Scores are kept by task, because trials of a task are correlated."""

    counts: Counter[str] = field(default_factory=Counter)
    scores: dict[str, dict[str, list[float]]] = field(default_factory=lambda: {name: {} for name in SCORES})
    latency_ms: float | None = None
    cost_usd: float | None = None


def session_agents(analyses: Stored, metrics: DropMetrics) -> Iterator[Row]:
    """Rows of `session_agents`: the panel's scores of each agent in a drop, in order of first appearance."""
    agents: dict[str, _Agent] = {}
    for row in analyses.rows(["task_id", "analyst", "analysis"]):
        if row["analyst"] == PANEL:
            _add(agents, row["task_id"], analysis_of(row))
    for agent_id, own in agents.items():
        yield {
            "drop": metrics.drop,
            "suite": metrics.suite,
            "agent": metrics.agent,
            "agent_version": metrics.agent_version,
            "agent_id": agent_id,
            **{name: own.counts[name] for name in ("n_sessions", "n_interactions", "n_tool_calls", "failed_calls")},
            **{f"issues_{severity}": own.counts[severity.upper()] for severity in ("high", "medium", "low")},
            **{name: value for score in SCORES for name, value in _estimate(score, own.scores[score]).items()},
            "total_latency_ms": own.latency_ms,
            "total_cost_usd": own.cost_usd,
            **{name: own.counts[name] for name in ("n_latency_known", "n_cost_known")},
            "comparability_key": comparability_key(scored_with(metrics)),
        }


def _add(agents: dict[str, _Agent], task_id: str, analysis: SessionAnalysis) -> None:
    for agent_id, scores in analysis.per_agent_scores.items():
        own = agents.setdefault(agent_id, _Agent())
        own.counts.update(
            n_sessions=1,
            n_interactions=scores.interactions_count,
            n_tool_calls=scores.tool_calls,
            failed_calls=scores.failed_calls,
            n_latency_known=scores.latency_ms.n_known,
            n_cost_known=scores.cost_usd.n_known,
        )
        own.counts.update(issue.severity for issue in analysis.issues if issue.agent_id == agent_id)
        for name, values in own.scores.items():
            if (score := getattr(scores, name)) is not None:
                values.setdefault(task_id, []).append(score)
        own.latency_ms = sum_of((own.latency_ms, scores.latency_ms.value))
        own.cost_usd = sum_of((own.cost_usd, scores.cost_usd.value))


def _estimate(name: str, by_task: dict[str, list[float]]) -> Row:
    """Mean over tasks with its 95% interval."""
    estimate = estimate_of(name, [fmean(values) for values in by_task.values()]) if by_task else None
    return {
        f"{name}_mean": estimate and estimate.mean,
        f"{name}_low": estimate and estimate.low,
        f"{name}_high": estimate and estimate.high,
        f"{name}_tasks": estimate.n if estimate else 0,
    }


def ranked(rows: Sequence[Row]) -> list[Row]:
    """Rank the drops of one suite for each agent, best first. `rows` are rows of `session_agents`, oldest drop first.

    Equal scores share a rank. Only drops with the comparability key of the last one are ranked. A drop in which the
    agent has no score has no rank.
    """
    key = rows[-1]["comparability_key"] if rows else None
    alike = [row for row in rows if row["comparability_key"] == key]
    ranked_rows: list[Row] = []
    for agent_id in sorted({row["agent_id"] for row in alike}):
        own = sorted((row for row in alike if row["agent_id"] == agent_id), key=_order)
        scores = [row["overall_mean"] for row in own if row["overall_mean"] is not None]
        for row in own:
            mean = row["overall_mean"]
            rank = None if mean is None else 1 + scores.index(mean)
            ranked_rows.append({**row, "rank": rank, "n_ranked": len(scores)})
    return ranked_rows


def _order(row: Row) -> tuple[float, str]:
    return (1.0 if row["overall_mean"] is None else -row["overall_mean"], row["drop"])


def ranks_in_suite(home: Installation, suite: str) -> list[Row]:
    """The ranking of the agents inside a suite's sessions, over its evaluated drops."""
    return _ranked_in_time(home, _by_suite(home).get(suite, []))


def with_ranks(home: Installation, drop: str) -> list[Row]:
    """The rows of one drop with their ranks in its suite; ranks are `None` without a suite."""
    rows = list(home.table(drop, "session_agents").rows())
    suite = rows[0]["suite"] if rows else None
    ranks = {row["agent_id"]: row for row in ranks_in_suite(home, suite) if row["drop"] == drop} if suite else {}
    return [ranks.get(row["agent_id"], {**row, "rank": None, "n_ranked": 0}) for row in rows]


def rank_rows(home: Installation) -> Iterator[Row]:
    """Rows of `session_agent_ranks` for all suites."""
    for _, rows in sorted(_by_suite(home).items()):
        yield from _ranked_in_time(home, rows)


def _by_suite(home: Installation) -> dict[str, list[Row]]:
    """Rows of `session_agents` by suite. Each table is read once; drops without a suite are skipped."""
    by_suite: dict[str, list[Row]] = {}

    def read(drop: str) -> list[Row]:
        place_in_time(home, drop)  # fail here if its file is damaged: it is read later
        return list(home.table(drop, "session_agents").rows())

    for rows in of_each_drop(home, "session_agents", read, logging.getLogger(__name__).warning):
        for row in rows:
            if row["suite"] is not None:
                by_suite.setdefault(row["suite"], []).append(row)
    return by_suite


def _ranked_in_time(home: Installation, rows: Sequence[Row]) -> list[Row]:
    when = {drop: place_in_time(home, drop) for drop in {row["drop"] for row in rows}}
    return ranked(sorted(rows, key=lambda row: when[row["drop"]]))
