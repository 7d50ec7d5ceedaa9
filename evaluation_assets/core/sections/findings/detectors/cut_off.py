"""[cut_off] Runs that end at a user's message, in the middle of a call, or with words to an agent who never acts.

So do runs whose last words are lines of their framework: that a limit was reached, or that the provider of the model
gave an error. With an answer after all, they are `MEDIUM`. Code that the last message leaves to be run is no answer.
A user who objects to the work of a coding agent and leaves has cut nothing off: that the agent never answers is less
than what the user objects to, so it is `MEDIUM`. Nor does a user who
stops the last call.
"""

import re
from collections.abc import Iterator

from evaluation_assets.core.sections.coding_work.objections import is_of_client, objects
from evaluation_assets.core.sections.findings.detector import Detected, Detector, in_message, in_step
from evaluation_assets.core.sections.findings.evidence.course import Course, PlacedStep, bounded, quotation
from evaluation_assets.core.sections.findings.evidence.cues import cues
from evaluation_assets.core.sections.findings.evidence.effects import ends_run, may_do_anything
from evaluation_assets.core.sections.findings.evidence.unrun_code import unrun_code
from evaluation_assets.core.sections.findings.finding import Place, Severity
from evaluation_assets.core.suites.calls import CUT_OFF
from evaluation_assets.core.traces.trajectories.model import Span, Turn

_STOP_SIGN = re.compile(r"#{2,}\s?[A-Z][A-Z_ -]+#{2,}|\[(?:END|STOP|DONE)[^\]]*\]|</?(?:end|stop)[\w ]*>|\bTERMINATE\b")
"""How simulated users end a conversation."""

_SUBMITS = re.compile(r"COMPLETE_TASK_AND_SUBMIT|MINI_SWE_AGENT_FINAL_OUTPUT")
"""What SWE agents that have only a shell print at the end."""

_FAILED = re.compile(
    r"^(?:(?:openai|anthropic|litellm|groq|mistralai|cohere|botocore|google\.(?:api_core|genai|generativeai))\.[\w.]+"
    r"|[\w.]+Error: Error code: [45]\d\d)\b[^\n]*",
    re.MULTILINE,
)
"""The last line of a traceback that ends in the client of a provider."""

_TRACEBACK = "Traceback (most recent call last)"
_LONGEST_FAREWELL = 400
_SEVERAL = 2
_LAST = 3
"""Texts at the end of a log in which a framework says why it ended."""

_LONGEST_LOG = 12_000
_LONGEST_LINE = 160
_LINE = re.compile(r"[^\n]+")


def _detect(course: Course) -> Iterator[Detected]:
    """One finding at most. A run whose flags say that it was cut off is reported by its flags."""
    trajectory = course.trajectory
    if not trajectory.turns or not CUT_OFF.isdisjoint(trajectory.flags):
        return
    last = len(trajectory.turns) - 1
    while last and _is_only_polite(trajectory.turns[last]):
        last -= 1
    asked = trajectory.turns[last].user_message
    steps = course.steps
    has_acted = any(trajectory.turns[last].interactions)
    if not has_acted:
        if asked and len(trajectory.turns) > 1 and not _is_farewell(asked) and not is_of_client(asked):
            start, end = quotation(asked, 0, min(len(asked), 1))
            is_left = objects(asked) and any(may_do_anything(made.call) for made in course.calls)
            severity: Severity | None = "MEDIUM" if is_left else None
            yield Detected(kind="cut_off", place=Place(turn=last), evidence=asked[start:end], severity=severity)
        return
    if (ending := _stopped(course) or _handed_to_nobody(course) or _left_to_be_run(course)) is not None:
        yield ending
        return
    if not steps or steps[-1].turn != last or steps[-1].step.call is None or _is_over(steps[-1]):
        return
    placed, messages = steps[-1], course.messages
    is_answered = bool(trajectory.final_answer) or (messages and messages[-1].order > placed.order)
    if placed.step.result is None and not trajectory.final_answer:
        if not trajectory.keeps_results:
            return
        span = placed.arguments_span
        yield Detected(kind="cut_off", place=placed.place(span), evidence=trajectory.piece(span) or placed.call.name)
    elif not is_answered and messages:
        span = placed.result_span
        yield Detected(kind="cut_off", place=placed.place(span), evidence=trajectory.piece(span) or placed.call.name)


def _stopped(course: Course) -> Detected | None:
    """The line at the end of a log by which a framework says why it stopped the run."""
    if course.edits_files:  # whose agents speak of the limits and errors of what they build
        return None
    severity: Severity | None = "MEDIUM" if course.trajectory.final_answer else None
    for placed in reversed(course.steps[-_LAST:]):
        if placed.step.call is not None:
            return None
        for start, end in filter(None, (placed.step.message, placed.step.thought)):
            start = max(start, end - _LONGEST_LOG)
            for first, last in _reasons(course.trajectory.piece((start, end))):
                span = bounded((start + first, start + last))
                return in_step("cut_off", placed, span, severity)
    return None


def _reasons(log: str) -> Iterator[Span]:
    """Where a log states a limit that was reached, or the error of a provider."""
    if cues("limit_reached").may_match(log):
        for line in _LINE.finditer(log):
            if len(line[0]) <= _LONGEST_LINE and cues("limit_reached").matches(line[0]):
                yield line.span()
    traceback = log.find(_TRACEBACK)
    if traceback >= 0 and (failed := _FAILED.search(log, traceback)) is not None:
        yield failed.span()


def _handed_to_nobody(course: Course) -> Detected | None:
    """A last message that begins with the name of another agent, who never acts on it."""
    agents, messages = course.trajectory.agents, course.messages
    if len(agents) < _SEVERAL or not messages or messages[-1].order < len(course.steps) - 1:
        return None
    message = messages[-1]
    for agent in agents:
        for name in {agent.id, agent.name or agent.id} if agent.id != message.agent_id else ():
            if re.match(rf"\W*{re.escape(name)}\s?[:：]\s*\S", message.text, re.IGNORECASE) is not None:
                return in_message("cut_off", message, quotation(message.text, 0, 1))
    return None


def _left_to_be_run(course: Course) -> Detected | None:
    """A last message with code that nobody ran."""
    if (left := unrun_code(course)) is None:
        return None
    return in_message("cut_off", *left)


def _is_over(made: PlacedStep) -> bool:
    """Whether a call ends the run, its command hands the work in, or the user stopped it."""
    return (
        ends_run(made.call)
        or made.was_stopped
        or (may_do_anything(made.call) and _SUBMITS.search(made.arguments_text) is not None)
    )


def _is_only_polite(turn: Turn) -> bool:
    """Whether a user says farewell, and the agent answers with words."""
    steps = (step for interaction in turn.interactions for step in interaction.steps)
    return (
        bool(turn.interactions) and _is_farewell(turn.user_message or "") and all(each.call is None for each in steps)
    )


def _is_farewell(message: str) -> bool:
    """Whether a user ends the conversation: a stop sign, or thanks or goodbye without a question."""
    if _STOP_SIGN.search(message[-_LONGEST_FAREWELL:]):
        return True
    is_short = len(message) <= _LONGEST_FAREWELL
    return is_short and cues("farewell").matches(message) and not cues("question").matches(message)


DETECTOR = Detector(name="cut_off", version="8", kinds=("cut_off",), detect=_detect)
