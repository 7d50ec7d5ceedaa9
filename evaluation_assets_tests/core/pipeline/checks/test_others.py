"""Findings about deliveries, labels, drift, sessions and suites."""

from pathlib import Path

import pytest

from evaluation_assets.core.intake.facts import SuiteFacts
from evaluation_assets.core.lake.stored import Stored
from evaluation_assets.core.lake.tables import SESSION_ANALYSES, TOOL_USE_RESULTS
from evaluation_assets.core.lake.tables.findings import FINDINGS
from evaluation_assets.core.lake.tables.ingest import RAW_TRAJECTORIES
from evaluation_assets.core.pipeline.checks.finding import Finding
from evaluation_assets.core.pipeline.checks.findings import quotations_hold
from evaluation_assets.core.pipeline.checks.gating import no_drift
from evaluation_assets.core.pipeline.checks.human_review import may_gate, readable
from evaluation_assets.core.pipeline.checks.sessions import coordinated, sessions_judged, unauthorised_calls
from evaluation_assets.core.pipeline.checks.suites import suite_pass_rate
from evaluation_assets.core.report.sinks.delivering import Tally, delivered
from evaluation_assets.core.review.labels import Label, UnreadableLabel
from evaluation_assets.core.scoring.analysed_sessions import PANEL
from evaluation_assets.core.sections.findings.evidence.course import LONGEST_QUOTATION
from evaluation_assets_tests.core.stored_rows import stored


def test_a_quotation_is_the_beginning_of_its_place(tmp_path: Path) -> None:
    text = "word " * 100
    raw = stored(tmp_path, RAW_TRAJECTORIES, [{"trajectory_id": "t", "text": text}])

    def holds(start: int, end: int, evidence: str) -> bool:
        row = {"trajectory_id": "t", "kind": "loop", "start": start, "end": end, "evidence": evidence}
        return quotations_hold(stored(tmp_path, FINDINGS, [row]), raw).passed

    assert holds(0, 500, text[:LONGEST_QUOTATION]) and holds(0, 9, text[:9])
    assert not holds(0, 500, text[:9]) and not holds(1, 500, text[:LONGEST_QUOTATION]) and not holds(0, 9, text[:8])


def test_what_was_not_delivered_is_a_warning() -> None:
    assert delivered(Tally(sent=2)).passed
    found = delivered(Tally(sent=2, failed=1, reason="HTTP 500"))
    assert (found.passed, found.severity) == (False, "warn")
    assert found.description == "1 delivery failed: HTTP 500"


def test_unreadable_labels_are_named() -> None:
    assert readable([], {}).passed
    found = readable([UnreadableLabel("a.csv", each, "label missing") for each in range(2, 40)], {})
    assert (found.passed, found.severity) == (False, "warn")
    assert found.description == "38 of 38 lines are not labels: a.csv:2: label missing."
    assert (found.metadata["unreadable"], len(found.metadata)) == (38, 23)


def test_labels_of_runs_that_were_not_evaluated_are_named() -> None:
    labels = [
        Label(
            drop="d", trajectory_id=run, criterion="passed", annotator="a", label=1, comment="", source="a.csv", line=n
        )
        for n, run in enumerate(["t1", "tl"], 2)
    ]
    assert readable(labels[:1], {("d", "t1")}).passed
    found = readable(labels, {("d", "t1")})
    assert (found.passed, found.severity) == (False, "warn")
    assert found.description == ("1 of 2 lines label runs that were not evaluated: a.csv:3: drop d has no run tl.")
    assert found.metadata["unknown_runs"] == 1


def test_judges_that_may_not_gate_are_named() -> None:
    nearly = may_gate([{"judge": "a", "may_gate": False, "kappa": -0.001}], 0.6)
    assert str(nearly.description).endswith(": a 0.00.")
    rows = [{"judge": "a", "may_gate": False, "kappa": 0.2}, {"judge": "b", "may_gate": None, "kappa": None}]
    found = may_gate(rows, 0.6)
    assert (found.passed, found.metadata) == (False, {"kappa_a": 0.2})
    assert found.description == "1 of 2 judges are excluded from gates (kappa below 0.6): a 0.20."
    assert may_gate(rows[1:], 0.6).passed


def test_metrics_that_fell_lastingly_are_named() -> None:
    rows = [{"suite": "s", "metric": "overall", "alarm": "cusum"}, {"suite": "s", "metric": "success", "alarm": None}]
    assert no_drift(rows).description == "s overall has fallen (cusum)"
    assert not no_drift(rows).passed and no_drift(rows[1:]).passed
    dearer = [{"suite": "s", "metric": "cost_usd", "alarm": "cusum"}]
    assert no_drift(dearer).description == "s cost_usd has risen (cusum)"


