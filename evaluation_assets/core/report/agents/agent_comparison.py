"""Compare agents on one suite: rates, the cases on which they differ, and significance."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

import numpy as np
from upath import UPath

from evaluation_assets.core.gating.paired_tests import Evidence, compare_outcomes, compare_scores, holm
from evaluation_assets.core.report.agents.agent_report import AgentReport, TaskSection
from evaluation_assets.core.report.files import write_texts
from evaluation_assets.core.report.render import environment
from evaluation_assets.core.scoring.intervals import CONFIDENCE, rate_interval
from evaluation_assets.core.suites.call_metrics import TrialRate, trial_rates
from evaluation_assets.core.suites.suite import Suite
from evaluation_assets.core.system.by_key import by_key
from evaluation_assets.core.system.frozen import Frozen
from evaluation_assets.core.text.plain_text import plain

ALPHA = (1 - CONFIDENCE) / 2


class Rate(Frozen):
    """`count` of `attempts`, with a 95% Wilson interval over `cases`: attempts at a case are averaged first."""

    count: int
    attempts: int
    rate: float | None
    ci_low: float | None
    ci_high: float | None
    cases: int


class AgentFigures(Frozen):
    """One agent over all its attempts. `cost_usd` excludes the `unpriced` attempts."""

    agent: str
    agent_version: str
    model: str
    drop: str
    cases: int
    attempts: int
    right: Rate
    passed: Rate
    trials: list[TrialRate]
    mean_duration_s: float | None
    total_calls: int
    mean_calls: float | None
    cost_usd: float | None
    unpriced: int


class CaseOutcome(Frozen):
    """An agent's attempts at a case, without infrastructure failures.

    `ended` counts the attempts without an answer by how they ended, including infrastructure failures.
    """

    passed: int
    attempts: int
    ended: dict[str, int]

    @property
    def share(self) -> float | None:
        """Share of attempts that passed; `None` if all failed because of the infrastructure."""
        return self.passed / self.attempts if self.attempts else None


class CaseRow(Frozen):
    """A case and its outcome by agent; agents that were not run on it are omitted."""

    case_id: str
    outcomes: dict[str, CaseOutcome]

    @property
    def differs(self) -> bool:
        """Whether the agents that were run on it passed with different frequency."""
        return len({outcome.share for outcome in self.outcomes.values()} - {None}) > 1


class PairedComparison(Frozen):
    """Two agents compared by pass rate, on the cases that both were run on.

    `difference` is `agent - other` with its 95% interval. `p` is two-sided; `p_adjusted` is Holm-adjusted for the
    number of pairs. Both are `None` if there are too few cases to test.
    """

    agent: str
    other: str
    cases: int
    better: int
    worse: int
    difference: float | None
    ci_low: float | None
    ci_high: float | None
    p: float | None
    p_adjusted: float | None
    method: str


class AgentComparison(Frozen):
    """The agents of one suite, best first. Cases on which they differ come first."""

    suite: str
    cases_total: int
    agents: list[AgentFigures]
    cases: list[CaseRow]
    pairs: list[PairedComparison]

    @property
    def differing(self) -> list[CaseRow]:
        """The cases on which the agents differ."""
        return [row for row in self.cases if row.differs]


def compare_agents(suite: Suite, runs: Mapping[str, AgentReport]) -> AgentComparison:
    """Compare the reports of several agents on one suite. `runs` maps drops to reports."""
    ranked = sorted((_figures(drop, report) for drop, report in runs.items()), key=_best_first)
    outcomes = {report.agent: _outcomes(report.tasks) for report in runs.values()}
    names = [figures.agent for figures in ranked]
    rows = [
        CaseRow(
            case_id=case.id, outcomes={name: outcomes[name][case.id] for name in names if case.id in outcomes[name]}
        )
        for case in suite.cases
    ]
    return AgentComparison(
        suite=suite.name,
        cases_total=len(rows),
        agents=ranked,
        cases=sorted(rows, key=lambda row: not row.differs),
        pairs=_adjusted([_pair(one, other, rows) for one, other in combinations(names, 2)]),
    )


def write_agent_comparison(folder: UPath, comparison: AgentComparison) -> UPath:
    """Write `agents.json`, `agents.md` and `agents.html`; return the path of the last."""
    page = plain(environment().get_template("agents.html.j2").render(comparison=comparison))
    document = comparison.model_dump_json(indent=2) + "\n"
    write_texts(folder, {"agents.json": document, "agents.md": as_markdown(comparison), "agents.html": page})
    return folder / "agents.html"


def as_markdown(comparison: AgentComparison) -> str:
    """The comparison as Markdown, for a pull request or the UI."""
    return environment().get_template("agents.md.j2").render(comparison=comparison)


def _figures(drop: str, report: AgentReport) -> AgentFigures:
    tasks = report.tasks
    measured = _by_case(task for task in tasks if task.passed is not None)
    passed = {name: [task.passed is True for task in own] for name, own in measured.items()}
    answerable = _by_case(task for task in tasks if task.right is not None)
    trials = trial_rates(passed)
    return AgentFigures(
        agent=report.agent,
        agent_version=report.agent_version,
        model=report.model,
        drop=drop,
        cases=len(passed),
        attempts=len(tasks),
        right=_rate([[task.right is True for task in own] for own in answerable.values()]),
        passed=_rate(passed.values()),
        trials=trials if len(trials) > 1 else [],
        mean_duration_s=report.mean_duration_s,
        total_calls=report.total_calls,
        mean_calls=report.mean_calls,
        cost_usd=report.cost_usd,
        unpriced=sum(task.cost_usd is None for task in tasks),
    )


def _best_first(figures: AgentFigures) -> tuple[float, float, str]:
    return -(figures.passed.rate or 0.0), -(figures.right.rate or 0.0), figures.agent


def _rate(attempts_by_case: Iterable[Sequence[bool]]) -> Rate:
    cases = list(attempts_by_case)
    count, attempts = sum(sum(own) for own in cases), sum(len(own) for own in cases)
    low, high = rate_interval(cases) if cases else (None, None)
    rate = count / attempts if attempts else None
    return Rate(count=count, attempts=attempts, rate=rate, ci_low=low, ci_high=high, cases=len(cases))


def _by_case(tasks: Iterable[TaskSection]) -> dict[str, list[TaskSection]]:
    return by_key((task.task_id, task) for task in tasks)


def _outcomes(tasks: Iterable[TaskSection]) -> dict[str, CaseOutcome]:
    return {
        name: CaseOutcome(
            passed=sum(task.passed is True for task in own),
            attempts=sum(task.passed is not None for task in own),
            ended=dict(sorted(Counter(task.ended for task in own if task.ended != "answered").items())),
        )
        for name, own in _by_case(tasks).items()
    }


def _pair(agent: str, other: str, rows: Sequence[CaseRow]) -> PairedComparison:
    pairs = [
        (row.outcomes[agent].share, row.outcomes[other].share) for row in rows if {agent, other} <= {*row.outcomes}
    ]
    both = [pair for pair in pairs if None not in pair]
    shares = np.array(both, float).reshape(-1, 2)
    differences = shares[:, 0] - shares[:, 1]
    are_outcomes = bool(np.isin(shares, (0.0, 1.0)).all())

    def tested(values: np.ndarray) -> Evidence:
        if are_outcomes:
            return compare_outcomes((values < 0).sum(), (values > 0).sum(), len(values), 0.0, ALPHA)
        return compare_scores(values, 0.0, ALPHA)

    # Without variance there is no t-test; the test of outcomes needs none.
    can_tell = len(both) > 1 and (are_outcomes or np.ptp(differences) > 0)
    evidence = tested(differences) if can_tell else None
    p = None
    if evidence is not None:
        p = min(1.0, 2 * min(float(evidence.p_regression), float(tested(-differences).p_regression)))
    return PairedComparison(
        agent=agent,
        other=other,
        cases=len(both),
        better=int((differences > 0).sum()),
        worse=int((differences < 0).sum()),
        difference=float(differences.mean()) if both else None,
        ci_low=None if evidence is None else float(evidence.low),
        ci_high=None if evidence is None else float(evidence.high),
        p=p,
        p_adjusted=None,
        method="exact unconditional McNemar test" if are_outcomes else "paired t-test",
    )


def _adjusted(pairs: Sequence[PairedComparison]) -> list[PairedComparison]:
    adjusted = iter(holm([pair.p for pair in pairs if pair.p is not None]))
    return [pair if pair.p is None else pair.model_copy(update={"p_adjusted": next(adjusted)}) for pair in pairs]
