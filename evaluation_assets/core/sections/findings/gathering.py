"""Findings of other sections, translated into the vocabulary."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.sections.findings.detecting import detected
from evaluation_assets.core.sections.findings.evidence.course import LONGEST_QUOTATION, Course, quotation
from evaluation_assets.core.sections.findings.evidence.cues import cues
from evaluation_assets.core.sections.findings.evidence.values import values_in
from evaluation_assets.core.sections.findings.finding import Finding, Place, Severity
from evaluation_assets.core.sections.findings.kinds import kinds
from evaluation_assets.core.suites.refusals import is_refusal
from evaluation_assets.core.traces.trajectories.model import Trajectory

JudgedClaim = tuple[str, str, str]
"""A judge, a claim of the final answer, and the words of the run that contradict it, as the judge quotes both."""

GATHERING_VERSION = "20"

MISSING_CALL = "missing_call"
_AT_THE_END = frozenset({MISSING_CALL, "wrong_answer", "missing_content"})
"""Kinds of findings that are placed at the last step: what a run lacks could be made or said up to its end."""

_OF_CASE, _OF_SOURCE = "tool_use_results", "recorded_expectations"
ABOUT_OUTCOME = frozenset((_OF_CASE, _OF_SOURCE))
"""Whose findings say that a run failed by what was expected of it: its test case, and what its source recorded."""

SESSION_ISSUES: Mapping[str, str | None] = {
    "unauthorized_tool": "unknown_tool",
    "hallucinated_parameter": "unknown_parameter",
    "missing_parameter": "missing_parameter",
    "invalid_parameter": "invalid_argument",
    "ungrounded_value": "unsupported_argument",
    "open_error": None,
    "ignored_result": "ignored_result",
    "same_call": "repeated_call",
    "duplicate_work": "repeated_call",
    "unchanged_retry": "repeated_call",
    "same_message": "repeated_message",
    "ping_pong": "loop",
    "missing_context": "missing_context",
    "refusal": "refusal",
    "stall": "no_progress",
    "rdm": "user_correction",
    "ccm": "user_re_ask",
    "hallucination": "contradicted_answer",
    "llm_judge": "no_progress",
    "intent_drift": "task_derailment",
}
"""Kinds of findings by kind of a session's issue, which includes the validation of calls.

Open errors are none: a detector has them in every run.
"""

CASE_ISSUES: Mapping[str, str | None] = {
    MISSING_CALL: MISSING_CALL,
    "wrong_tool": "unsuitable_tool",
    "unnecessary_call": "unnecessary_call",
    "repeated_call": "unnecessary_call",
    "call_not_allowed": "unnecessary_call",
    "too_many_calls": "exceeded_budget",
    "loop": "loop",
    "missing_parameter": "missing_parameter",
    "wrong_parameter": "wrong_argument",
    "invalid_parameter": "invalid_argument",
    "forbidden_parameter": "unknown_parameter",
    "unexpected_parameter": "unknown_parameter",
    "unknown_tool": "unknown_tool",
    "schema_defect": "invalid_argument",
    "not_checked": None,
    "dangling_reference": "unsupported_argument",
    "wrong_order": "wrong_order",
    "missing_keywords": "missing_content",
    "wrong_answer": "wrong_answer",
    "not_found": "wrong_answer",
    "failing_tests": "failing_tests",
    "not_completed": "missing_answer",
    "latency_over_budget": "exceeded_budget",
    "cost_over_budget": "exceeded_budget",
    "infrastructure": "infrastructure_failure",
}
"""Kinds by kind of a case's issue, of which failure patterns are made. What could not be checked is no finding."""

FLAGS: Mapping[str, str] = {
    "step_limit": "cut_off",
    "call_limit": "cut_off",
    "cost_limit": "cut_off",
    "time_limit": "cut_off",
    "user_limit": "cut_off",
    "context_limit": "cut_off",
    "truncated": "cut_off",
    "refused": "refusal",
    "failed": "infrastructure_failure",
    "no_answer": "missing_answer",
}
"""Kinds by flag of how a run ended."""


