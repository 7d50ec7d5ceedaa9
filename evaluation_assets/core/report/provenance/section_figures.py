"""Figures of constraints, coding agents, sessions and sampled judges, computed again from their rows."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from operator import add
from statistics import fmean

from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.lake.tables import CODING_WORK
from evaluation_assets.core.report.findings.process_summary import SuccessRelation, success_relation
from evaluation_assets.core.report.provenance.figure import Figure, Value, address, statistic
from evaluation_assets.core.report.provenance.run_rows import ScoredRun
from evaluation_assets.core.scoring.intervals import sampled_mean
from evaluation_assets.core.sections.sessions.analysis import AgentScores
from evaluation_assets.core.sections.sessions.analysis_rows import analysis_of

_CONSTRAINTS = "runs of the drop's files, checked again by `checks.yaml`"
_PROCESS = "runs of the drop's files, searched for findings again"
_CODING = "sessions of the drop's files, measured again"
_SESSIONS = "rows of `session_analyses` with the analyst `panel`"

_STATUSES = ("passed", "failed", "not_applicable", "not_checked")
_COUNTS = CODING_WORK.totalled("sum")
_KNOWN = CODING_WORK.totalled("known")
_TESTS = {"passing": "tests_passing", "failing": "tests_failing", "unknown": "tests_unknown", None: "without_tests"}
_USED = ("input_tokens", "output_tokens", "cost_usd")
_SESSION_SCORES = (
    "overall_score", "conversation_score", "tool_use_score", "coordination_score", "reasoning_score",
    "intent_drift_score", "tool_chain",
)  # fmt: skip
_CONVERSATION = (
    "total_responses", "good_responses", "bad_responses", "ccm_detections", "rdm_detections",
    "hallucination_detections", "llm_judge_detections", "not_judged",
)  # fmt: skip


def constraint_figures(rows: Sequence[Row]) -> Iterator[Figure]:
    """Counts of each constraint by status, and of the violating trajectories."""
    by_name: dict[str, list[Row]] = {}
    for row in rows:
        by_name.setdefault(row["constraint"], []).append(row)
    at = ("drop", "constraints")
    for name, own in by_name.items():
        place = (*at, "constraints", name)
        for status in _STATUSES:
            count = sum(row["status"] == status for row in own)
            formula = f"number of trajectories with status `{status}`"
            yield Figure(address(*place, status), count, len(own), formula, _CONSTRAINTS)
    violating = len({row["trajectory_id"] for row in rows if row["status"] == "failed"})
    formula = "number of trajectories that violate a constraint"
    yield Figure(address(*at, "violating_trajectories"), violating, len(rows), formula, _CONSTRAINTS)


def process_figures(runs: Sequence[ScoredRun]) -> Iterator[Figure]:
    """The process score, and its relation to success."""
    at = ("drop", "process")
    scores, tasks = [run.score for run in runs], [run.task_id for run in runs]
    yield from statistic(at, scores, "process scores", _PROCESS, tasks)
    found = success_relation(scores, [run.success for run in runs], tasks)
    if found is not None:
        related = SuccessRelation.of(found)
        for name, value in related.model_dump().items():
            n = related.n_succeeded + related.n_failed
            yield Figure(address(*at, "success", name), value, n, "AUROC of process scores", _PROCESS)


def coding_figures(rows: Sequence[Row]) -> Iterator[Figure]:
    """Totals of coding agents, by project and by model, and the sessions."""
    at = ("drop", "coding")
    yield from _coding_totals((*at, "totals"), rows, [(row, 1) for row in rows])
    for name, key in (("projects", "project"), ("models", "model")):
        groups: dict[str | None, list[Row]] = {}
        used: dict[str | None, list[tuple[Row, int]]] = {}
        for row in rows:
            groups.setdefault(row[key], []).append(row)
            if key == "project":
                used.setdefault(row[key], []).append((row, 1))
                continue
            for spent in row["by_model"]:
                used.setdefault(spent["model"], []).append((spent, int(spent["model"] == row["model"])))
        for group in dict.fromkeys([*groups, *used]):
            place = (*at, name, str(group), "totals")
            yield from _coding_totals(place, groups.get(group, []), used.get(group, []))
        total = len(groups.keys() | used.keys())
        yield Figure(address(*at, f"{name}_total"), total, len(rows), f"number of {name}", _CODING)
    for row in rows:
        for column in (*_COUNTS, *_KNOWN):
            place = address(*at, "sessions", row["trajectory_id"], column)
            yield Figure(place, row[column], 1, f"`{column}` of the session", _CODING)


def _coding_totals(at: Sequence[str], rows: Sequence[Row], used: Sequence[tuple[Row, int]]) -> Iterator[Figure]:
    """Figures of sessions; tokens and cost are those of `used`, each with its number of sessions."""
    tests = Counter(_TESTS[row["last_test_result"]] for row in rows)
    priced = [(spent, sessions) for spent, sessions in used if spent["cost_usd"] is not None]
    found: dict[str, Value] = {"sessions": len(rows)}
    found |= {name: sum(row[name] for row in rows) for name in _COUNTS}
    found |= {name: tests[name] for name in _TESTS.values()}
    found |= {name: _sum(row[name] for row in rows) for name in _KNOWN if name not in _USED}
    found |= {name: _sum(spent[name] for spent, _ in used) for name in _USED}
    found["n_timed"] = sum(row["active_s"] is not None for row in rows)
    found["n_priced"] = sum(sessions for _, sessions in priced)
    found["is_list_price"] = any(spent["is_list_price"] is True for spent, _ in priced)
    for name, value in found.items():
        yield Figure(address(*at, name), value, len(rows), f"sum or number over sessions: {name}", _CODING)


def session_figures(rows: Iterable[Row], task_of: Mapping[str, str]) -> Iterator[Figure]:
    """Summaries of the panel's analyses of sessions, and of the agents in them."""
    analyses = [(row, analysis_of(row)) for row in rows if row["analyst"] == "panel"]
    if not analyses:
        return
    at = ("drop", "sessions")
    tasks = [task_of.get(row["session_id"], row["session_id"]) for row, _ in analyses]
    n = len(analyses)
    yield Figure(address(*at, "total"), n, n, "number of sessions", _SESSIONS)
    for name in _CONVERSATION:
        count = sum(getattr(analysis.conversation, name) for _, analysis in analyses)
        yield Figure(address(*at, "conversation", name), count, n, f"sum of `{name}` over sessions", _SESSIONS)
    for name in _SESSION_SCORES:
        values = [row[name] for row, _ in analyses]
        yield from statistic((*at, "scores", name), values, f"`{name}` of the sessions", _SESSIONS, tasks)
    for signal, count in Counter(row["signal"] or "nothing done" for row, _ in analyses).items():
        yield Figure(address(*at, "courses", signal), count, n, f"number of sessions that are {signal}", _SESSIONS)
    known = [row["task_completion"] for row, _ in analyses if row["task_completion"] is not None]
    formula = "number of sessions that reached the goal, of those that were judged"
    yield Figure(address(*at, "task_completion"), sum(known), len(known), formula, _SESSIONS)
    formula = "number of sessions whose goal was judged"
    yield Figure(address(*at, "task_completion_judged"), len(known), n, formula, _SESSIONS)
    agents: dict[str, list[tuple[AgentScores, str]]] = {}
    for (_, analysis), task in zip(analyses, tasks, strict=True):
        for agent, own in analysis.per_agent_scores.items():
            agents.setdefault(agent, []).append((own, task))
    yield Figure(address(*at, "agents_total"), len(agents), n, "number of agents that acted", _SESSIONS)
    for agent, found in agents.items():
        yield from _agent((*at, "agents", agent), found)


