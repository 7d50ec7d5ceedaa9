"""Findings of other sections in the vocabulary."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, get_args

import pytest

from evaluation_assets.core.sections.findings.finding import Finding, Place
from evaluation_assets.core.sections.findings.finding_rows import finding_rows
from evaluation_assets.core.sections.findings.gathering import CASE_ISSUES, FLAGS, SESSION_ISSUES, findings_of
from evaluation_assets.core.sections.findings.kinds import JUDGED, kinds
from evaluation_assets.core.suites.calls import CUT_OFF
from evaluation_assets.core.suites.case_issues import IssueKind
from evaluation_assets.core.suites.recorded_expectations import unmet_expectations
from evaluation_assets_tests.coding_sessions import ClaudeSession, CodexSession, read
from evaluation_assets_tests.core.sections.findings.finding import asked, run
from evaluation_assets_tests.core.sections.sessions.making import call

READ = call("get_order", '{"status": "sent"}', order_id="W21")
UNKNOWN = call("get_order", None, order_id="W21")


def test_every_issue_has_a_kind() -> None:
    assert set(get_args(IssueKind)) == set(CASE_ISSUES)
    assert set(FLAGS) >= CUT_OFF
    assert {SESSION_ISSUES[each] for each in ("rdm", "ccm", "hallucination", "llm_judge", "intent_drift")} == JUDGED
    mapped = {*filter(None, (*SESSION_ISSUES.values(), *CASE_ISSUES.values())), *FLAGS.values()}
    assert mapped <= set(kinds())


def test_what_a_detector_says_of_a_step_is_not_said_again() -> None:
    issue = {"kind": "same_call", "severity": "LOW", "agent_id": "agent", "turn_index": 0, "interaction": 0}
    issue |= {"step": 1, "evidence": "get_order"}
    (finding,) = findings_of(run(asked("Where?", READ, READ)), session_issues=[issue])
    assert (finding.kind, finding.detector, finding.place.step) == ("repeated_call", "repeated_calls", 1)


def test_two_detectors_count_where_they_quote_other_words() -> None:
    def said(detector: str, *span: int) -> Finding:
        place = Place(turn=0, interaction=0, step=1, span=(span[0], span[1]))
        return Finding(
            kind="contradicted_answer",
            severity="MEDIUM",
            place=place,
            evidence="",
            detector=detector,
            detector_version="1",
        )

    detected = [said("booked", 10, 20), said("answers", 15, 30), said("answers", 20, 30), said("booked", 12, 14)]
    found = findings_of(run(asked("Where?", READ)), detected)
    assert [each.place.span for each in found] == [(10, 20), (20, 30), (12, 14)]


def test_what_a_detector_says_of_a_step_is_not_said_again_of_the_whole_interaction() -> None:
    issue = {"kind": "same_call", "severity": "LOW", "agent_id": "agent", "turn_index": 0, "interaction": 0}
    whole = issue | {"step": None, "evidence": "get_order"}
    (finding,) = findings_of(run(asked("Where?", READ, READ)), session_issues=[whole])
    assert (finding.detector, finding.place.step) == ("repeated_calls", 1)
    other = findings_of(run(asked("Where?", READ, READ)), session_issues=[whole | {"interaction": 1}])
    assert [each.detector for each in other] == ["repeated_calls", "session_analyses"]


def test_a_value_that_contradicts_what_was_given_is_not_said_again_to_be_ungiven() -> None:
    moved = call("update_address", address="11 Harbor Street, Leeds")
    trajectory = run(
        asked("Send it to 11 Harbour Street, Leeds.", moved, answer="It goes to 11 Harbour Street, Leeds.")
    )
    assert [(each.kind, each.evidence) for each in findings_of(trajectory)] == [("contradicted_argument", "Harbor")]


def test_a_broken_rule_is_at_its_call() -> None:
    outcome = {"status": "failed", "severity": "warn", "violations": [{"clip_index": 0, "message": "never read"}]}
    trajectory = run(asked("Where?", READ))
    (finding,) = findings_of(trajectory, constraints=[outcome])
    (row,) = finding_rows("drop", trajectory, [finding])
    assert (row["kind"], row["severity"], row["step"], row["clip_index"]) == ("broken_rule", "MEDIUM", 0, 0)
    assert row["evidence"] == "never read"


def test_a_run_whose_endpoint_failed_says_how() -> None:
    silent = replace(run(asked("Where?", answer="On its way.")), flags=("failed",))
    trajectory = replace(silent, extra={"error": "503 from the model"})
    found = [(each.kind, each.evidence) for each in findings_of(trajectory) if each.detector == "flags"]
    assert found == [("infrastructure_failure", "503 from the model")]
    assert [each.evidence for each in findings_of(silent) if each.detector == "flags"] == ["failed"]


def test_a_run_that_was_cut_off_has_no_second_finding_for_the_answer_that_is_missing() -> None:
    ended = run(asked("Where?", READ, answer=None))
    for flags, expected in ((("no_answer",), ["missing_answer"]), (("step_limit", "no_answer"), ["cut_off"])):
        found = findings_of(replace(ended, flags=flags))
        assert [each.kind for each in found if each.detector == "flags"] == expected
    cut_off = next(each for each in findings_of(replace(ended, flags=("step_limit",))) if each.kind == "cut_off")
    found = findings_of(replace(ended, flags=("no_answer",)), [replace(cut_off, detector="cut_off")])
    assert [each.kind for each in found] == ["cut_off"]


def test_a_log_that_keeps_no_results_does_not_tell_that_an_answer_is_missing() -> None:
    ended = replace(run(asked("Where?", UNKNOWN, UNKNOWN, answer=None)), flags=("no_answer",))
    assert findings_of(ended, []) == []


@pytest.mark.parametrize(
    ("flag", "fields", "severity"),
    [
        ("step_limit", {"success": True}, "LOW"),
        ("step_limit", {"success": True, "final_answer": None}, "HIGH"),
        ("time_limit", {}, "MEDIUM"),
        ("step_limit", {"success": False, "final_answer": None}, "HIGH"),
        ("truncated", {}, "HIGH"),
        ("context_limit", {"success": True}, "HIGH"),
    ],
)
def test_a_limit_is_less_grave_for_a_run_that_succeeded_or_answered(
    flag: str, fields: dict[str, Any], severity: str
) -> None:
    ended = replace(
        run(asked("Where?", READ, answer="On its way.")), **{"flags": (flag,), "final_answer": "x", **fields}
    )
    assert [(each.kind, each.severity) for each in findings_of(ended)] == [("cut_off", severity)]


@pytest.mark.parametrize(
    ("answer", "success", "severities"),
    [
        ("I am unable to answer this question: the search does not respond.", False, ["MEDIUM"]),
        ("Ich kann diese Frage leider nicht beantworten.", False, ["MEDIUM"]),
        ("I am unable to answer this question: the search does not respond.", None, ["LOW"]),
        ("I am unable to cancel it: the policy does not allow it.", True, []),
        ("It is on its way.", False, []),
    ],
)
def test_an_answer_that_says_that_the_agent_could_not_do_it_explains_a_failed_run(
    answer: str, success: bool | None, severities: list[str]
) -> None:
    ended = replace(run(asked("Where?", READ, answer=answer)), success=success, final_answer=answer)
    found = [each for each in findings_of(ended) if each.kind == "refusal"]
    assert [each.severity for each in found] == severities
    assert all(each.evidence == answer for each in found)


@pytest.mark.parametrize(
    ("answer", "fields", "evidence"),
    [
        ("I looked.\nAgent stopped due to max iterations.", {}, "Agent stopped due to max iterations."),
        ("达到最大步数上限。", {}, "达到最大步数上限。"),
        ("On its way.", {}, "step_limit"),
        ("On its way.", {"extra": {"error": "Agent reached maximum iteration."}}, "Agent reached maximum iteration."),
    ],
)
def test_what_says_that_a_run_reached_a_limit_is_quoted(answer: str, fields: dict[str, Any], evidence: str) -> None:
    ended = replace(run(asked("Where?", READ, answer=answer)), flags=("step_limit",), **fields)
    (finding,) = [each for each in findings_of(ended) if each.kind == "cut_off"]
    assert finding.evidence == evidence


def test_what_was_expected_of_a_run_is_found_at_its_call() -> None:
    issue = {"kind": "wrong_parameter", "tool": "get_order", "parameter": "order_id", "hard": True, "call": 1}
    issue |= {"detail": 'expected "W22", got "W21"'}
    other = call("get_order", '{"status": "new"}', order_id="W22")
    trajectory = run(asked("Where are W21 and W22?", other, READ))
    by_case, by_source = findings_of(trajectory, case_issues=[issue]), findings_of(trajectory, unmet=[issue])
    for found, detector in ((by_case, "tool_use_results"), (by_source, "recorded_expectations")):
        (finding,) = [each for each in found if each.detector == detector]
        assert (finding.kind, finding.severity, finding.place.step) == ("wrong_argument", "HIGH", 1)
        assert finding.evidence == 'get_order, order_id: expected "W22", got "W21"'


def test_an_expected_call_that_was_not_made_stands_in_full_at_the_end_of_the_run() -> None:
    gold = [{"name": "book_trip", "arguments": {f"passenger_{number}": f"name {number}" for number in range(50)}}]
    ends = asked("Book it", READ, answer="It is booked."), asked("Book it", READ, answer=None)
    for trajectory, step in zip(map(run, ends), (1, 0), strict=True):
        failed = replace(trajectory, success=False, labels={"expected_calls": gold})
        issues = [asdict(issue) for issue in unmet_expectations(failed)]
        found = [each for each in findings_of(failed, unmet=issues) if each.kind == "missing_call"]
        (row,) = finding_rows("d", failed, found)
        assert row["evidence"].endswith('"passenger_49": "name 49"}, was not made')
        assert (row["turn"], row["step"], row["clip_index"], row["tool"]) == (0, step, step, None)


def test_a_run_that_was_cut_off_without_an_answer_has_no_wrong_one() -> None:
    waiting = run(asked("Where is it?", READ), asked("And the other one?", answer=None))
    asked_on = replace(waiting, turns=(*waiting.turns[:1], replace(waiting.turns[1], interactions=())))
    for trajectory, kinds_found in ((asked_on, {"cut_off"}), (run(asked("Where is it?", READ)), {"wrong_answer"})):
        failed = replace(trajectory, success=False, reference_answer="Oslo", final_answer="Bergen")
        issues = [asdict(issue) for issue in unmet_expectations(failed)]
        assert [issue["kind"] for issue in issues] == ["wrong_answer"]
        assert {each.kind for each in findings_of(failed, unmet=issues)} == kinds_found


@pytest.mark.parametrize(
    ("kind", "answer", "objection", "expected"),
    [
        ("refusal", "I cannot cancel it.", "I see.", {True: 0, False: 1, None: 1}),
        ("ignored_result", "It is on its way.", "I see.", {True: 0, False: 1, None: 1}),
        ("rdm", "It was booked.", "There must be some mistake.", {True: 0, False: 1, None: 1}),
        ("rdm", "It was booked on May 2.", "Not on May 2!", {True: 1, False: 1, None: 1}),
        ("rdm", "I'm unable to cancel it.", "Please check again.", {True: 0, False: 0, None: 0}),
    ],
)
def test_an_issue_of_a_session_is_no_fault_where_the_run_was_right(
    kind: str, answer: str, objection: str, expected: dict[bool | None, int]
) -> None:
    issue = {"kind": kind, "severity": "LOW", "agent_id": "agent", "turn_index": 0, "interaction": 0}
    issue |= {"step": None, "evidence": objection}
    session = run(asked("Cancel it.", READ, answer=answer), asked(objection, answer="Goodbye."))
    for success, number in expected.items():
        found = findings_of(replace(session, success=success), session_issues=[issue])
        assert [each.detector for each in found].count("session_analyses") == number


REMOVE = {"command": "rm -rf build"}


@pytest.mark.parametrize(
    "session",
    [
        ClaudeSession().user("Go.").bash("ls", "a.py").denied("Bash", REMOVE).interrupted(),
        ClaudeSession().user("Go.").bash("ls", "a.py").denied("Bash", REMOVE),
        ClaudeSession().user("Go.").says("Done.").user("Again.").says("Now.").denied("Bash", REMOVE).interrupted(),
        ClaudeSession().user("Go.").bash("ls", "a.py").interrupted(),
        ClaudeSession().user("Go.").bash("make", "no rule", code=2).interrupted(),
        CodexSession().user("Go.").run("ls", "a.py").run("sleep 99", "aborted by user after 2.0s", code=130).aborted(),
        CodexSession().user("Go.").says("Done.").user("On.").run("sleep 99", "aborted by user after 2s", code=130),
    ],
)
def test_what_the_user_stops_is_no_failure_of_the_agent(tmp_path: Path, session: ClaudeSession | CodexSession) -> None:
    stopped = read(tmp_path, session.text(), "codex" if isinstance(session, CodexSession) else "claude_code")
    assert [finding.kind for finding in findings_of(stopped)] == []


@pytest.mark.parametrize("is_denied", [True, False])
def test_a_turn_that_the_user_ends_makes_no_progress_by_their_own_doing(tmp_path: Path, is_denied: bool) -> None:
    session = ClaudeSession().user("Go.")
    session = session.denied("Bash", REMOVE) if is_denied else session.bash("ls", "a.py")
    stopped = read(tmp_path, session.user("Use make.").bash("make", "ok").says("Made.").text(), "claude_code")
    issue = {"kind": "llm_judge", "severity": "MEDIUM", "agent_id": "claude-code", "turn_index": 0, "interaction": 0}
    found = findings_of(stopped, session_issues=[issue | {"step": None, "evidence": "Go."}])
    assert [finding.kind for finding in found] == ([] if is_denied else ["no_progress"])


@pytest.mark.parametrize(
    ("said", "kinds"),
    [
        ("I have removed the build folder.", ["ignored_error"]),
        ("I have not removed the build folder.", []),
        ("I have stopped. How shall I go on?", []),
        ("Understood, I've cancelled the clean-up.", []),
    ],
)
def test_a_denied_call_that_the_agent_says_it_has_made_is_no_excuse(
    tmp_path: Path, said: str, kinds: list[str]
) -> None:
    session = ClaudeSession().user("Go.").denied("Bash", REMOVE).says(said)
    assert [finding.kind for finding in findings_of(read(tmp_path, session.text(), "claude_code"))] == kinds


def test_an_agent_that_goes_on_after_a_denied_call_and_stops_itself_gives_no_answer(tmp_path: Path) -> None:
    session = ClaudeSession().user("Go.").denied("Bash", REMOVE).bash("rm a.py", "rm: no such file", code=1)
    kinds = [finding.kind for finding in findings_of(read(tmp_path, session.text(), "claude_code"))]
    assert "missing_answer" in kinds
