"""[errors] Failed calls that nothing after them takes up.

A failure is taken up if the next text says so, or if the call is made again with arguments in common.
"""

from collections.abc import Iterator

from evaluation_assets.core.sections.coding_work.tools import Ran, action_of
from evaluation_assets.core.sections.coding_work.work import says_no
from evaluation_assets.core.sections.findings.course import Course, PlacedStep
from evaluation_assets.core.sections.findings.cues import cues
from evaluation_assets.core.sections.findings.detector import Detected, Detector
from evaluation_assets.core.sections.findings.effects import ends_run, may_do_anything
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets.core.traces.trajectories.words import words

_AFTER = 3
"""Calls after a failure among which it is made again."""

_READ = 2_000
_ALIKE = 0.2
"""Share of the words of a command that another attempt has."""


def _detect(trajectory: Trajectory) -> Iterator[Detected]:
    course = Course(trajectory)
    following = _texts_after(course)
    for index, made in enumerate(course.calls):
        if made.step.result is None or made.step.result.error is None or _is_an_answer(made):
            continue
        text = following[made.order]
        later = course.calls[index + 1 : index + 1 + _AFTER]
        if cues("trouble").matches(text) or any(_is_another_attempt(made, again) for again in later):
            continue
        if not text and not later and (trajectory.final_answer or ends_run(made.call)):
            text = trajectory.final_answer or ""
            if ends_run(made.call) or cues("trouble").matches(text[:_READ]):
                continue
        span = made.result_span
        yield Detected(
            kind="ignored_error",
            place=made.place(span),
            evidence=trajectory.piece(span),
            severity="MEDIUM" if may_do_anything(made.call) else None,
        )


def _texts_after(course: Course) -> list[str]:
    """For each step, the next text that an agent wrote after it: a thought or a message."""
    trajectory = course.trajectory
    said: dict[int, list[str]] = {}
    for message in course.messages:
        said.setdefault(message.order, []).append(message.text[:_READ])
    following = "\n".join(said.get(len(course.steps), []))
    found = [""] * len(course.steps)
    for placed in reversed(course.steps):
        found[placed.order] = following
        thought = placed.step.thought
        written = [trajectory.piece(thought)[:_READ] if thought else "", *said.get(placed.order, [])]
        following = "\n".join(filter(None, written)) or following
    return found


def _is_an_answer(made: PlacedStep) -> bool:
    """Whether a command fails to say no, as searches without a match do."""
    action = action_of(made.trajectory, made.step)
    return isinstance(action, Ran) and says_no(action.command)


def _is_another_attempt(failed: PlacedStep, again: PlacedStep) -> bool:
    if may_do_anything(failed.call):
        return may_do_anything(again.call) and _has_words_of(_written(failed), _written(again))
    if failed.call.name != again.call.name:
        return False
    before, after = (each.trajectory.arguments(each.call) for each in (failed, again))
    if not before or not after:
        return before == after or _has_words_of(_written(failed), _written(again))
    return any(after.get(name) == value for name, value in before.items()) or _has_words_of(
        _written(failed), _written(again)
    )


def _written(made: PlacedStep) -> str:
    return made.trajectory.piece(made.call.raw)


def _has_words_of(first: str, second: str) -> bool:
    own, others = words(first), words(second)
    return bool(own) and len(own & others) >= _ALIKE * min(len(own), len(others) or 1) and bool(own & others)


DETECTOR = Detector(name="errors", version="1", kinds=("ignored_error",), detect=_detect)