def _agent(at: Sequence[str], found: Sequence[tuple[AgentScores, str]]) -> Iterator[Figure]:
    own = [scores for scores, _ in found]
    for name in ("overall", "tool_use", "reasoning", "handoff", "response_quality"):
        values = [getattr(scores, name) for scores in own]
        yield from statistic((*at, name), values, f"`{name}` of {at[-1]}", _SESSIONS, [task for _, task in found])
    sums: dict[str, Value] = {
        "sessions": len(own),
        "interactions": sum(scores.interactions_count for scores in own),
        "tool_calls": sum(scores.tool_calls for scores in own),
        "failed_calls": sum(scores.failed_calls for scores in own),
        "issues": sum(len(scores.issues) for scores in own),
        "latency_known": sum(scores.latency_ms.n_known for scores in own),
        "cost_known": sum(scores.cost_usd.n_known for scores in own),
        "latency_ms": _sum(scores.latency_ms.value for scores in own),
        "cost_usd": _sum(scores.cost_usd.value for scores in own),
    }
    for name, value in sums.items():
        yield Figure(address(*at, name), value, len(own), f"sum or number over sessions: {name}", _SESSIONS)


def sampled_figures(judge: str, level: str, verdicts: Iterable[Row], trajectories: int) -> Iterator[Figure]:
    """The mean of a judge that is asked about a sample of the trajectories, with its interval over all of them.

    `verdicts` are the judge's rows on clips or whole trajectories.
    """
    values: list[float] = []
    clusters: list[str] = []
    for row in verdicts:
        known = [score for score in dict(row["scores"] or {}).values() if score is not None]
        if row["outcome"] == "scored" and known:
            values.append(fmean(known))
            clusters.append(row["trajectory_id"])
    if not values:
        return
    found = sampled_mean(values, clusters, population=trajectories)
    rows = f"{level}_verdicts/{judge}"
    mean = "mean of the verdicts, each the mean of its scores"
    jackknife = "of the 95% interval of the mean over all trajectories: jackknife over the sampled ones"
    for name, value, formula in (
        ("mean", found.mean, mean),
        ("ci_low", None if found.low is None else max(0.0, found.low), f"lower end {jackknife}"),
        ("ci_high", None if found.high is None else min(1.0, found.high), f"upper end {jackknife}"),
        ("n_scored", found.n, "number of trajectories with a scored verdict"),
        ("n_trajectories", trajectories, "number of trajectories that are evaluated"),
    ):
        yield Figure(address("drop", "sampled", judge, level, name), value, len(values), formula, rows)


def _sum(values: Iterable[float | None]) -> float | None:
    """The sum of the known values, added in their order; `None` without any."""
    known = [value for value in values if value is not None]
    return reduce(add, known) if known else None
