"""Agents side by side: rates, pairs and the files, from reports that are made up here."""

from collections.abc import Sequence
from pathlib import Path

import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st
from upath import UPath

from evaluation_assets.core.gating.paired_tests import compare_outcomes
from evaluation_assets.core.report.agents.agent_comparison import (
    AgentComparison,
    as_markdown,
    compare_agents,
    write_agent_comparison,
)
from evaluation_assets.core.report.agents.agent_report import AgentReport, TaskSection
from evaluation_assets.core.scoring.intervals import wilson
from evaluation_assets.core.suites.suite import Suite
from evaluation_assets.core.text.nullable import sum_of


def attempt(
    case: str, passed: bool | None, trial: int = 0, ended: str = "answered", cost: float | None = 0.01
) -> TaskSection:
    return TaskSection(
        task_id=case,
        trial=trial,
        prompt="?",
        expected="1",
        actual="1",
        compared="exact" if passed else "different",
        right=passed,
        passed=passed,
        ended=ended,
        error=None,
        duration_s=2.0,
        cost_usd=cost,
        calls=3,
        tools={},
        summary=None,
        feedback=None,
    )


def report(agent: str, attempts: Sequence[TaskSection]) -> AgentReport:
    return AgentReport.model_construct(
        agent=agent,
        agent_version="1",
        model="m",
        tasks=list(attempts),
        mean_duration_s=2.0,
        total_calls=3 * len(attempts),
        mean_calls=3.0,
        cost_usd=sum_of(each.cost_usd for each in attempts),
    )


def compared(cases: Sequence[str], **attempts: Sequence[TaskSection]) -> AgentComparison:
    suite = Suite.model_validate({"name": "s", "cases": [{"id": case, "message": f"{case}?"} for case in cases]})
    return compare_agents(suite, {f"s/{agent}": report(agent, own) for agent, own in attempts.items()})


def once(passed: Sequence[bool]) -> list[TaskSection]:
    return [attempt(f"c{number}", each) for number, each in enumerate(passed)]


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=30))
def test_single_attempts_are_compared_by_the_exact_unconditional_test(passed: list[tuple[bool, bool]]) -> None:
    cases = [f"c{number}" for number in range(len(passed))]
    both = {"a": once([one for one, _ in passed]), "b": once([other for _, other in passed])}
    (pair,) = compared(cases, **both).pairs
    assert {pair.agent, pair.other} == {"a", "b"} and pair.method == "exact unconditional McNemar test"
    known = compare_outcomes(min(pair.better, pair.worse), max(pair.better, pair.worse), len(passed), 0.0, 0.05)
    opposite = compare_outcomes(max(pair.better, pair.worse), min(pair.better, pair.worse), len(passed), 0.0, 0.05)
    assert pair.p == pytest.approx(min(1.0, 2 * min(float(known.p_regression), float(opposite.p_regression))))
    assert pair.p_adjusted == pair.p
    assert pair.ci_low is not None and pair.ci_high is not None and pair.ci_low <= pair.ci_high


def test_pairs_are_adjusted_for_their_number() -> None:
    size = 10
    cases = [f"c{number}" for number in range(size)]
    found = compared(cases, a=once([True] * size), b=once([False] * size), c=once([False] * size))
    assert [(pair.p, pair.p_adjusted) for pair in found.pairs] == [
        (pytest.approx(2 / 2**size), pytest.approx(3 * 2 / 2**size)),
        (pytest.approx(2 / 2**size), pytest.approx(3 * 2 / 2**size)),
        (1.0, 1.0),
    ]


def test_intervals_rest_on_cases_and_trials_are_averaged_first() -> None:
    passed = {"c0": [True, True], "c1": [True, False], "c2": [False, False]}
    tries = [attempt(case, each, trial) for case, own in passed.items() for trial, each in enumerate(own)]
    found = compared(["c0", "c1", "c2"], a=tries, b=once([False, True, True]))
    a = next(figures for figures in found.agents if figures.agent == "a")
    assert (a.passed.count, a.passed.attempts, a.passed.cases, a.passed.rate) == (3, 6, 3, 0.5)
    assert (a.passed.ci_low, a.passed.ci_high) == wilson(1.5, 3)
    assert [(rate.k, rate.pass_hat) for rate in a.trials] == [(1, 0.5), (2, pytest.approx(1 / 3))]
    (pair,) = found.pairs
    expected = scipy.stats.ttest_rel([0, 1, 1], [1, 0.5, 0]).pvalue
    assert pair.method == "paired t-test" and pair.p == pytest.approx(expected)


def test_agents_of_different_trials_are_compared_by_the_mean_of_their_calls(tmp_path: Path) -> None:
    tries = [attempt("c0", True, trial) for trial in range(4)]
    found = compared(["c0"], a=tries, b=once([True]))
    assert as_markdown(found).count("| 2.00 s | 3.00 |") == 2
    write_agent_comparison(UPath(tmp_path), found)
    assert (tmp_path / "agents.html").read_text().count('<td class="n">3.00</td>') == 2


def test_cases_on_which_agents_differ_come_first() -> None:
    found = compared(["c0", "c1", "c2"], a=once([True, True, False]), b=once([True, False, False]))
    assert [row.case_id for row in found.cases] == ["c1", "c0", "c2"]
    assert [row.case_id for row in found.differing] == ["c1"]


def test_what_is_not_known_is_missing() -> None:
    unpriced = [attempt("c0", True, cost=None), attempt("c1", True, ended="step_limit", cost=None)]
    found = compared(["c0", "c1", "c2"], a=unpriced, b=[attempt("c2", False), attempt("c0", True, cost=None)])
    a, b = found.agents
    assert (a.cost_usd, a.unpriced, a.cases) == (None, 2, 2) and (b.cost_usd, b.unpriced) == (0.01, 1)
    outcomes = {row.case_id: row.outcomes for row in found.cases}
    assert outcomes["c1"].keys() == {"a"} and outcomes["c1"]["a"].ended == {"step_limit": 1}
    (pair,) = found.pairs
    assert (pair.cases, pair.difference, pair.p, pair.p_adjusted) == (1, 0.0, None, None)


def test_one_agent_and_none_are_reports_too(tmp_path: Path) -> None:
    assert compared(["c0"], a=once([True])).pairs == []
    page = write_agent_comparison(UPath(tmp_path), compared(["c0"]))
    assert page.exists()


HOSTILE = "<script>alert(1)</script>|`x`"


def test_hostile_names_are_text_in_every_file(tmp_path: Path) -> None:
    found = compared([HOSTILE], a=[attempt(HOSTILE, True, ended="<b>odd</b>")])
    page = write_agent_comparison(UPath(tmp_path), found)
    html, text = page.read_text("utf-8"), page.with_suffix(".md").read_text("utf-8")
    assert "<script" not in html and "<b>odd" not in html and "&lt;script&gt;" in html
    assert "<script" not in text and "\\|" in text


def test_attempts_that_ended_in_an_error_stand_beside_the_rate(tmp_path: Path) -> None:
    tries = [attempt("c0", True), attempt("c0", None, 1, ended="failed")]
    folder = UPath(tmp_path)
    page = write_agent_comparison(folder, compared(["c0"], a=tries, b=once([True]))).read_text()
    told = "1 of 2 attempts ended in an error"
    assert page.count(told) == 1 and (folder / "agents.md").read_text().count(told) == 1
