"""The course of a run: its calls and what was said, in order, each with its place."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import orjson

from evaluation_assets.core.sections.coding_work.denials import is_stopped
from evaluation_assets.core.sections.coding_work.test_runs import TestRun
from evaluation_assets.core.sections.coding_work.tools import edits_files
from evaluation_assets.core.sections.coding_work.work import coding_work_of
from evaluation_assets.core.sections.findings.evidence.call_forms import NO_FORMS, CallForms
from evaluation_assets.core.sections.findings.evidence.given import Texts
from evaluation_assets.core.sections.findings.evidence.handed_on import HandedOn
from evaluation_assets.core.sections.findings.evidence.resolved import todays
from evaluation_assets.core.sections.findings.evidence.results import as_read
from evaluation_assets.core.sections.findings.finding import Place
from evaluation_assets.core.traces.trajectories.model import Span, Step, ToolCall, Trajectory
from evaluation_assets.core.traces.trajectories.wrapped_results import said_by

LONGEST_QUOTATION = 300
LONGEST_SENTENCE = 500
"""What is longer is no sentence, but data or a log."""

_SPACE = re.compile(r"\s+")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')*_\]]*\s+|(?<=[。！？])|\n+")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedStep:
    """A step with its place. `order` is its number in the run, `clip` the number of calls before it."""

    trajectory: Trajectory
    turn: int
    interaction: int
    number: int
    order: int
    clip: int
    agent_id: str
    step: Step

    def place(self, span: Span | None = None) -> Place:
        """Its place, narrowed down to a span."""
        return Place(turn=self.turn, interaction=self.interaction, step=self.number, agent_id=self.agent_id, span=span)

    @property
    def call(self) -> ToolCall:
        """The call of a step that has one."""
        if self.step.call is None:
            raise ValueError("the step has no call")
        return self.step.call

    @property
    def arguments_text(self) -> str:
        """The arguments of its call as they are written."""
        return self.trajectory.piece(self.call.raw)

    @property
    def result(self) -> str:
        """What its result says, without what a framework put around it; empty without one."""
        return said_by(self.trajectory, self.step)

    @property
    def was_stopped(self) -> bool:
        """Whether the user, or a policy, did not permit its call or stopped it."""
        return self.step.result is not None and is_stopped(self.result, self.step.result.error)

    @property
    def result_span(self) -> Span | None:
        """Where the beginning of its result is."""
        return None if self.step.result is None else bounded(self.step.result.content)

    def span_in_result(self, start: int, end: int) -> Span | None:
        """Where a part of what its result says is; the beginning of the result, if that is put around it."""
        if self.step.result is None or not self.trajectory.text.startswith(self.result, self.step.result.content[0]):
            return self.result_span
        offset = self.step.result.content[0]
        return bounded((offset + start, offset + end))

    @property
    def arguments_span(self) -> Span:
        """Where the beginning of its arguments is."""
        return bounded(self.call.raw)

    def span_of(self, words: str) -> Span:
        """Where its arguments have these words; the beginning of all, if they are written otherwise."""
        start = self.trajectory.text.find(words, *self.call.raw)
        return self.arguments_span if start < 0 else (start, start + len(words))


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What an agent said. `order` and `clip` are those of the step; `start` is `None` if the text has it nowhere."""

    turn: int
    interaction: int
    step: int | None
    order: int
    clip: int
    agent_id: str
    text: str
    start: int | None

    def place(self, start: int, end: int) -> Place:
        """The place of `text[start:end]` of the message."""
        span = None if self.start is None else (self.start + start, self.start + end)
        return Place(turn=self.turn, interaction=self.interaction, step=self.step, agent_id=self.agent_id, span=span)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a user said at the beginning of a turn, with what was known to be true; empty without it."""

    turn: int
    message: str
    knowledge: str


Event = Asked | Message | PlacedStep


class Course:
    """The steps and messages of a run in order. `forms` are those of all calls of its drop, where they are known."""

    def __init__(self, trajectory: Trajectory, forms: CallForms = NO_FORMS) -> None:
        self.trajectory = trajectory
        self.forms = forms

    @cached_property
    def steps(self) -> list[PlacedStep]:
        """All steps."""
        steps: list[PlacedStep] = []
        clip = 0
        for turn, taken in enumerate(self.trajectory.turns):
            for interaction, own in enumerate(taken.interactions):
                for number, step in enumerate(own.steps):
                    steps.append(
                        PlacedStep(
                            trajectory=self.trajectory,
                            turn=turn,
                            interaction=interaction,
                            number=number,
                            order=len(steps),
                            clip=clip,
                            agent_id=own.agent_id,
                            step=step,
                        )
                    )
                    clip += step.call is not None
        return steps

    @cached_property
    def calls(self) -> list[PlacedStep]:
        """The steps with a call; their `clip` is their index."""
        return [placed for placed in self.steps if placed.step.call is not None]

    @property
    def was_stopped(self) -> bool:
        """Whether the user stopped its last step, after which no agent acted."""
        return bool(self.steps) and self.steps[-1].step.call is not None and self.steps[-1].was_stopped

    @cached_property
    def edits_files(self) -> bool:
        """Whether its agents edit files: these name things as they like, and look wherever they like."""
        return any(edits_files(made.call.name) for made in self.calls)

    @cached_property
    def messages(self) -> list[Message]:
        """What agents said: the messages of steps, or else the response of the interaction."""
        return list(self._messages())

    @cached_property
    def test_runs(self) -> tuple[TestRun, ...]:
        """The runs of tests; their `position` is the index of the call."""
        return coding_work_of(self.trajectory).test_runs if self.calls else ()

    @cached_property
    def events(self) -> list[Event]:
        """All that happened, in order. The message of a step comes before its call."""
        return list(self._events())

    @cached_property
    def texts(self) -> Texts:
        """The values in its texts. A thought is known to the call of its step, and other texts to the next event.

        What the words of a message stand for, `tomorrow`, is known to itself.
        """
        texts = Texts()
        texts.add(self.trajectory.task)
        texts.add(orjson.dumps(self.trajectory.agents).decode())
        today = todays(self.instructions)
        texts.add_days(self.trajectory.task, 0, today)
        texts.add_told(self.trajectory.task, 0)
        for number, event in enumerate(self.events):
            match event:
                case Asked():
                    texts.add(event.message, number + 1)
                    texts.add(event.knowledge, number + 1)
                    texts.add_days(event.message, number + 1, today)
                    texts.add_told(event.message, number + 1)
                case Message():
                    texts.add(event.text, number + 1)
                    texts.add_days(event.text, number, today)
                case PlacedStep():
                    texts.add(event.trajectory.piece(event.step.thought), number, "thought")
                    if event.step.call is not None:
                        texts.add(event.arguments_text, number + 1, "argument")
                    texts.add(as_read(event.result), number + 1)
        return texts

    @property
    def instructions(self) -> Iterator[str]:
        """What its agents were told before it, and what was known to be true."""
        for agent in self.trajectory.agents:
            yield from filter(None, (agent.description, agent.role))
        yield self.trajectory.task
        yield from (turn.knowledge for turn in self.trajectory.turns if turn.knowledge)

    @cached_property
    def handed_on(self) -> frozenset[int]:
        """The events that are messages which only hand on what a tool returned, by their number."""
        handed_on = HandedOn({made.agent_id for made in self.calls})
        handed_on.add(self.trajectory.task)
        has_result = False
        found: set[int] = set()
        for number, event in enumerate(self.events):
            match event:
                case Asked():
                    handed_on.add(event.message)
                    handed_on.add(event.knowledge)
                case Message():
                    if has_result and handed_on.is_handed_on(event.agent_id, event.text):
                        found.add(number)
                    handed_on.add(event.text)
                case PlacedStep():
                    has_result = has_result or event.step.result is not None
                    if event.step.call is not None:
                        handed_on.add(event.arguments_text)
                    handed_on.add(event.result)
        return frozenset(found)

    def _events(self) -> Iterator[Event]:
        messages, steps = iter(self.messages), iter(self.steps)
        message, step = next(messages, None), next(steps, None)
        for number, turn in enumerate(self.trajectory.turns):
            yield Asked(number, turn.user_message or "", turn.knowledge or "")
            while True:
                if message is not None and message.turn == number and (step is None or message.order <= step.order):
                    yield message
                    message = next(messages, None)
                elif step is not None and step.turn == number:
                    yield step
                    step = next(steps, None)
                else:
                    break

    def _messages(self) -> Iterator[Message]:
        order = clip = 0
        for turn, taken in enumerate(self.trajectory.turns):
            for interaction, own in enumerate(taken.interactions):
                said = False
                for number, step in enumerate(own.steps):
                    if step.message is not None and step.message[1] > step.message[0]:
                        said = True
                        yield Message(
                            turn=turn,
                            interaction=interaction,
                            step=number,
                            order=order,
                            clip=clip,
                            agent_id=own.agent_id,
                            text=self.trajectory.piece(step.message),
                            start=step.message[0],
                        )
                    order += 1
                    clip += step.call is not None
                if own.response and not said:
                    yield Message(
                        turn=turn,
                        interaction=interaction,
                        step=None,
                        order=order,
                        clip=clip,
                        agent_id=own.agent_id,
                        text=own.response,
                        start=None,
                    )


def bounded(span: Span) -> Span:
    """The beginning of a span, as long as a quotation may be."""
    return span[0], min(span[1], span[0] + LONGEST_QUOTATION)


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Where the sentences and lines of a text are, without surrounding white space."""
    start = 0
    for end in _SENTENCE_END.finditer(text):
        yield from _stripped(text, start, end.start())
        start = end.end()
    yield from _stripped(text, start, len(text))