def findings_of(
    trajectory: Trajectory,
    detections: Iterable[Finding] | None = None,
    *,
    session_issues: Sequence[Row] = (),
    case_issues: Sequence[Row] = (),
    unmet: Sequence[Row] = (),
    constraints: Sequence[Row] = (),
    coding_work: Sequence[Row] = (),
    contradicted: Sequence[JudgedClaim] = (),
) -> list[Finding]:
    """All findings of a run, each once: what a detector says of a step, other sections need not say again.

    `detections` are those of the detectors, by default without knowledge of other runs of the drop. `unmet` are issues
    by the expectations that the source recorded. A run that was cut off without an answer has no wrong one.
    """
    own = list(_without_weaker(list(detected(trajectory) if detections is None else detections)))
    if any(finding.kind == "cut_off" and finding.severity == "HIGH" for finding in own):
        unmet = [issue for issue in unmet if issue["kind"] != "wrong_answer"]
    gathered = (
        *own,
        *_of_flags(trajectory, is_cut_off=any(finding.kind == "cut_off" for finding in own)),
        *_of_refusal(trajectory),
        *_of_session(trajectory, session_issues),
        *_of_case(trajectory, case_issues, _OF_CASE),
        *_of_case(trajectory, unmet, _OF_SOURCE),
        *_of_constraints(trajectory, constraints),
        *_of_coding_work(coding_work),
        *_of_claims(trajectory, contradicted),
    )
    return list(_once(gathered))


def _without_weaker(findings: Sequence[Finding]) -> Iterator[Finding]:
    """Findings, without those that a value was not given where it is known to contradict what was."""
    contradicted = [each.place.span for each in findings if each.kind == "contradicted_argument" and each.place.span]
    for each in findings:
        span = each.place.span if each.kind == "unsupported_argument" else None
        if span is None or not any(span[0] < end and start < span[1] for start, end in contradicted):
            yield each


