"""Kinds of findings as metrics of the gate."""

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner
from pydantic import ValidationError

from evaluation_assets.cli.main import main
from evaluation_assets.core.gating.baselines import floors_of
from evaluation_assets.core.gating.gate import decide
from evaluation_assets.core.gating.outcome import GateOutcome
from evaluation_assets.core.gating.settings import GateSettings
from evaluation_assets.core.gating.task_metrics import DropMetrics
from evaluation_assets.core.pipeline.checks.gating import regression_gate
from evaluation_assets.core.report.gate.gate_formats import as_json, as_junit, as_text
from evaluation_assets_tests.core.gating.test_gate import KEY, baseline, drop

TASKS = 40
WARNING = "finding.loop +0.500 on 40 tasks (p < 0.001); it gates if gate.yaml names it in metrics"
GATED = GateSettings(metrics=("success", "finding.loop"))


def runs(loops: int, *, detectors: str = "1") -> DropMetrics:
    """Runs that all succeed, the first of which loop; without any, the drop has no such metric."""
    of_tasks = {f"t{number}": float(number < loops) for number in range(TASKS)}
    found = {"finding.loop": of_tasks} if loops else {}
    return drop({"success": dict.fromkeys(of_tasks, 1.0), **found}, detectors=detectors)


def gate(before: DropMetrics, after: DropMetrics, settings: GateSettings = GATED) -> GateOutcome:
    outcome = decide(baseline(before), after, settings)
    assert outcome is not None
    return outcome


def test_more_runs_with_a_named_kind_fail_and_fewer_pass() -> None:
    worse, better = gate(runs(0), runs(20)), gate(runs(20), runs(0))
    assert (worse.verdict, better.verdict) == ("fail", "pass")
    assert worse.reasons[0].startswith("finding.loop +0.500 on 40 tasks")
    compared = {each.metric: each for each in worse.metrics}["finding.loop"]
    assert (compared.baseline, compared.current, compared.difference) == (0.0, 0.5, 0.5)
    assert compared.ci_low is not None and compared.ci_high is not None
    assert 0.3 < compared.ci_low < 0.5 < compared.ci_high < 0.7
    (fewer,) = [each for each in better.metrics if each.metric == "finding.loop"]
    assert fewer.difference == -0.5 and fewer.ci_high is not None and fewer.ci_high < 0
    assert worse.fallen_tasks == [] == better.improved_tasks


def test_a_kind_that_neither_run_has_is_unchanged() -> None:
    assert gate(runs(0), runs(0)).verdict == "pass"


def test_kinds_that_are_not_named_warn_beyond_noise() -> None:
    """A tool that fails in half of the runs passed, where these ended well all the same."""
    outcome = gate(runs(0), runs(20), GateSettings())
    assert (outcome.verdict, [each.metric for each in outcome.metrics]) == ("warn", ["success"])
    assert outcome.reasons == [
        "success: unchanged on 40 tasks; a decrease of 0.072 would have shown (95% confidence)",
    ]
    assert outcome.warnings == [WARNING]
    for before, after in ((runs(0), runs(2)), (runs(20), runs(0)), (runs(20), runs(20, detectors="2"))):
        assert gate(before, after, GateSettings()).verdict == "pass"


def test_what_does_not_gate_is_no_reason_of_a_failure_but_a_warning_beside_it() -> None:
    """A failed gate listed two reasons, one of which did not gate, and JUnit had both in its failure."""
    after = runs(20)
    fails = {**after.metrics, "success": drop({"success": dict.fromkeys(after.tasks, 0.0)}).metrics["success"]}
    outcome = gate(runs(0), replace(after, metrics=fails), GateSettings())
    assert outcome.verdict == "fail" and len(outcome.reasons) == 1 and outcome.reasons[0].startswith("success")
    assert outcome.warnings == [WARNING]
    assert f"  - warning: {WARNING}" in as_text(outcome).splitlines()
    assert json.loads(as_json(outcome))["warnings"] == [WARNING]
    junit = ElementTree.fromstring(as_junit(outcome))
    assert [each.get("message") for each in junit.iter("failure")] == [outcome.reasons[0], outcome.reasons[0]]
    assert WARNING in "".join(each.text or "" for each in junit.iter("system-out"))
    assert f"warning: {WARNING}" in (regression_gate(outcome, GateSettings()).description or "")
    (warned,) = [
        case.findtext("system-out")
        for case in ElementTree.fromstring(as_junit(gate(runs(0), after, GateSettings()))).iter("testcase")
        if case.get("name") == "regression gate"
    ]
    assert warned is not None and warned.startswith("warn: success") and warned.endswith(f"warning: {WARNING}")


def test_other_detectors_are_not_compared() -> None:
    outcome = gate(runs(20, detectors="1"), runs(0, detectors="2"))
    assert outcome.verdict == "inconclusive"
    assert outcome.reasons == [
        "finding.loop: the runs were searched by other detectors than those of the baseline; promote it again"
    ]


@pytest.mark.parametrize(("loops", "verdict"), [(0, "pass"), (2, "pass"), (8, "fail")])
def test_a_limit_is_the_largest_share_of_runs_with_or_without_a_baseline(loops: int, verdict: str) -> None:
    settings = GateSettings(floors={"finding.loop": 0.1})
    outcome = decide(None, runs(loops), settings)
    assert outcome is not None and outcome.verdict == verdict
    assert gate(runs(0), runs(loops), settings).verdict == verdict
    if verdict == "fail":
        assert outcome.reasons[0] == "finding.loop 0.2 over 40 tasks is above its limit of 0.1"


