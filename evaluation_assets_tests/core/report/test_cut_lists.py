"""Lists that are cut say how many there are besides."""

import pytest

from evaluation_assets.core.gating import wording
from evaluation_assets.core.gating.outcome import ChangedTask, Comparability, GateOutcome
from evaluation_assets.core.report.render import environment
from evaluation_assets.core.report.report import CaseSummary, ToolUse
from evaluation_assets.core.report.suites.suite_report import suite_lines
from evaluation_assets.core.sections.constraints.summary import ConstraintsSummary, ConstraintSummary, constraint_lines
from evaluation_assets.core.suites.call_metrics import TrialRate
from evaluation_assets.core.text.counted import first_of
from evaluation_assets.core.text.report_addresses import ReportAddress


def test_the_first_of_a_list() -> None:
    assert (first_of(["a", "b"], 2), first_of(["a", "b", "c"], 2)) == ("a, b", "a, b and 1 more")
    assert wording.missing([str(each) for each in range(22)], 40).endswith("18, 19 and 2 more")


def outcome(fallen: int) -> GateOutcome:
    tasks = [
        ChangedTask(task_id=f"t{each}", metric="overall", baseline=1, current=0, beyond_noise=True)
        for each in range(fallen)
    ]
    return GateOutcome(
        drop="d",
        baseline="b",
        suite="s",
        verdict="warn",
        rule="paired",
        reasons=[],
        metrics=[],
        fallen_tasks=tasks,
        improved_tasks=tasks,
        only_in_baseline=[],
        only_in_current=[],
        reworded_tasks=[],
        judges_kept_out={},
        comparability=Comparability(baseline_key="k", current_key="k", differs={}),
    )


@pytest.mark.parametrize(("fallen", "more"), [(20, 0), (23, 2)])
def test_changed_tasks_in_markdown(fallen: int, more: int) -> None:
    template = environment().from_string(
        '{% from "_words.j2" import VERDICTS %}{% set linked = false %}{% include "_gate.md.j2" %}'
    )
    written = template.render(gate=outcome(fallen), address=ReportAddress())
    assert written.count("\n- and 3 more\n") == more
    assert written.count("\n- t19: overall") == 2 and "t20" not in written


def test_constraints_on_the_terminal() -> None:
    broken = [
        ConstraintSummary.model_validate(
            {
                "name": f"c{each}",
                "rule": "never",
                "severity": "error",
                "passed": 0,
                "failed": 1,
                "not_applicable": 0,
                "not_checked": 0,
                "unchecked": None,
            }
        )
        for each in range(12)
    ]
    lines = list(constraint_lines(ConstraintsSummary(constraints=broken, violating_trajectories=1)))
    assert (len(lines), lines[-1]) == (12, ("", "and 2 more"))


def use(failed: int, trials: int) -> ToolUse:
    cases = [
        CaseSummary.model_construct(case_id=f"c{each}", passed=False, score=0.25, issues=["a", "b", "c"])
        for each in range(min(failed, 11))
    ]
    rates = [TrialRate(k=k, pass_at=0.9, pass_hat=0.5, n_tasks=7) for k in range(1, trials + 1)]
    return ToolUse.model_construct(
        suite="s",
        runs=failed + 3,
        passed=3,
        pass_rate=0.2,
        failed_total=0,
        cases=cases,
        trials=rates,
    )


def test_failed_runs_of_a_suite_on_the_terminal() -> None:
    lines = list(suite_lines(use(failed=15, trials=1)))
    assert lines[0] == ("suite", "s: 3 of 18 runs of 7 tasks passed (20.0%)")
    assert lines[1] == ("  failed", "c0 0.250 a; b; …")
    assert (len(lines), lines[-1]) == (12, ("", "and 5 more"))
    assert len(list(suite_lines(use(failed=10, trials=1)))) == 11


def test_repeated_trials_of_a_suite_on_the_terminal() -> None:
    assert ("  pass^3", "0.500 over 7 cases") in list(suite_lines(use(failed=0, trials=3)))
    assert len(list(suite_lines(use(failed=0, trials=1)))) == 1
