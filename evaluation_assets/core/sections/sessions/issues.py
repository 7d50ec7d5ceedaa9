"""Issues of a session, each with its place and evidence."""

import re
from collections.abc import Sequence

from evaluation_assets.core.sections.sessions.analysis import PANEL, Issue
from evaluation_assets.core.sections.sessions.evidence import SessionEvidence
from evaluation_assets.core.sections.sessions.intent_drift import CRITICAL, WARNING, Drift
from evaluation_assets.core.sections.sessions.interactions import SessionInteraction
from evaluation_assets.core.sections.sessions.reactions import is_automatic, is_refusal
from evaluation_assets.core.sections.sessions.repetition import SHORTEST_MESSAGE
from evaluation_assets.core.sections.sessions.session_scores import Detection
from evaluation_assets.core.sections.sessions.tool_validation import Severity, ToolIssue

_QUOTED = 200

_PROMPT = re.compile(r"\A\s*\[[^\[\]]{200,20000}\]\s*(?=\S)")


def issues_of(
    seen: SessionEvidence, detections: Sequence[Detection], drift: Drift, drift_source: str | None
) -> list[Issue]:
    """All issues of a session, ordered by turn and interaction."""
    issues = [
        *(_tool_issue(seen, issue) for issue in seen.issues),
        *_value_issues(seen),
        *_course_issues(seen),
        *_retry_issues(seen),
        *_turn_issues(seen, detections),
        *_drift_issues(seen, drift, drift_source),
    ]
    return sorted(
        issues, key=lambda issue: (-1 if issue.turn_index is None else issue.turn_index, issue.interaction or 0)
    )


def quoted(text: str | None) -> str | None:
    """The beginning of a text, on one line, without a prompt that stands in brackets before what was said."""
    if text is None:
        return None
    text = _PROMPT.sub("", text)
    line = " ".join(text[: _QUOTED * 4].split())
    return line[:_QUOTED] + ("…" if len(line) > _QUOTED else "")


_TOOL_MESSAGES = {
    "unauthorized_tool": "Unauthorised tool {tool} in turn {turn}: it has {available}",
    "hallucinated_parameter": "Tool parameter hallucination in turn {turn}: {tool} has no parameter {names}",
    "missing_parameter": "Missing tool parameter in turn {turn}: {tool} needs {names}",
    "invalid_parameter": "Invalid tool parameter in turn {turn}: wrong type for {tool} ({names})",
}


def _tool_issue(seen: SessionEvidence, issue: ToolIssue) -> Issue:
    step = issue.interaction.steps[issue.step]
    message = _TOOL_MESSAGES[issue.fault].format(
        tool=issue.tool,
        turn=issue.interaction.turn + 1,
        available=", ".join(issue.available) or "none",
        names=", ".join(issue.parameters) or "no JSON object",
    )
    given = seen.trajectory.piece(step.call.raw) if step.call else ""
    return _issue(issue.fault, issue.severity, issue.interaction, issue.step, message, f"{issue.tool} {given}")


def _value_issues(seen: SessionEvidence) -> list[Issue]:
    """Ungrounded identifiers in arguments."""
    issues: list[Issue] = []
    for value in seen.ungrounded:
        part = value.interaction
        step = part.steps[value.step]
        message = f"Ungrounded value in turn {part.turn + 1}: {value.parameter} of {value.tool} occurs nowhere before"
        error = step.result.error if step.result else None
        evidence = f"{value.parameter} = {value.value}" + (f", and the call failed: {error}" if error else "")
        issues.append(_issue("ungrounded_value", value.severity, part, value.step, message, evidence))
    return issues


def _course_issues(seen: SessionEvidence) -> list[Issue]:
    """Unresolved failures, ignored results, loops, and incomplete hand-offs."""
    issues: list[Issue] = []
    for error in seen.progress.errors:
        if error.recovered_at is None:
            what = "noticed but not fixed" if error.noticed else "ignored"
            message = f"Failure of {error.tool} {what} in turn {error.interaction.turn + 1}"
            issues.append(_issue("open_error", "MEDIUM", error.interaction, error.step, message, error.error))
    for ignored in seen.progress.ignored:
        message = f"Result of {ignored.tool} ignored in turn {ignored.interaction.turn + 1}"
        result = ignored.interaction.steps[ignored.step].result
        content = seen.trajectory.piece(result.content) if result else ""
        issues.append(_issue("ignored_result", "LOW", ignored.interaction, ignored.step, message, content))
    for again in seen.repeated:
        if again.kind == "retry":
            continue
        part = seen.parts[again.places[1]]
        message = f"{_REPEATED[again.kind]} in turn {part.turn + 1}, {len(again.places)} times"
        said = _PROMPT.sub("", part.messages)
        what = f"{again.what}: {said}" if again.kind == "ping_pong" else said
        if again.step is not None and (call := part.steps[again.step].call) is not None:
            what = f"{again.what} {seen.trajectory.piece(call.raw)}"
        severity = "MEDIUM" if again.is_loop and again.kind != "same_message" else "LOW"
        issues.append(_issue(again.kind, severity, part, again.step, message, what))
    for finding in seen.handoffs.values():
        if finding.added:
            source, target = finding.handoff.source, finding.handoff.target
            message = f"Hand-off to {target.agent_id} in turn {source.turn + 1} lacked {', '.join(finding.added[:5])}"
            issues.append(_issue("missing_context", "LOW", source, None, message, target.messages))
    issues += [
        _issue("refusal", "LOW", part, None, f"Declined in turn {part.turn + 1}", part.messages)
        for part in seen.parts
        if is_refusal(part.messages)
    ]
    for stall in seen.progress.stalls:
        part = seen.parts[stall[0]]
        message = f"No new text in {len(stall)} interactions from turn {part.turn + 1} on"
        issues.append(_issue("stall", "MEDIUM", part, None, message, part.messages))
    return issues