def _once(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Findings of one kind at one step count once per detector, and of several detectors if they quote other words.

    From other sections they count only if no detector has them. What is said of an interaction as a whole is not said
    again if a detector names a step of it.
    """
    said: dict[tuple[str, int | None, int | None, int | None], list[Finding]] = {}
    for finding in findings:
        place = finding.place
        interaction = finding.kind, place.turn, place.interaction
        known = said.setdefault((*interaction, place.step), [])
        if all(_is_another(finding, each) for each in known):
            known.append(finding)
            said.setdefault((*interaction, None), [finding])
            yield finding


def _is_another(finding: Finding, known: Finding) -> bool:
    """Whether a finding says another thing than a known one of its kind at the same place."""
    own, other = finding.place.span, known.place.span
    apart = own is not None and other is not None and (own[1] <= other[0] or other[1] <= own[0])
    return apart or finding.detector == known.detector


def _of_flags(trajectory: Trajectory, *, is_cut_off: bool) -> Iterator[Finding]:
    """How the run ended. A run that was cut off, by a detector too, has no answer: that is one thing.

    Nor can an agent answer that the user interrupts: readers count interruptions, and do not say which came last.

    Of a run whose source keeps no results, it is not known whether an answer is missing, or was not kept either. One
    that reached its limit with its answer lost little by that, and less if it succeeded.
    """
    kinds_of_end = {flag: FLAGS[flag] for flag in trajectory.flags if flag in FLAGS}
    if "no_answer" in kinds_of_end and (
        is_cut_off
        or "cut_off" in kinds_of_end.values()
        or not trajectory.keeps_results
        or trajectory.extra.get("interruptions")
        or Course(trajectory).was_stopped
    ):
        kinds_of_end.pop("no_answer")
    for flag, kind in kinds_of_end.items():
        is_limit = flag.endswith("_limit")
        error = trajectory.extra.get("error") if flag == "failed" or is_limit else None
        severity: Severity | None = None
        if trajectory.final_answer and is_limit and flag != "context_limit":
            severity = "LOW" if trajectory.success else "MEDIUM"
        place, said = (Place(), None) if error or not is_limit else _said_of_limit(trajectory)
        yield _finding(kind, "flags", place, said or str(error or flag), severity)


def _of_refusal(trajectory: Trajectory) -> Iterator[Finding]:
    """A final answer that says that the task was not done, of a run that is not known to have succeeded."""
    answer = trajectory.final_answer or ""
    if trajectory.success or "refused" in trajectory.flags or not is_refusal(answer):
        return
    severity: Severity = "LOW" if trajectory.success is None else "MEDIUM"
    last = next(reversed(Course(trajectory).messages), None)
    if last is None or not is_refusal(last.text):
        yield _finding("refusal", "flags", Place(), answer[:LONGEST_QUOTATION], severity)
    else:
        end = min(len(last.text), LONGEST_QUOTATION)
        yield _finding("refusal", "flags", last.place(0, end), last.text[:end], severity)


def _said_of_limit(trajectory: Trajectory) -> tuple[Place, str | None]:
    """Where the last message of a run says that it ended at a limit, and the words."""
    for message in Course(trajectory).messages[-1:]:
        if match := cues("limit").search(message.text):
            start, end = quotation(message.text, *match.span())
            return message.place(start, end), message.text[start:end]
    return Place(), None


def _of_session(trajectory: Trajectory, issues: Sequence[Row]) -> Iterator[Finding]:
    last = {placed.turn: placed for placed in Course(trajectory).steps} if issues else {}
    for issue in issues:
        ends_with = last.get(issue["turn_index"])
        if issue["kind"] == "llm_judge" and ends_with is not None and ends_with.was_stopped:
            continue  # the user ended the turn, and waits for no answer
        place = Place(
            turn=issue["turn_index"],
            interaction=issue["interaction"],
            step=issue["step"],
            agent_id=issue["agent_id"],
        )
        kind = SESSION_ISSUES[issue["kind"]]
        if kind is not None and not _is_excused(trajectory, kind, place):
            yield _finding(kind, "session_analyses", place, issue["evidence"], severity=issue["severity"])


def _is_excused(trajectory: Trajectory, kind: str, place: Place) -> bool:
    """Whether the outcome, or the answer that a user objects to, shows that an issue of a session was no fault.

    In a run that succeeded it was right to decline or not to use a result, and a user who objects was not, unless to a
    value of the answer. Nor is it a correction to ask for the same again after a refusal.
    """
    if trajectory.success and kind in ("refusal", "ignored_result"):
        return True
    if kind != "user_correction" or place.turn is None:
        return False
    answer = "\n".join(each.text for each in Course(trajectory).messages if each.turn == place.turn)
    objection = "".join(turn.user_message or "" for turn in trajectory.turns[place.turn + 1 : place.turn + 2])
    values, objected = ({form for value in values_in(text) for form in value.forms} for text in (answer, objection))
    return is_refusal(answer) or (trajectory.success is True and values.isdisjoint(objected))


def _of_case(trajectory: Trajectory, issues: Sequence[Row], source: str) -> Iterator[Finding]:
    calls = Course(trajectory).calls if issues else []
    for issue in issues:
        kind = CASE_ISSUES[issue["kind"]]
        if kind is not None:
            index = issue.get("call")  # tables of earlier versions have none
            end = _end(trajectory) if kind in _AT_THE_END else Place()
            place = end if index is None else calls[index].place()
            at = "" if issue["parameter"] is None else f"{issue['tool']}, {issue['parameter']}: "
            severity: Severity | None = "HIGH" if issue["hard"] else None
            yield _finding(kind, source, place, f"{at}{issue['detail']}", severity)


def _end(trajectory: Trajectory) -> Place:
    """The last step of a run; nothing of a run without steps."""
    last = next(reversed(Course(trajectory).steps), None)
    return Place() if last is None else last.place()


def _of_constraints(trajectory: Trajectory, outcomes: Sequence[Row]) -> Iterator[Finding]:
    calls = Course(trajectory).calls if outcomes else []
    for outcome in outcomes:
        if outcome["status"] != "failed":
            continue
        severity: Severity = "HIGH" if outcome["severity"] == "error" else "MEDIUM"
        for violation in outcome["violations"]:
            index = violation["clip_index"]
            place = Place() if index is None else calls[index].place()
            yield _finding("broken_rule", "constraint_results", place, violation["message"], severity=severity)


def _of_coding_work(rows: Sequence[Row]) -> Iterator[Finding]:
    for row in rows:
        for said in row["correction_quotes"]:
            yield _finding("user_correction", "coding_work", Place(), said)
        told = {
            "undone_edit": row["edits_undone"] and f"edits undone: {row['edits_undone']}",
            "repeated_read": row["repeated_reads"] and f"{row['most_reread']}, repeated reads: {row['repeated_reads']}",
            "user_interruption": row["interruptions"] and f"interruptions: {row['interruptions']}",
            "denied_call": row["denied_calls"] and f"denied calls: {row['denied_calls']}",
        }
        for kind, message in told.items():
            if message:
                yield _finding(kind, "coding_work", Place(), str(message))


def _of_claims(trajectory: Trajectory, contradicted: Sequence[JudgedClaim]) -> Iterator[Finding]:
    """What judges found in the final answer that the run says otherwise."""
    said = Course(trajectory).messages if contradicted else []
    place = replace(said[-1].place(0, 0), span=None) if said else Place()
    for judge, claim, quote in contradicted:
        yield _finding("contradicted_answer", f"judge {judge}", place, f"{claim} [the run has: {quote}]")


def _finding(kind: str, source: str, place: Place, evidence: str, severity: Severity | None = None) -> Finding:
    return Finding(
        kind=kind,
        severity=severity or kinds()[kind].severity,
        place=place,
        evidence=evidence,
        detector=source,
        detector_version=GATHERING_VERSION,
    )
