"""[promises] What an agent says that it does now, at the end of a turn, and no call follows in the run.

Promises under a condition, and messages that ask for something first, are none. Offers of more help are no condition.
"""

from collections.abc import Iterator

from evaluation_assets.core.sections.findings.detector import Detected, Detector, in_message
from evaluation_assets.core.sections.findings.evidence.course import LONGEST_SENTENCE, Course, Message, sentences
from evaluation_assets.core.sections.findings.evidence.cues import cues, without
from evaluation_assets.core.sections.findings.evidence.effects import ends_run
from evaluation_assets.core.sections.findings.evidence.unrun_code import unrun_code
from evaluation_assets.core.suites.courtesies import without_courtesies

_LAST = 2
"""Sentences at the end of a message. What is promised further up is done in the message itself."""


def _detect(course: Course) -> Iterator[Detected]:
    has_tools = course.calls or any(agent.tools for agent in course.trajectory.agents)
    if not has_tools or any(ends_run(made.call) for made in course.calls):
        return
    if unrun_code(course) is not None:  # `cut_off` has it
        return
    last_call = max((made.order for made in course.calls), default=-1)
    last_of_turn = {message.turn: message for message in course.messages}
    for message in last_of_turn.values():
        if message.order > last_call:
            yield from _of_message(message)


def _of_message(message: Message) -> Iterator[Detected]:
    last = list(sentences(message.text))[-_LAST:]
    if not last or cues("condition").matches(without("offer", without_courtesies(message.text[last[0][0] :]))):
        return
    for start, end in last:
        if end - start <= LONGEST_SENTENCE and cues("promise").matches(message.text[start:end]):
            yield in_message("unkept_promise", message, (start, end))
            return


DETECTOR = Detector(name="promises", version="7", kinds=("unkept_promise",), detect=_detect)