_REPEATED = {
    "same_call": "The same call again",
    "duplicate_work": "A call that another agent had already made",
    "same_message": "The same message repeated",
    "ping_pong": "Agents alternate without a result",
}


def _retry_issues(seen: SessionEvidence) -> list[Issue]:
    """Unchanged retries after the same error. Other wasted calls are reported by `_course_issues`."""
    issues: list[Issue] = []
    for wasted in seen.tool_chain.wasted:
        if wasted.why == "unchanged_retry":
            part = wasted.interaction
            result = part.steps[wasted.step].result
            message = f"{wasted.tool} called again unchanged after the same error in turn {part.turn + 1}"
            error = (result and result.error) or ""
            issues.append(_issue("unchanged_retry", "LOW", part, wasted.step, message, error))
    return issues


def _turn_issues(seen: SessionEvidence, detections: Sequence[Detection]) -> list[Issue]:
    """Bad responses, attributed to the agent that answered last. The program that runs an agent waits for no answer.

    Users who complain or ask back do not say that the response was wrong: often they dislike what is right. An answer
    that ignores a failure is an open error already.
    """
    issues: list[Issue] = []
    for turn, detected in enumerate(detections):
        if not detected.is_bad:
            continue
        own = seen.parts_of_turn(turn)
        following = seen.trajectory.turns[turn + 1].user_message if turn + 1 < len(seen.trajectory.turns) else None
        by_user, response = detected.type in ("rdm", "ccm"), seen.response(turn)
        if own and len(response) < SHORTEST_MESSAGE:
            response = own[-1].messages or response
        unanswered = not by_user and not response.strip()
        asked = seen.trajectory.turns[turn].user_message
        if unanswered and turn and is_automatic(asked or "", seen.trajectory.turns[turn - 1].user_message, following):
            continue
        if detected.type == "llm_judge" and not unanswered and _ignores_failure(seen, turn):
            continue
        message = _UNANSWERED if unanswered else _BAD_TURNS[detected.type]
        reaction = seen.reactions[turn]
        is_vague = by_user and reaction is not None and reaction.kind in ("complaint", "incomprehension")
        issues.append(
            Issue(
                kind=detected.type,
                severity="LOW" if is_vague else "MEDIUM",
                agent_id=own[-1].agent_id if own else None,
                turn_index=turn,
                interaction=own[-1].position if own else None,
                step=None,
                message=message.format(turn=turn + 1),
                evidence=quoted(following if by_user else asked if unanswered else response) or "(no answer)",
                found_by=PANEL,
            )
        )
    return issues


def _ignores_failure(seen: SessionEvidence, turn: int) -> bool:
    last = next(reversed(seen.errors_of_turn(turn)), None)
    return last is not None and last.recovered_at is None and not last.noticed


_BAD_TURNS = {
    "rdm": "The user corrects the answer of turn {turn}",
    "ccm": "The user asks again what turn {turn} should have answered",
    "hallucination": "The answer of turn {turn} contradicts what is known",
    "llm_judge": "The answer of turn {turn} makes no progress",
}


_UNANSWERED = "Turn {turn} ends without an answer to the user"


def _drift_issues(seen: SessionEvidence, drift: Drift, source: str | None) -> list[Issue]:
    """Drift above the warning level if judged, above the critical level if measured by embeddings, which is rough."""
    least = WARNING if source == PANEL else CRITICAL
    if drift.score is None or drift.score < least or drift.change_point is None:
        return []
    part = seen.parts[drift.change_point]
    severity = "HIGH" if drift.score >= CRITICAL else "MEDIUM"
    message = f"The work drifts from the task in turn {part.turn + 1} ({drift.type.replace('_', ' ')})"
    return [_issue("intent_drift", severity, part, None, message, part.messages or part.thoughts)]


def _issue(
    kind: str, severity: Severity, part: SessionInteraction, step: int | None, message: str, evidence: str
) -> Issue:
    return Issue(
        kind=kind,
        severity=severity,
        **part.place(step),
        message=message,
        evidence=quoted(evidence) or "",
        found_by="rules",
    )