@pytest.mark.parametrize(("loops", "verdict"), [(3, "pass"), (5, "fail")])
def test_a_tolerance_is_above_the_baseline(loops: int, verdict: str) -> None:
    settings = GateSettings(rule="tolerance", metrics=("finding.loop",), tolerance=0.06)
    assert gate(runs(1), runs(loops), settings).verdict == verdict


def test_a_baseline_of_several_drops_has_the_kinds_of_any() -> None:
    made = baseline(runs(0), runs(20))
    assert made.metrics["finding.loop"].mean == 0.25
    assert baseline(runs(0), runs(20, detectors="2")).detectors == ""


def test_findings_without_a_judge_are_compared_when_a_judge_was_added() -> None:
    """They were not, and a drop whose runs all loop was incomparable, exit status 0.

    What judges say of turns is not compared, and does not make the levels of the others stricter.
    """
    added = {**KEY, "judge new": "m 4"}
    worse = gate(runs(0), replace(runs(20), comparability=added))
    assert worse.verdict == "fail" and worse.reasons[0].startswith("finding.loop +0.500 on 40 tasks")
    judged = ("finding.user_correction", "overall", "session.overall")
    both = GateSettings(metrics=("success", "finding.loop", *judged))
    scored = [
        replace(each, metrics={**each.metrics, **dict.fromkeys(judged, each.metrics["success"])}, comparability=key)
        for each, key in ((runs(0), KEY), (runs(6), added))
    ]
    outcome = gate(scored[0], scored[1], both)
    assert [each.metric for each in outcome.metrics] == ["success", "finding.loop"]
    alone = gate(runs(0), runs(6))
    assert [each.p_adjusted for each in outcome.metrics] == [each.p_adjusted for each in alone.metrics]


def test_a_kind_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValidationError, match="no kind of finding is called lop; choose one of: unknown_tool"):
        GateSettings(metrics=("finding.lop",))
    with pytest.raises(ValidationError, match="lop"):
        GateSettings(floors={"finding.lop": 0.1})


def test_a_drop_whose_runs_loop_more_than_those_of_the_baseline_fails_its_run(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "gate.yaml").write_text("gate: {metrics: [finding.loop]}")
    for name, calls in (("before", 1), ("after", 4)):
        (tmp_path / f"{name}.jsonl").write_text("".join(_record(number, calls) for number in range(12)))

    def invoke(*arguments: str) -> int:
        return CliRunner().invoke(main, [*arguments, "--home", str(home)]).exit_code

    assert invoke("evaluate", str(tmp_path / "before.jsonl"), "--as", "s/before", "--quiet") == 0
    assert invoke("baseline", "promote", "s/before") == 0
    assert invoke("evaluate", str(tmp_path / "after.jsonl"), "--as", "s/after", "--quiet") == 1
    report = json.loads((home / "reports" / "s" / "after" / "report.json").read_text())
    (compared,) = [each for each in report["gate"]["metrics"] if each["metric"] == "finding.loop"]
    assert (compared["verdict"], compared["baseline"], compared["current"]) == ("fail", 0.0, 1.0)
    (kind,) = [each for each in report["findings"]["kinds"] if each["kind"] == "loop"]
    assert (kind["share"], kind["earlier_share"]) == (1.0, 0.0)
    assert "+100.0 points" in (home / "reports" / "s" / "after" / "report.md").read_text()


def test_the_terminal_counts_a_warning_apart_from_the_reasons(tmp_path: Path) -> None:
    for name, calls in (("before", 1), ("after", 4)):
        (tmp_path / f"{name}.jsonl").write_text("".join(_record(number, calls) for number in range(12)))
    home = ("--home", str(tmp_path / "home"))
    CliRunner().invoke(main, ["evaluate", str(tmp_path / "before.jsonl"), "--as", "s/before", "--quiet", *home])
    CliRunner().invoke(main, ["baseline", "promote", "s/before", *home])
    evaluated = ["evaluate", str(tmp_path / "after.jsonl"), "--as", "s/after", "--quiet", *home]
    (gate,) = [line for line in CliRunner().invoke(main, evaluated).output.splitlines() if line.startswith("  gate ")]
    assert gate.endswith("; 1 warning") and "more reason" not in gate, gate


def _record(task: int, calls: int) -> str:
    messages: list[dict] = [{"role": "user", "content": f"Where is parcel {task}?"}]
    for number in range(calls):
        call = {"id": f"c{number}", "type": "function", "function": {"name": "find", "arguments": '{"parcel": 7}'}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": "not on the way yet"})
    messages.append({"role": "assistant", "content": "It is not on the way yet."})
    return json.dumps({"task_id": f"t{task}", "messages": messages}) + "\n"


def test_a_figure_of_findings_is_an_upper_limit() -> None:
    figures = {"finding.loop": 0.5, "success": 0.9, "cost_usd": 2.0, "finding.cut_off": 0.98}
    assert floors_of(figures, GateSettings()) == pytest.approx(
        {"finding.loop": 0.55, "success": 0.85, "cost_usd": 2.2, "finding.cut_off": 1.0}
    )


@pytest.mark.parametrize(
    "floors", [{"success": float("nan")}, {"success": 95}, {"finding.loop": 40}, {"success": -0.1}]
)
def test_a_limit_that_no_share_can_reach_is_refused(floors: dict[str, float]) -> None:
    with pytest.raises(ValidationError, match=r"it has to be|finite number"):
        GateSettings(floors=floors)
