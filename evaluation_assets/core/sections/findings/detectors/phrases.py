"""[phrases] Names and figures that are new to a run, in words that had another one in their place before.

Of searches, notes and other arguments; of messages only numbers that are one digit off. A message after a result is
read, as without tools an agent speaks from what it knows.
"""

from collections.abc import Iterator

from evaluation_assets.core.sections.findings.detector import Detected, Detector, in_message, in_step
from evaluation_assets.core.sections.findings.evidence.course import Asked, Course, Message, PlacedStep, quotation
from evaluation_assets.core.sections.findings.evidence.effects import is_thought, may_do_anything
from evaluation_assets.core.sections.findings.evidence.given import Given
from evaluation_assets.core.sections.findings.evidence.values import Value, misreadings, values_in
from evaluation_assets.core.sections.findings.evidence.wording import Wording
from evaluation_assets.core.suites.effects import changes_state
from evaluation_assets.core.traces.trajectories.calls import leaves

_FEWEST_DIGITS = 2


def _detect(course: Course) -> Iterator[Detected]:
    trajectory = course.trajectory
    wording = Wording()
    has_result = False
    for text in (trajectory.task, *(agent.description or "" for agent in trajectory.agents)):
        wording.add(text)
    for number, event in enumerate(course.events):
        match event:
            case Asked(message=message, knowledge=knowledge):
                wording.add(message)
                wording.add(knowledge)
            case Message(text=text):
                if has_result:
                    yield from _of_message(event, wording, course.texts.given_to(number, also=("argument",)))
                wording.add(text)
            case PlacedStep():
                wording.add(trajectory.piece(event.step.thought))
                if event.step.call is not None:
                    if not is_thought(event.call) and not may_do_anything(event.call):
                        yield from _of_call(event, wording)
                    for text in _texts(event):
                        wording.add(text)
                has_result = has_result or event.step.result is not None
                wording.add(event.result, ("figure",))


def _of_call(made: PlacedStep, wording: Wording) -> Iterator[Detected]:
    for text in _texts(made):
        for other in wording.new_in(text):
            severity = None if changes_state(made.call.name) else "LOW"
            yield in_step("unsupported_argument", made, made.span_of(text[other.start : other.end]), severity)
            return


def _of_message(message: Message, wording: Wording, given: Given) -> Iterator[Detected]:
    others = {other.start: other for other in wording.new_in(message.text) if other.kind == "figure"}
    for value in values_in(message.text) if others else ():
        other = others.get(value.start)
        if other is not None and not given.holds(value) and _is_misread(value, other.instead):
            yield in_message("contradicted_answer", message, quotation(message.text, value.start, value.end))
            return


def _is_misread(value: Value, before: str) -> bool:
    """Whether a number of two digits or more is one digit off the one in its place before."""
    if value.kind != "number" or value.end - value.start < _FEWEST_DIGITS:
        return False
    given = {form for each in values_in(before) for form in each.forms}
    return any(not given.isdisjoint(misreadings(form)) for form in value.forms)


def _texts(made: PlacedStep) -> list[str]:
    """The texts in the arguments of a call."""
    return [value for value in leaves(made.trajectory.arguments(made.call)) if isinstance(value, str)]


DETECTOR = Detector(name="phrases", version="4", kinds=("unsupported_argument", "contradicted_answer"), detect=_detect)
