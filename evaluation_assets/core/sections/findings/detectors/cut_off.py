"""[cut_off] Runs that end at a user's message, in the middle of a call, or with words to an agent who never acts.

A user who objects to the work of a coding agent and leaves has cut nothing off: that the agent never answers is less
than what the user objects to, so it is `MEDIUM`.
"""

import re
from collections.abc import Iterator

from evaluation_assets.core.sections.coding_work.objections import is_of_client, objects
from evaluation_assets.core.sections.findings.detector import Detected, Detector
from evaluation_assets.core.sections.findings.evidence.course import Course, PlacedStep, quotation
from evaluation_assets.core.sections.findings.evidence.cues import cues
from evaluation_assets.core.sections.findings.evidence.effects import ends_run, may_do_anything
from evaluation_assets.core.sections.findings.finding import Place, Severity
from evaluation_assets.core.suites.calls import CUT_OFF
from evaluation_assets.core.traces.trajectories.model import Turn

_STOP_SIGN = re.compile(r"#{2,}\s?[A-Z][A-Z_ -]+#{2,}|\[(?:END|STOP|DONE)[^\]]*\]|</?(?:end|stop)[\w ]*>|\bTERMINATE\b")
"""How simulated users end a conversation."""

_SUBMITS = re.compile(r"COMPLETE_TASK_AND_SUBMIT|MINI_SWE_AGENT_FINAL_OUTPUT")
"""What SWE agents that have only a shell print at the end."""

_LONGEST_FAREWELL = 400
_SEVERAL = 2


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
    if (handed := _handed_to_nobody(course)) is not None:
        yield handed
        return
    if not steps or steps[-1].turn != last or steps[-1].step.call is None or _is_the_end(steps[-1]):
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


def _handed_to_nobody(course: Course) -> Detected | None:
    """A last message that begins with the name of another agent, who never acts on it."""
    agents, messages = course.trajectory.agents, course.messages
    if len(agents) < _SEVERAL or not messages or messages[-1].order < len(course.steps) - 1:
        return None
    message = messages[-1]
    for agent in agents:
        for name in {agent.id, agent.name or agent.id} if agent.id != message.agent_id else ():
            if re.match(rf"\W*{re.escape(name)}\s?[:：]\s*\S", message.text, re.IGNORECASE) is not None:
                start, end = quotation(message.text, 0, 1)
                return Detected(kind="cut_off", place=message.place(start, end), evidence=message.text[start:end])
    return None


def _is_the_end(made: PlacedStep) -> bool:
    """Whether a call ends the run, or its command hands the work in."""
    return ends_run(made.call) or (may_do_anything(made.call) and _SUBMITS.search(made.arguments_text) is not None)


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


DETECTOR = Detector(name="cut_off", version="6", kinds=("cut_off",), detect=_detect)
