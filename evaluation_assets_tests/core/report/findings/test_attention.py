"""What a report says to look at first."""

from typing import Any

from evaluation_assets.core.gating.outcome import ChangedTask, GateOutcome
from evaluation_assets.core.report.findings.attention import look_at_first
from evaluation_assets.core.report.headline import Headline, rate
from evaluation_assets.core.report.report import ClipSummary, CriterionSummary, DropReport, JudgeSummary, Place
from evaluation_assets.core.report.scores.distributions import statistic
from evaluation_assets.core.sections.findings.summary import FindingsSummary, RunToLookAt


def task(name: str, now: float, beyond_noise: bool) -> ChangedTask:
    return ChangedTask(task_id=name, metric="success", baseline=1.0, current=now, beyond_noise=beyond_noise)


def report(**fields: Any) -> DropReport:
    success = rate("success", {"a": [True], "b": [False]}, runs=2)
    known = Headline.model_construct(rates=[] if success is None else [success])
    return DropReport.model_construct(
        **{"headline": known, "judges": [], "criteria": [], "tool_use": None, "worst_clips": [], **fields}
    )


CLIP = ClipSummary.model_construct(trajectory_id="a/b", clip_index=2, tool_type="search", tool_name=None, score=0.1)
FOUND = FindingsSummary.model_construct(
    to_look_at=[
        RunToLookAt(trajectory_id="c d", clip_index=4, titles=["Loop", "Cut off", "Refusal", "Open request"]),
        RunToLookAt(trajectory_id="e", clip_index=None, titles=["Loop"]),
    ]
)


def test_regressions_come_first_those_beyond_noise_before_larger_ones() -> None:
    gate = GateOutcome.model_construct(fallen_tasks=[task("x", 0.0, False), task("y z", 0.5, True)])
    judge = JudgeSummary.model_construct(shortfall="judge one gave no answer")
    found = look_at_first(report(gate=gate, judges=[judge], worst_clips=[CLIP], findings=FOUND))
    assert [(pointer.text, pointer.address) for pointer in found] == [
        ("2 tasks fell; task y z: success from 1.00 to 0.50", "#/compare/y%20z"),
        ("judge one gave no answer", "#judges"),
        ("c d: Loop, Cut off, Refusal and 1 more", "#/run/c%20d?clip=4"),
    ]


def test_a_tool_that_never_worked_comes_before_all() -> None:
    gate = GateOutcome.model_construct(fallen_tasks=[task("x", 0.0, False)])
    found = look_at_first(report(gate=gate, broken_tools=["issue_refund"]))
    assert [(pointer.text, pointer.address) for pointer in found] == [
        ("Every call of issue_refund failed", "#/runs?q=failed%3A%22issue_refund%22"),
        ("1 task fell; task x: success from 1.00 to 0.00", "#/compare/x"),
    ]


def test_runs_with_grave_findings_come_before_the_worst_clip() -> None:
    found = look_at_first(report(worst_clips=[CLIP], findings=FOUND))
    assert [pointer.address for pointer in found] == ["#/run/c%20d?clip=4", "#/run/e"]


def test_without_findings_it_is_the_worst_clip() -> None:
    found = look_at_first(report(headline=Headline.model_construct(rates=[]), worst_clips=[CLIP]))
    assert [pointer.address for pointer in found] == ["#/run/a%2Fb?clip=2"]
    assert look_at_first(report(headline=Headline.model_construct(rates=[]))) == []


def own(name: str, lowest: float) -> CriterionSummary:
    return CriterionSummary(
        level="trajectory",
        criterion=name,
        statistic=statistic([lowest, 1.0]),
        lowest=Place(trajectory_id=f"run of {name}"),
    )


def test_the_lowest_score_of_own_criteria_comes_before_findings_if_it_is_low() -> None:
    criteria = [own("polite", 0.4), own("brief", 0.0), own("task_completion", 0.0)]
    found = look_at_first(report(criteria=criteria, findings=FOUND))
    assert [(pointer.text, pointer.address) for pointer in found][:2] == [
        ("run of brief: brief 0.00", "#/run/run%20of%20brief"),
        ("c d: Loop, Cut off, Refusal and 1 more", "#/run/c%20d?clip=4"),
    ]
    assert look_at_first(report(criteria=[own("polite", 0.5)])) == []
