"""What a metric of another package sees of a subject: input, output, expected output, tool calls and messages."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from evaluation_assets.core.judging.own.view import Call, view_of
from evaluation_assets.core.judging.subjects import Subject
from evaluation_assets.core.traces.formats.writers.openai_messages import record
from evaluation_assets.core.traces.trajectories.model import JsonObject, Trajectory, Turn

CASE_VERSION = "1"
"""Raise it when a metric may see other texts of the same subject."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseCall:
    """A tool call. Arguments that are not a JSON object stand under `raw`; `result` may be the tool's error."""

    name: str
    arguments: JsonObject
    result: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """The texts of one subject.

    Attributes:
        input: The task; of an interaction or a turn the message of the user.
        output: The final answer; of an interaction or a turn the last message of the agent, of a clip or a category its
            text. `None` where there is none.
        expected: The reference answer, if the run has one.
        calls: The tool calls of the subject, in order.
        messages: The subject as OpenAI chat messages, without reasoning; it begins with a message of a user.
    """

    input: str
    output: str | None
    expected: str | None
    calls: tuple[CaseCall, ...]
    messages: tuple[JsonObject, ...]

    @property
    def context(self) -> tuple[str, ...]:
        """What the tools returned, without empty results."""
        return tuple(call.result for call in self.calls if call.result)


def case_of(subject: Subject) -> Case:
    """The case that a subject is."""
    view = view_of(subject)
    asked, output = view.task, view.answer
    if view.level in ("clip", "category"):
        output = view.text
    if view.level in ("interaction", "turn"):
        asked = _asked_before(subject) or view.task
        output = next((each.text for each in reversed(view.messages) if each.role == "agent"), None)
    return Case(
        input=asked,
        output=output or None,
        expected=view.reference_answer,
        calls=tuple(map(_call, view.calls)),
        messages=tuple(_messages(subject, asked, output)),
    )


def shown(case: Case, show: Callable[[str], str]) -> Case:
    """The case with every text as `show` makes it."""
    return Case(
        input=show(case.input),
        output=None if case.output is None else show(case.output),
        expected=None if case.expected is None else show(case.expected),
        calls=tuple(
            replace(
                call,
                arguments=_shown_in(call.arguments, show),
                result=None if call.result is None else show(call.result),
            )
            for call in case.calls
        ),
        messages=_shown_in(case.messages, show),
    )


def _asked_before(subject: Subject) -> str | None:
    """What the user said in the turn that is judged."""
    turn = subject.turn if subject.part is None else subject.part.turn
    return None if turn is None else subject.trajectory.turns[turn].user_message


def _messages(subject: Subject, asked: str, output: str | None) -> list[JsonObject]:
    messages = [
        {name: value for name, value in message.items() if name != "reasoning_content"}
        | ({"tool_call_id": message.get("tool_call_id", "unknown")} if message["role"] == "tool" else {})
        for message in record(_excerpt(subject))["messages"]
    ]
    if all(message["role"] != "user" for message in messages):
        messages.insert(sum(message["role"] == "system" for message in messages), {"role": "user", "content": asked})
    said = [message for message in messages if message.get("content") or message.get("tool_calls")]
    if output and subject.level not in ("clip", "category") and said[-1].get("content") != output:
        said.append({"role": "assistant", "content": output})
    return said


def _excerpt(subject: Subject) -> Trajectory:
    """The trajectory with nothing but the steps of the subject."""
    trajectory = subject.trajectory
    if subject.part is not None:
        turns: tuple[Turn, ...] = (
            replace(trajectory.turns[subject.part.turn], interactions=(subject.part.interaction,)),
        )
    elif subject.turn is not None:
        turns = (trajectory.turns[subject.turn],)
    else:
        turns = trajectory.turns
    if subject.level in ("clip", "category"):
        spans = [(clip.start, clip.end) for clip in subject.focus]
        turns = tuple(_within(turn, spans) for turn in turns)
    return replace(trajectory, turns=turns)


def _within(turn: Turn, spans: list[tuple[int, int]]) -> Turn:
    interactions = tuple(
        replace(
            interaction,
            steps=tuple(
                step
                for step in interaction.steps
                if any(start <= step.start and step.end <= end for start, end in spans)
            ),
        )
        for interaction in turn.interactions
    )
    return replace(turn, interactions=interactions, user_message=None)


def _call(call: Call) -> CaseCall:
    arguments = {"raw": call.raw} if call.arguments is None else call.arguments
    return CaseCall(name=call.name, arguments=arguments, result=call.result if call.error is None else call.error)


def _shown_in(value: Any, show: Callable[[str], str]) -> Any:
    """A value of JSON whose texts, names of fields too, are as `show` makes them."""
    if isinstance(value, str):
        return show(value)
    if isinstance(value, list | tuple):
        return type(value)(_shown_in(each, show) for each in value)
    if isinstance(value, dict):
        return {show(name): _shown_in(each, show) for name, each in value.items()}
    return value
