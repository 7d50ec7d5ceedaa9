"""The sessions section of a report: summary, comparison of agents, and the lowest-scoring sessions in full."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.lake.stored import Stored, grouped
from evaluation_assets.core.report.scores.distributions import Statistic, statistic
from evaluation_assets.core.report.scores.lowest import Lowest
from evaluation_assets.core.scoring.session_summary import SCORES
from evaluation_assets.core.sections.sessions.analysis import PANEL, AgentScores, SessionAnalysis
from evaluation_assets.core.sections.sessions.analysis_rows import analysis_of
from evaluation_assets.core.sections.sessions.session_scores import Conversation
from evaluation_assets.core.system.frozen import Frozen
from evaluation_assets.core.text.nullable import sum_of

LISTED = 10
"""Sessions shown in full, each up to 45 kB of the page; the table has all, and the viewer each transcript."""

LISTED_AGENTS = 50

BEST_DROPS = 5
"""Other drops of the suite shown per agent, next to the report's own drop."""


class AgentComparison(Frozen):
    """One agent over the sessions it took part in; scores are over sessions.

    `latency_ms` and `cost_usd` are sums over the `latency_known` and `cost_known` interactions that have a value.
    """

    agent_id: str
    sessions: int
    interactions: int
    overall: Statistic
    tool_use: Statistic
    reasoning: Statistic
    handoff: Statistic
    response_quality: Statistic
    tool_calls: int
    failed_calls: int
    issues: int
    latency_ms: float | None
    latency_known: int
    cost_usd: float | None
    cost_known: int


class AgentRank(Frozen):
    """Rank of an agent inside sessions in one drop of the suite: `rank` of `n_ranked` by overall score.

    `agent` and `agent_version` are those of the drop. The interval is 95% over tasks.
    """

    agent_id: str
    drop: str
    agent: str | None
    agent_version: str | None
    rank: int | None
    n_ranked: int
    n_sessions: int
    overall_mean: float | None
    overall_low: float | None
    overall_high: float | None
    tool_use_mean: float | None
    reasoning_mean: float | None
    handoff_mean: float | None
    issues_high: int
    issues_medium: int
    issues_low: int
    n_interactions: int
    total_latency_ms: float | None
    n_latency_known: int
    total_cost_usd: float | None
    n_cost_known: int


class SessionEntry(Frozen):
    """One session: the panel's analysis, and the analysis by each judge alone."""

    analysis: SessionAnalysis
    overall_by_judge: dict[str, float | None]


class SessionsSummary(Frozen):
    """All sessions of a drop; `sessions` are the lowest of `total`, `agents` the first of `agents_total` by score."""

    total: int
    conversation: Conversation
    scores: dict[str, Statistic]
    courses: dict[str, int]
    task_completion: int
    task_completion_judged: int
    agents: list[AgentComparison]
    agents_total: int
    sessions: list[SessionEntry]


@dataclass(slots=True)
class _Agent:
    scores: dict[str, list[float | None]] = field(default_factory=dict)
    tasks: list[str] = field(default_factory=list)
    sums: Counter[str] = field(default_factory=Counter)
    latency_ms: float | None = None
    cost_usd: float | None = None

    def add(self, own: AgentScores, task: str) -> None:
        self.tasks.append(task)
        for name in ("overall", "tool_use", "reasoning", "handoff", "response_quality"):
            self.scores.setdefault(name, []).append(getattr(own, name))
        self.sums.update(
            sessions=1,
            interactions=own.interactions_count,
            tool_calls=own.tool_calls,
            failed_calls=own.failed_calls,
            issues=len(own.issues),
            latency_known=own.latency_ms.n_known,
            cost_known=own.cost_usd.n_known,
        )
        self.latency_ms = sum_of((self.latency_ms, own.latency_ms.value))
        self.cost_usd = sum_of((self.cost_usd, own.cost_usd.value))


def sessions_summary(analyses: Stored, task_of: Mapping[str, str]) -> SessionsSummary | None:
    """Summarise `session_analyses`; `None` for a drop without sessions. `task_of` names each trajectory's task."""
    agents: dict[str, _Agent] = {}
    scores: dict[str, list[float | None]] = {}
    courses: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    completed: list[bool] = []
    worst = Lowest(LISTED)
    total = 0
    tasks: list[str] = []
    for session, rows in grouped(analyses.rows(), "session_id"):
        tasks.append(task_of.get(session, session))
        panel = next(row for row in rows if row["analyst"] == PANEL)
        total += 1
        analysis = analysis_of(panel)
        for name in SCORES:
            scores.setdefault(name, []).append(panel[name])
        courses[panel["signal"] or "nothing done"] += 1
        counts.update(analysis.conversation.model_dump())
        if analysis.task_completion is not None:
            completed.append(analysis.task_completion)
        for agent, own in analysis.per_agent_scores.items():
            agents.setdefault(agent, _Agent()).add(own, tasks[-1])
        by_judge = {row["analyst"]: row["overall_score"] for row in rows if row["analyst"] != PANEL}
        overall = 2.0 if analysis.overall_score is None else analysis.overall_score
        worst.offer(overall, SessionEntry(analysis=analysis, overall_by_judge=by_judge))
    if not total:
        return None
    ranked = sorted((_comparison(agent, own) for agent, own in agents.items()), key=_rank)
    return SessionsSummary(
        total=total,
        conversation=Conversation(**counts),
        scores={name: statistic(values, tasks) for name, values in scores.items()},
        courses=dict(sorted(courses.items())),
        task_completion=sum(completed),
        task_completion_judged=len(completed),
        agents=ranked[:LISTED_AGENTS],
        agents_total=len(ranked),
        sessions=worst.items(),
    )


def agent_ranks(rows: Sequence[Row], drop: str) -> list[AgentRank]:
    """Ranks of this drop's agents that also occur in other drops of the suite, with their best drops."""
    drops = Counter(row["agent_id"] for row in rows)
    own = {row["agent_id"] for row in rows if row["drop"] == drop and drops[row["agent_id"]] > 1}
    place: Counter[str] = Counter()
    ranks: list[AgentRank] = []
    for row in rows:
        agent = row["agent_id"]
        if agent not in own:
            continue
        place[agent] += 1
        if place[agent] <= BEST_DROPS or row["drop"] == drop:
            ranks.append(AgentRank.model_validate({name: row[name] for name in AgentRank.model_fields}))
    return ranks


def _comparison(agent: str, own: _Agent) -> AgentComparison:
    scores: dict[str, Any] = {name: statistic(values, own.tasks) for name, values in own.scores.items()}
    counts: dict[str, Any] = dict(own.sums)
    return AgentComparison(agent_id=agent, latency_ms=own.latency_ms, cost_usd=own.cost_usd, **scores, **counts)


def _rank(agent: AgentComparison) -> tuple[float, str]:
    """Highest score first, those without a score last."""
    return (2.0 if agent.overall.mean is None else -agent.overall.mean, agent.agent_id)
