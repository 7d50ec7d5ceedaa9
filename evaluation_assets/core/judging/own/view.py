"""What a check of the user's own sees of a subject: its calls, results, messages and answer, as plain values."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from evaluation_assets.core.judging.rubrics.model import Level
from evaluation_assets.core.judging.subjects import Subject
from evaluation_assets.core.sections.sessions.interactions import interactions_of
from evaluation_assets.core.traces.trajectories.model import Interaction, JsonObject, Step, Trajectory, Turn, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool call with what came back.

    `arguments` is `None` where the agent wrote no JSON object; `raw` is what it wrote. `result` is `None` where nothing
    came back; `error` is the failure in the tool's words.
    """

    name: str
    arguments: JsonObject | None
    raw: str
    result: str | None
    error: str | None
    server: str | None
    agent: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidMessage:
    """A message of a user, or of the agent with this ID to a user or another agent."""

    role: Literal["user", "agent"]
    text: str
    agent: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectView:
    """A subject: a clip, a category, a trajectory, its answer; an interaction, a turn or a whole session.

    `calls`, `messages` and `text` are those of the subject alone: of a clip its one call. `name` is the clip's index,
    the category, or the place in a session. `answer` is the final answer, `usage` the tokens and cost, and `duration_s`
    the seconds, all of the whole trajectory and `None` where they are not recorded. Recorded outcomes and labels are
    not shown to judges.
    """

    level: Level
    name: str
    trajectory_id: str
    task_id: str
    task: str
    text: str
    calls: tuple[Call, ...]
    messages: tuple[SaidMessage, ...]
    answer: str | None
    reference_answer: str | None
    usage: Usage | None
    duration_s: float | None

    @property
    def results(self) -> tuple[str, ...]:
        """What the calls returned, in order, without the calls that returned nothing."""
        return tuple(call.result for call in self.calls if call.result is not None)

    def calls_of(self, *names: str) -> tuple[Call, ...]:
        """The calls of tools with these names."""
        return tuple(call for call in self.calls if call.name in names)


def view_of(subject: Subject) -> SubjectView:
    """The view of a subject."""
    trajectory = subject.trajectory
    spans = [(clip.start, clip.end) for clip in subject.focus] if subject.level in ("clip", "category") else None
    calls: list[Call] = []
    messages: list[SaidMessage] = []
    for turn, interaction in _parts(subject):
        if interaction is None:
            if turn.user_message is not None and spans is None:
                messages.append(SaidMessage(role="user", text=turn.user_message))
            continue
        said = False
        for step in interaction.steps:
            if spans is not None and not any(start <= step.start and step.end <= end for start, end in spans):
                continue
            if (call := _call(trajectory, step, interaction.agent_id)) is not None:
                calls.append(call)
            if step.message is not None:
                said = True
                messages.append(
                    SaidMessage(role="agent", text=trajectory.piece(step.message), agent=interaction.agent_id)
                )
        if not said and spans is None and interaction.response:
            messages.append(SaidMessage(role="agent", text=interaction.response, agent=interaction.agent_id))
    return SubjectView(
        level=subject.level,
        name=subject.name,
        trajectory_id=trajectory.id,
        task_id=trajectory.task_id,
        task=trajectory.task,
        text=_text(subject),
        calls=tuple(calls),
        messages=tuple(messages),
        answer=trajectory.final_answer,
        reference_answer=trajectory.reference_answer,
        usage=trajectory.usage,
        duration_s=trajectory.duration_s,
    )


def _parts(subject: Subject) -> Iterator[tuple[Turn, Interaction | None]]:
    """The user's messages (`None`) and interactions that belong to a subject, in order."""
    if subject.part is not None:
        yield subject.trajectory.turns[subject.part.turn], subject.part.interaction
        return
    turns = subject.trajectory.turns
    for turn in turns if subject.turn is None else turns[subject.turn : subject.turn + 1]:
        yield turn, None
        for interaction in turn.interactions:
            yield turn, interaction


def _text(subject: Subject) -> str:
    if subject.level in ("clip", "category"):
        return "".join(clip.content for clip in subject.focus)
    if subject.level == "answer":
        return subject.trajectory.final_answer or ""
    if subject.part is not None:
        return subject.part.text
    if subject.turn is not None:
        return "".join(part.text for part in interactions_of(subject.trajectory) if part.turn == subject.turn)
    return subject.trajectory.text


def _call(trajectory: Trajectory, step: Step, agent: str) -> Call | None:
    made, result = step.call, step.result
    if made is None:
        return None
    return Call(
        name=made.name,
        arguments=trajectory.arguments(made),
        raw=trajectory.piece(made.raw),
        result=None if result is None else trajectory.piece(result.content),
        error=None if result is None else result.error,
        server=made.server,
        agent=agent,
    )
