"""Faults of answers: a figure that contradicts the run, a claim without support, an action that was or is not made."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from random import Random

import orjson

from evaluation_assets.core.sections.findings.evidence.course import Course, PlacedStep
from evaluation_assets.core.sections.findings.faults.editing import Edit, edited
from evaluation_assets.core.sections.findings.faults.operator import Changed, NotApplicable
from evaluation_assets.core.sections.findings.faults.values import (
    ValueType,
    has_value,
    occurrences,
    other_value,
    values_in,
)
from evaluation_assets.core.traces.trajectories.model import Span, Trajectory
from evaluation_assets.core.traces.trajectories.words import scripts, words

_Sentences = tuple[tuple[str, str], ...]
"""Sentences, each with a word of it that the run must not have."""

_FACTS: _Sentences = (
    ("phone", "The support team also confirmed this by phone."),
    ("Halvorsen", "A report of the Halvorsen Institute from 2019 confirms this."),
    ("4,812", "In total, this took 4,812 records into account."),
)
_FACTS_IN_CHINESE: _Sentences = (("官方报告", "2019年的一份官方报告也证实了这一点。"),)
_ACTIONS: _Sentences = (
    ("confirmation", "I have also sent you a confirmation by email."),
    ("a ticket", "I have also created a ticket for this."),
)
_ACTIONS_IN_CHINESE: _Sentences = (("确认邮件", "我还给您发送了一封确认邮件。"),)
_PROMISES: _Sentences = (
    ("confirmation", "I will now send you a confirmation by email."),
    ("a ticket", "I will now create a ticket for this."),
)
_PROMISES_IN_CHINESE: _Sentences = (("确认邮件", "我现在就给您发送一封确认邮件。"),)

_POLITE = "Please let me know if there is anything else I can help you with."
_POLITE_IN_CHINESE = "如果还有其他问题，请随时告诉我。"


@dataclass(frozen=True, slots=True)
class Answer:
    """The final answer of a run, or its last message: where the text has it."""

    at: PlacedStep
    span: Span


def answer_of(trajectory: Trajectory) -> Answer:
    """The answer of a run: in what an agent said, else in the arguments of a call that submits it.

    Raises:
        NotApplicable: there is none, or it is not in what an agent wrote.
    """
    steps = Course(trajectory).steps
    final = (trajectory.final_answer or "").strip()
    if not final:
        last = next((at for at in reversed(steps) if at.step.message is not None), None)
        if last is None or last.step.message is None or not trajectory.piece(last.step.message).strip():
            raise NotApplicable("no answer")
        return Answer(last, last.step.message)
    said = ((at, span) for at in reversed(steps) for span in _said(trajectory, at, is_last=at is steps[-1]))
    submitted = ((at, at.step.call.raw) for at in reversed(steps) if at.step.call is not None)
    for at, span in chain(said, submitted):
        for form in dict.fromkeys((final, orjson.dumps(final).decode()[1:-1])):
            start = trajectory.text.rfind(form, *span)
            if start >= 0:
                return Answer(at, (start, start + len(form)))
    raise NotApplicable("the answer is not in what an agent wrote")


def _said(trajectory: Trajectory, at: PlacedStep, *, is_last: bool) -> Iterator[Span]:
    """What the agent said in a step: its message, and the text after its arguments and the result."""
    step = at.step
    if step.message is not None:
        yield step.message
    parts = (step.thought, step.message, step.call and step.call.raw, step.result and step.result.content)
    if known := [span[1] for span in parts if span is not None]:
        yield max(known), len(trajectory.text) if is_last and len(trajectory.turns) == 1 else step.end


def contradicting_figure(trajectory: Trajectory, random: Random) -> Changed:
    """Replace a number, date or ID of the answer that occurs before it by another."""
    return _contradicting(trajectory, random, ("number", "date", "ID"), "number, date or ID")


def contradicting_name(trajectory: Trajectory, random: Random) -> Changed:
    """Replace a name of the answer that occurs before it by another one of the run."""
    return _contradicting(trajectory, random, ("name", "code"), "name")


def _contradicting(trajectory: Trajectory, random: Random, types: Collection[ValueType], what: str) -> Changed:
    answer = answer_of(trajectory)
    said = trajectory.piece(answer.span)
    before = trajectory.text[: answer.span[0]]
    candidates = list(dict.fromkeys(values_in(said)))
    random.shuffle(candidates)
    for type_, value in candidates:
        if type_ not in types or not has_value(before, value):
            continue
        other = other_value(type_, value, random, trajectory.text)
        if other is None:
            continue
        start = answer.span[0]
        spans = [(start + each.start(), start + each.end()) for each in occurrences(said, value)]
        return _answered(trajectory, answer, [Edit(*span, other) for span in spans])
    raise NotApplicable(f"no {what} in the answer that occurs before it")


def unsupported_claim(trajectory: Trajectory, random: Random) -> Changed:
    """Add a sentence to the answer that states what nothing in the run supports."""
    return _with_one_of(trajectory, _FACTS, _FACTS_IN_CHINESE, random)


def unperformed_claim(trajectory: Trajectory, random: Random) -> Changed:
    """Add a sentence to the answer that claims an action of the agent, which no call made."""
    return _with_one_of(trajectory, _ACTIONS, _ACTIONS_IN_CHINESE, random)


def unkept_promise(trajectory: Trajectory, random: Random) -> Changed:
    """Add a sentence to the answer that promises an action of the agent; the run ends there."""
    return _with_one_of(trajectory, _PROMISES, _PROMISES_IN_CHINESE, random)


def _with_one_of(trajectory: Trajectory, english: _Sentences, chinese: _Sentences, random: Random) -> Changed:
    answer = answer_of(trajectory)
    text = trajectory.text.lower()
    sentences = chinese if _is_chinese(trajectory, answer) else english
    new = [sentence for word, sentence in sentences if word.lower() not in text]
    if not new:
        raise NotApplicable("the run mentions everything that could be added")
    return _extended(trajectory, answer, random.choice(new))


def polite_ending(trajectory: Trajectory, random: Random) -> Changed:
    """Add a polite sentence to the answer."""
    answer = answer_of(trajectory)
    return _extended(trajectory, answer, _POLITE_IN_CHINESE if _is_chinese(trajectory, answer) else _POLITE)


def _is_chinese(trajectory: Trajectory, answer: Answer) -> bool:
    return "east asian" in scripts(words(trajectory.piece(answer.span)))


def _extended(trajectory: Trajectory, answer: Answer, sentence: str) -> Changed:
    said = trajectory.piece(answer.span)
    end = answer.span[0] + len(said.rstrip())
    space = "" if said.rstrip().endswith("。") else " "
    stop = "" if said.rstrip().endswith((".", "!", "?", "。", "！", "？", ":", "*", ")")) else "."
    return _answered(trajectory, answer, [Edit(end - 1, end, f"{trajectory.text[end - 1]}{stop}{space}{sentence}")])


def _answered(trajectory: Trajectory, answer: Answer, edits: list[Edit]) -> Changed:
    """The run with another answer: in its text, as its final answer, and as the response of its interaction."""
    after = edited(trajectory, edits)
    grown = sum(len(edit.by) - (edit.end - edit.start) for edit in edits)
    start, end = answer.span
    old, new = trajectory.text[start:end], after.text[start : end + grown]

    def other(text: str | None) -> str | None:
        return None if text is None else new.join(text.rsplit(old, 1))

    turns = list(after.turns)
    turn = turns[answer.at.turn]
    parts = list(turn.interactions)
    part = parts[answer.at.interaction]
    parts[answer.at.interaction] = replace(part, response=other(part.response))
    turns[answer.at.turn] = replace(turn, interactions=tuple(parts))
    final = after.final_answer
    if final is not None:
        plain_old, plain_new = _unescaped(old, final), _unescaped(new, final)
        final = plain_new.join(final.rsplit(plain_old, 1))
    first = edits[0].start
    return Changed(
        trajectory=replace(after, turns=tuple(turns), final_answer=final),
        place=answer.at.place((first, end + grown)),
        origin=answer.at.place((first, end)),
    )


def _unescaped(text: str, final: str) -> str:
    """A text as it is outside of JSON, where the run has its answer in the arguments of a call."""
    if text in final or "\\" not in text:
        return text
    try:
        return orjson.loads(f'"{text}"')
    except orjson.JSONDecodeError:
        return text