def short_sentences(text: str) -> Iterator[tuple[Span, str]]:
    """The sentences and lines of a text, with where they are. What is too long for one is left out."""
    for start, end in sentences(text):
        if end - start <= LONGEST_SENTENCE:
            yield (start, end), text[start:end]


def _stripped(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip())
    if piece.strip():
        yield start, start + len(piece.strip())


def quotation(text: str, start: int, end: int) -> tuple[int, int]:
    """Where the sentence or line around `text[start:end]` is, or as much of it as a quotation may have."""
    around = max(0, start - LONGEST_QUOTATION), min(len(text), end + LONGEST_QUOTATION)
    piece = text[around[0] : around[1]]
    for first, last in sentences(piece):
        if around[0] + last >= end:
            first, last = min(around[0] + first, start), around[0] + last
            if last - first <= LONGEST_QUOTATION:
                return first, last
            break
    room = max(0, LONGEST_QUOTATION - (end - start)) // 2
    return _after_space(text, max(0, start - room), start), min(len(text), start + LONGEST_QUOTATION, end + room)


def _after_space(text: str, start: int, end: int) -> int:
    """Where the first whole word from `start` on begins: of a secret without its beginning nobody knows what it is."""
    if start == 0 or text[start - 1].isspace():
        return start
    space = _SPACE.search(text, start, end)
    return end if space is None else space.end()
