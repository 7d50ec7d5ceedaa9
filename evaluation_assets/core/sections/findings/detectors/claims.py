"""[claims] Actions that an agent says it has done, and that no successful call does.

A call does an action if a word of its tool's name may mean it, and if it names the order, booking or other code that
the claim names. Agents that run code or act on pages may do anything, and are not checked.
"""

import re
from collections.abc import Iterator, Sequence

from evaluation_assets.core.sections.findings.actions import Action, actions
from evaluation_assets.core.sections.findings.course import Course, PlacedStep, sentences
from evaluation_assets.core.sections.findings.cues import cues
from evaluation_assets.core.sections.findings.detector import Detected, Detector
from evaluation_assets.core.sections.findings.effects import may_do_anything
from evaluation_assets.core.sections.findings.values import values_in
from evaluation_assets.core.suites.effects import changes_state
from evaluation_assets.core.traces.trajectories.model import Trajectory

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_CODE = re.compile(r"\b(?=[A-Z0-9]*[A-Z])[A-Z0-9]{5,12}\b")
_ITEM = re.compile(r"\s*(?P<item>(?:[-*•]|\d{1,2}[.)])[ \t]+\S.*)")
_LONGEST = 500


def _detect(trajectory: Trajectory) -> Iterator[Detected]:
    course = Course(trajectory)
    has_tools = course.calls or any(agent.tools for agent in trajectory.agents)
    if not has_tools or any(may_do_anything(made.call) for made in course.calls):
        return
    done = [made for made in course.calls if made.has_succeeded]
    for message in course.messages:
        before = [made for made in done if made.turn <= message.turn]
        for start, end in sentences(message.text):
            sentence = message.text[start:end]
            if len(sentence) > _LONGEST or cues("no_claim").matches(sentence):
                continue
            claimed = [action for action in actions() if action.claims.matches(sentence)]
            for first, last in _subjects(message.text, start, end) if claimed else ():
                codes = _codes(message.text[first:last])
                if not all(_is_done(action, codes, before) for action in claimed):
                    yield Detected(
                        kind="unperformed_claim",
                        place=message.place(first, last),
                        evidence=message.text[first:last],
                    )


def _subjects(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """What a claim is about: the sentence, or the items with a code in the list that it introduces."""
    items: list[tuple[int, int]] = []
    at = end
    while text[end - 1] in ":：" and (item := _ITEM.match(text, at)) is not None:
        if _codes(item["item"]):
            items.append(item.span("item"))
        at = item.end()
    yield from items or [(start, end)]


def _is_done(action: Action, named: set[str], calls: Sequence[PlacedStep]) -> bool:
    """Whether a call does it to what is named, or its result says that it is done."""
    for made in calls:
        if not _does(action, made) and not action.words.matches(made.result):
            continue
        theirs = _codes(_written(made)) | _codes(made.result) if named else set()
        if not theirs or not named.isdisjoint(theirs):
            return True
    return False


def _does(action: Action, made: PlacedStep) -> bool:
    if not action.tools.isdisjoint(word.lower() for word in _WORD.findall(made.call.name)):
        return True
    return changes_state(made.call.name) and (not action.tools or action.words.matches(_written(made)))


def _written(made: PlacedStep) -> str:
    return made.trajectory.piece(made.call.raw)


def _codes(text: str) -> set[str]:
    found = {form for value in values_in(text) if value.kind == "code" for form in value.forms}
    return found | {code.casefold() for code in _CODE.findall(text)}


DETECTOR = Detector(name="claims", version="1", kinds=("unperformed_claim",), detect=_detect)