def analyses(folder: Path, *rows: dict[str, object]) -> Stored:
    whole = ({"session_id": str(number), "analyst": PANEL, **row} for number, row in enumerate(rows))
    return stored(folder, SESSION_ANALYSES, whole)


@pytest.mark.parametrize(("judged", "passed"), [(9, True), (8, False)])
def test_nine_of_ten_responses_need_a_judge(tmp_path: Path, judged: int, passed: bool) -> None:
    rows = analyses(
        tmp_path,
        {"responses": 10, "judged_responses": judged},
        {"responses": 90, "judged_responses": 90, "analyst": "one judge alone"},
    )
    assert sessions_judged(rows).passed == passed
    assert sessions_judged(rows, lambda _: False).passed, "nobody was asked"
    assert sessions_judged(analyses(tmp_path)) == Finding(
        True, "No session has a response to judge.", {"responses": 0, "judged": 0}
    )


def test_calls_of_tools_that_an_agent_does_not_have_are_counted(tmp_path: Path) -> None:
    found = unauthorised_calls(analyses(tmp_path, {"unauthorized_calls": 2}, {"unauthorized_calls": 0}))
    assert (found.passed, found.metadata) == (False, {"calls": 2, "sessions": 1})
    none = unauthorised_calls(analyses(tmp_path, {"unauthorized_calls": 0}))
    assert none.passed and none.description == "No agent called a tool that it does not have, in 1 session."


def test_only_sessions_of_several_agents_are_coordinated(tmp_path: Path) -> None:
    assert coordinated(analyses(tmp_path, {"coordination_score": None})).passed
    assert coordinated(analyses(tmp_path, {"coordination_score": 0.9}, {"coordination_score": None})).passed
    found = coordinated(analyses(tmp_path, {"coordination_score": 0.1}))
    assert (found.passed, found.severity, found.metadata) == (False, "warn", {"sessions": 1, "coordination": 0.1})
    assert "keep to their roles" in (found.description or "") and "section Sessions" in (found.description or "")


def results(folder: Path, *rows: tuple[str, str | None, bool | None], least: float = 0.5) -> Stored:
    issues = [{"kind": "wrong_answer"}]
    fields = stored_issue_fields()
    whole = (
        {
            "case_id": case,
            "trajectory_id": run,
            "passed": passed,
            "issues": [dict.fromkeys(fields) | issue for issue in issues] if passed is False else [],
        }
        for case, run, passed in rows
    )
    facts = SuiteFacts(suite="sums", min_pass_rate=least).footer()
    return stored(folder, TOOL_USE_RESULTS, whole, **facts)


def stored_issue_fields() -> list[str]:
    kind = TOOL_USE_RESULTS.schema.field("issues").type.value_type
    return [kind.field(index).name for index in range(kind.num_fields)]


def test_enough_runs_of_a_suite_have_to_pass(tmp_path: Path) -> None:
    found = suite_pass_rate(results(tmp_path, ("a", "1", True), ("b", "2", False)))
    assert found.passed and found.metadata["pass_rate"] == 0.5
    assert found.metadata["failing"] == {"b": ["wrong_answer"]}
    assert not suite_pass_rate(results(tmp_path, ("a", "1", True), ("b", "2", False), least=0.51)).passed


def test_a_case_that_was_not_run_fails_the_suite_and_one_that_the_infrastructure_failed_too(tmp_path: Path) -> None:
    found = suite_pass_rate(results(tmp_path, ("a", "1", True), ("b", None, None)))
    assert not found.passed and "1 case not run, or ended with an error: b." in str(found.description)
    found = suite_pass_rate(results(tmp_path, ("a", "1", True), ("b", "2", None)))
    assert not found.passed and found.metadata["failed_runs"] == 1
    assert suite_pass_rate(results(tmp_path, ("a", "1", True), ("a", "2", None))).passed, "another run of it passed"


def test_without_a_suite_there_is_nothing_to_pass_and_a_broken_one_fails(tmp_path: Path) -> None:
    assert suite_pass_rate(stored(tmp_path, TOOL_USE_RESULTS, [])).passed
    broken = SuiteFacts(problem="no cases").footer()
    assert not suite_pass_rate(stored(tmp_path, TOOL_USE_RESULTS, [], **broken)).passed
