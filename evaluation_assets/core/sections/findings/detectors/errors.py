"""[errors] Failed calls that nothing after them takes up, and tools that never succeed after they failed.

A failure is taken up if the next text says so, or repeats the words of the error, or says that what was not found does
not exist, if one of the next calls is of the
same tool with values in common (after an outage: most of them), or if the same call is made again at any time. That the
agent cannot do what the user asks says nothing of a failed lookup. Work on code speaks of errors all the time: where a
command was not even run, the text must say that, or the command be run again soon. That something is mended, right
after it failed and without another call, takes up nothing. Nor does a text right after a lookup or an outage that says
what the result shows. Code that failed after it had printed something is taken up by a text that goes on from what it
printed. A file that could not be edited may be edited by another tool, and what one tool could not find may be asked of
another. Tests that fail are no failure of the call: `failing_tests` has those of the last run. After a command that
failed in its own words, to edit a file is to take it up, and a file that is not there is looked for by its name. Where
no lookup of a run brings anything, and it answers all the same, the last failure is `HIGH`, taken up or not. So is
code that only prints a request to somebody. A failure after which a run without an answer ends is one of `cut_off`. A
call that the user did not permit, or stopped, has not failed, unless the agent says that it has done it.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from statistics import fmean

from evaluation_assets.core.sections.coding_work.shell import commands_of
from evaluation_assets.core.sections.coding_work.tools import Edited, Looked, Ran, action_of, edits_files
from evaluation_assets.core.sections.coding_work.work import says_no
from evaluation_assets.core.sections.findings.detector import Detected, Detector, in_step
from evaluation_assets.core.sections.findings.evidence.absent import says_absent
from evaluation_assets.core.sections.findings.evidence.actions import actions
from evaluation_assets.core.sections.findings.evidence.course import Course, PlacedStep
from evaluation_assets.core.sections.findings.evidence.cues import cues, without
from evaluation_assets.core.sections.findings.evidence.effects import (
    acts_on_pages,
    ends_run,
    is_thought,
    may_change_state,
    may_do_anything,
)
from evaluation_assets.core.sections.findings.evidence.fruitless import answered_without_any
from evaluation_assets.core.sections.findings.finding import Severity
from evaluation_assets.core.suites.calls import CUT_OFF
from evaluation_assets.core.suites.effects import changes_state
from evaluation_assets.core.system.by_key import by_key
from evaluation_assets.core.traces.trajectories.calls import call_key, leaves
from evaluation_assets.core.traces.trajectories.model import JsonObject, Trajectory
from evaluation_assets.core.traces.trajectories.words import takes_from, words

_AFTER = 3
"""Calls after a failure among which it is made again."""

_SOON = 6
"""Calls after a failure among which another tool is asked."""

_READ = 2_000
_ALIKE = 0.2
"""Share of the words of a command that another attempt has."""

_HALF = 0.5
"""Share of the IDs and dates of a call that it has when it is made again after an outage."""

_SAME = 0.7
"""Share of the words of two commands that both have, where they are the same one."""

_ADDED = 6
"""Words that a command has when it is run again, for more time or with other rights."""

_LOOKS_FOR = {"ls", "rm", "rmdir", "unlink", "stat"}
_ABSENT = re.compile(r"No such file or directory|cannot find the (?:path|file)")
_STILL_RUNS = re.compile(r"\[The command has no new output after [\d.]+ seconds")
"""What OpenHands says of a command that waits for input or serves; its exit code is -1."""

_FILE = re.compile(r"[\w-]+\.[A-Za-z]\w{0,5}\b")

_BRIEF = 300
"""Characters of results that have nothing but a failure, and of what says first that it was noticed."""


_REPEATED = 1 / 3
"""Share of the telling words of an error that a sentence about it has."""

_ERROR_NAME = re.compile(r"\A\W*(?:\w*(?:error|exception)\b\W*)+", re.IGNORECASE)
_ID = re.compile(r"\b[A-Za-z_-]*\d\w*")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])|\n+")
_NOT_TELLING = frozenset(
    "error errors exception failed failure message messages status code http type detail details tool call calls"
    " function request response result invalid false true null none value".split()
)
"""Words of errors that say nothing of what went wrong."""

_BEGINNING = 6
"""Characters by which the results of a tool are told from what is said in their place."""

_HELD_BACK = re.compile(r"\b(?:cancell?ed|stopped|aborted|halted|paused|skipped|reverted)\b", re.IGNORECASE)
"""What an agent says it has done when it does as the user wishes, and does nothing."""

_FEWEST_ALIKE = 3
_MOST_OTHERS = 2


def _detect(course: Course) -> Iterator[Detected]:
    beginnings = _beginnings(course)
    written = _written(course)
    following = _texts_after(written)
    failing = {run.position for run in course.test_runs if run.result == "failing"}
    keys = [call_key(made.trajectory, made.step) for made in course.calls]
    last = {key: index for index, key in enumerate(keys)}
    unresolved = _unresolved(course)
    fruitless = answered_without_any(course)
    for index, made in enumerate(course.calls):
        if index == fruitless and made.step.has_succeeded:
            yield _found("unresolved_error", made, "HIGH")
        if made.step.result is None or made.step.result.error is None or index in failing:
            continue
        later = course.calls[index + 1 : index + 1 + _AFTER]
        is_unserved = _is_unserved(made, beginnings)
        after = following[made.order]
        is_none = _is_left_undone(made, course) or (not is_unserved and _is_an_answer(made))
        if is_none or (not after and not later and _is_cut_off(course)):
            continue
        is_taken_up = (not is_unserved and _repeats(after, made)) or (
            not _is_reported(made, written[made.order + 1])
            and (
                _takes_up(after, made, is_unserved=is_unserved, is_last=not later)
                or (last[keys[index]] > index and not is_unserved)
                or any(_is_another_attempt(made, again, is_unserved=is_unserved) for again in later)
                or (not after and not later and _ends_with(made.trajectory, made))
            )
        )
        if not is_taken_up:
            severity = "MEDIUM" if may_do_anything(made.call) and index != fruitless else None
            yield _found("ignored_error", made, severity)
        elif index == fruitless:
            yield _found("unresolved_error", made, "HIGH")
        elif (
            unresolved.get(made.call.name) == index
            and not says_absent(after, made)
            and not ends_run(made.call)
            and not _is_edited_otherwise(made, course.calls[index + 1 :])
            and not _is_asked_of_another_tool(made, course.calls[index + 1 :])
        ):
            yield _found("unresolved_error", made)


def _unresolved(course: Course) -> dict[str, int]:
    """The last call of each tool, by its name, if it failed."""
    last = {made.call.name: index for index, made in enumerate(course.calls)}
    return {
        name: index
        for name, index in last.items()
        if (result := course.calls[index].step.result) is not None and result.error is not None
    }


def _is_left_undone(made: PlacedStep, course: Course) -> bool:
    """Whether a call was stopped, and the agent does not claim an action in a turn in which no call succeeded."""
    if not made.was_stopped or not (may_do_anything(made.call) or edits_files(made.call.name)):
        return made.was_stopped
    if any(other.turn == made.turn and other.step.has_succeeded for other in course.calls):
        return True
    after = (one.text for one in course.messages if one.turn == made.turn and one.order > made.order)
    said = "\n".join(after)
    is_held_back = cues("lacking").matches(said) or _HELD_BACK.search(said) is not None
    return is_held_back or not any(action.claims.matches(said) for action in actions())


def _is_cut_off(course: Course) -> bool:
    """Whether a run whose agents speak, or that the user interrupted, has no answer: nobody could take up the last
    failure, and `cut_off` has it.
    """
    is_known = bool(course.messages) or bool(course.trajectory.extra.get("interruptions"))
    return is_known and not course.trajectory.final_answer


def _ends_with(trajectory: Trajectory, failed: PlacedStep) -> bool:
    """Whether the last call of a run ends it, as a limit does, or the answer that only the run has takes it up."""
    answer = trajectory.final_answer or ""
    is_stopped = not answer and not CUT_OFF.isdisjoint(trajectory.flags)
    if is_stopped or ends_run(failed.call):
        return True
    is_unserved = _is_unserved(failed, {})
    return bool(answer) and (
        (not is_unserved and _repeats(_read(answer), failed))
        or _takes_up(_read(answer), failed, is_unserved=is_unserved, is_last=True)
    )


def _found(kind: str, failed: PlacedStep, severity: Severity | None = None) -> Detected:
    return in_step(kind, failed, failed.result_span, severity)


def _written(course: Course) -> list[str]:
    """What an agent wrote in each step, thoughts and messages, and after the last one."""
    said = by_key((message.order, _read(message.text)) for message in course.messages)
    texts: list[str] = []
    for placed in course.steps:
        thought = placed.step.thought
        written = [_read(course.trajectory.piece(thought)) if thought else "", *said.get(placed.order, [])]
        if placed.step.call is not None and is_thought(placed.call):
            written.append(_read(placed.arguments_text))
        texts.append("\n".join(filter(None, written)))
    return [*texts, "\n".join(said.get(len(course.steps), []))]


def _texts_after(written: Sequence[str]) -> list[str]:
    """For each step, the next text that an agent wrote after it."""
    following = written[-1]
    texts: list[str] = []
    for text in reversed(written[:-1]):
        texts.append(following)
        following = text or following
    return texts[::-1]


def _read(text: str) -> str:
    """The beginning and the end of a text: long ones often admit a failure at the end."""
    return text if len(text) <= 2 * _READ else f"{text[:_READ]}\n{text[-_READ:]}"


def _takes_up(text: str, made: PlacedStep, *, is_unserved: bool, is_last: bool) -> bool:
    """Whether a text is about a failure. After a lookup, that the agent cannot do what it was asked is not."""
    if may_do_anything(made.call) and takes_from(text, made.arguments_text, made.result):
        return True
    if is_last:
        text = without("mended", text)
    if is_unserved:
        return cues("setback").matches(text[:_BRIEF])
    if cues("tool_down").matches(text) or says_absent(text, made):
        return True
    if cues("trouble").matches(text):
        return may_change_state(made.call) or cues("trouble").matches(without("refusal", text))
    return False


def _repeats(text: str, failed: PlacedStep) -> bool:
    """Whether a text says in an error's own words what it says, and does not only name what the call was about.

    One word in common is enough beside an ID of the error or words such as "no" and "too low"; two are enough alone.
    """
    error = _what_went_wrong((failed.step.result and failed.step.result.error) or "")
    ids = set(_ID.findall(error))
    asked = failed.trajectory.turns[failed.turn].user_message or ""
    known = (words(each) for each in (failed.trajectory.task, asked, failed.arguments_text, " ".join(ids)))
    telling = words(error).difference(_NOT_TELLING, *known)
    if not telling:
        return False
    plain = error.strip(" .!\"'{}").casefold()
    if len(plain.split()) > 1 and plain in text.casefold():
        return True
    for sentence in _SENTENCE.split(text):
        shared = words(sentence) & telling
        if not shared or len(shared) < _REPEATED * len(telling):
            continue
        if len(shared) > 1 or any(each in sentence for each in ids) or cues("lacking").matches(sentence):
            return True
    return False


def _what_went_wrong(error: str) -> str:
    """The message of an error: the last line of a traceback, without the name of its class."""
    lines = [line for line in error.splitlines() if line.strip()] or [""]
    return _ERROR_NAME.sub("", lines[-1] if "Traceback" in lines[0] else " ".join(lines))[:_BRIEF]


def _is_reported(failed: PlacedStep, text: str) -> bool:
    """Whether a text begins with what a result says that was none, and not with a setback.

    Pages may have shown something before they failed, unless the failure is all that was said. A failure of code is
    something to report itself, but no success.
    """
    beginning = text[:_BRIEF]
    if not cues("reports_result").matches(beginning) or cues("setback").matches(beginning):
        return False
    return (
        _is_outage(failed)
        or not may_do_anything(failed.call)
        or (
            len(failed.result) <= _BRIEF
            and not cues("trouble").matches(beginning)
            and (acts_on_pages(failed.call) or cues("success").matches(beginning))
        )
    )


def _beginnings(course: Course) -> dict[str, str]:
    """How the results of a tool begin, by its name, if all but one or two begin alike."""
    counts: dict[str, Counter[str]] = {}
    for made in course.calls:
        if made.step.result is not None:
            counts.setdefault(made.call.name, Counter())[made.result[:_BEGINNING]] += 1
    return {
        name: beginning
        for name, own in counts.items()
        for beginning, count in own.most_common(1)
        if len(beginning) == _BEGINNING and count >= _FEWEST_ALIKE and own.total() - count <= _MOST_OTHERS
    }


def _is_an_answer(made: PlacedStep) -> bool:
    """Whether a command fails to say no, as searches without a match do, that a file is not there, or that it runs."""
    action = action_of(made.trajectory, made.step)
    if not isinstance(action, Ran):
        return False
    names = [command.words[0] for command in commands_of(action.command)]
    return (says_no(action.command) or _STILL_RUNS.search(made.result) is not None) or (
        names[-1:] != [] and names[-1] in _LOOKS_FOR and bool(_ABSENT.search(made.result))
    )


def _is_edited_otherwise(failed: PlacedStep, later: Sequence[PlacedStep]) -> bool:
    """Whether a file that a tool could not edit is in a later call that may change or run it, and that succeeds."""
    file = _FILE.search(failed.arguments_text[:_READ]) if edits_files(failed.call.name) else None
    return file is not None and any(
        made.step.has_succeeded
        and may_do_anything(made.call)
        and file[0] in made.arguments_text
        and not isinstance(action_of(made.trajectory, made.step), Looked)
        for made in later
    )


def _is_asked_of_another_tool(failed: PlacedStep, later: Sequence[PlacedStep]) -> bool:
    """Whether one of the next calls asks another tool for the same and succeeds. To read is not to change."""
    changes = changes_state(failed.call.name) or edits_files(failed.call.name)
    own = set() if changes else words(failed.arguments_text[:_READ])
    return any(
        made.step.has_succeeded
        and made.call.name != failed.call.name
        and len(own & words(made.arguments_text[:_READ])) >= _SAME * len(own)
        for made in (later[:_SOON] if own else ())
    )


def _is_unserved(made: PlacedStep, beginnings: Mapping[str, str]) -> bool:
    """Whether a command or a piece of code did nothing at all: only another attempt makes up for that.

    So it is where something is said that does not even begin like a result of the tool.
    """
    if not may_do_anything(made.call) or len(made.result) > _BRIEF:
        return False
    return _is_outage(made) or not made.result.startswith(beginnings.get(made.call.name, ""))


def _is_outage(made: PlacedStep) -> bool:
    error = made.step.result and made.step.result.error
    return bool(error) and cues("outage").matches(error)


def _is_another_attempt(failed: PlacedStep, again: PlacedStep, *, is_unserved: bool) -> bool:
    if may_do_anything(failed.call):
        is_alike = _is_nearly if is_unserved else _has_words_of
        if not is_unserved and isinstance(action_of(again.trajectory, again.step), Edited):
            return True
        return may_do_anything(again.call) and is_alike(failed.arguments_text, again.arguments_text)
    if isinstance(looked := action_of(failed.trajectory, failed.step), Looked):
        return any(PurePath(path).stem in again.arguments_text for path, _ in looked.files if PurePath(path).stem)
    if failed.call.name != again.call.name:
        return False
    before, after = (each.trajectory.arguments(each.call) for each in (failed, again))
    if not before or not after:
        return before == after or _has_words_of(failed.arguments_text, again.arguments_text)
    if _is_outage(failed) and (shared := _shared(before, after)) is not None:
        return shared >= _HALF
    if any(after.get(name) == value for name, value in before.items()):
        return True
    return _has_words_of(" ".join(map(str, leaves(before))), " ".join(map(str, leaves(after))))


def _shared(before: JsonObject, after: JsonObject) -> float | None:
    """The share of the IDs, dates and other single words of a call that another one has; `None` without any.

    An outage says nothing about what was asked: to ask about something else is not to try again.
    """
    named = [(name, value) for name, value in before.items() if isinstance(value, str) and len(value.split()) == 1]
    return fmean(value in str(after.get(name, "")) for name, value in named) if named else None


def _has_words_of(first: str, second: str) -> bool:
    own, others = words(first), words(second)
    return bool(own) and len(own & others) >= _ALIKE * min(len(own), len(others) or 1) and bool(own & others)


def _is_nearly(first: str, second: str) -> bool:
    """Whether a command is another one, or little more. Commands of one run have files and programs in common."""
    own, others = words(first), words(second)
    both = len(own & others)
    return both >= _SAME * len(own | others) or (own <= others and len(others) <= both + _ADDED)


DETECTOR = Detector(name="errors", version="19", kinds=("ignored_error", "unresolved_error"), detect=_detect)
