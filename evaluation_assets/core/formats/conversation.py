"""A conversation and its context as a trajectory, and the records that belong to one conversation."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation_assets.core.formats.base import DropFile, Record, Rejection, UnusableRecord
from evaluation_assets.core.formats.context import Context
from evaluation_assets.core.formats.files.records import read_records
from evaluation_assets.core.formats.isolation import usable
from evaluation_assets.core.formats.transcript import Asked, Call, Event, Said, final_message, flags_of, total, written
from evaluation_assets.core.formats.unmapped_fields import type_name
from evaluation_assets.core.trajectories.identity import task_id_of
from evaluation_assets.core.trajectories.model import Agent, Tool, Trajectory, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """What was said and done, and what the agent was given. `usage` is the whole's, where only that is known."""

    events: tuple[Event, ...]
    system: str | None = None
    tools: tuple[Tool, ...] | None = None
    usage: Usage | None = None


class Gathered:
    """What an agent thinks, says and calls piece by piece, until it is told as one; the usage is told once."""

    def __init__(self, usage: Usage | None = None) -> None:
        self.thoughts: list[str] = []
        self.texts: list[str] = []
        self.calls: list[Call] = []
        self._usage = usage

    def told(self) -> Iterator[Said]:
        """All of it, if there is any; after that nothing is left."""
        if self.thoughts or self.texts or self.calls:
            yield Said(
                thought="\n\n".join(self.thoughts) or None,
                message="\n".join(self.texts) or None,
                calls=tuple(self.calls),
                usage=self._usage,
            )
            self._usage = None
        self.thoughts, self.texts, self.calls = [], [], []


def trajectory_from(format_name: str, conversation: Conversation, context: Context) -> Trajectory:
    """The trajectory of a conversation.

    Raises:
        UnusableRecord: no agent said or did anything in it.
    """
    said = [event for event in conversation.events if isinstance(event, Said)]
    if not any(event.thought or event.message or event.calls for event in said):
        raise UnusableRecord("no_trajectory_text", "no agent says or does anything in this conversation")
    text, turns = written(conversation.events)
    asked = next((event.text for event in conversation.events if isinstance(event, Asked) and event.text.strip()), "")
    task = context.task or asked
    final_answer = context.final_answer or (None if context.cut_off else final_message(turns))
    task_id = task_id_of(context.task_id, task, text)
    return Trajectory(
        id=context.id or task_id,
        task_id=task_id,
        trial=context.trial,
        format=format_name,
        task=task,
        text=text,
        turns=turns,
        agents=_agents(said, conversation, context),
        final_answer=final_answer,
        reference_answer=context.reference_answer,
        success=context.success,
        started_at=context.started_at,
        duration_s=context.duration_s,
        usage=conversation.usage or total(event.usage for event in said),
        flags=flags_of(cut_off=context.cut_off, unanswered=len(turns) == 1 and final_answer is None),
        labels=context.labels,
        extra=context.extra,
    )


def grouped(files: Sequence[DropFile], belongs: Callable[[Any, Any], bool]) -> Iterator[list[Record] | Rejection]:
    """Records that follow each other and belong to one conversation; a line that is no record is told at once.

    `belongs` says of two records whether the second goes on with what the first one is part of.
    """
    for file in files:
        group: list[Record] = []
        for record in read_records(file):
            if isinstance(record, Rejection):
                yield record
                continue
            if group and not belongs(group[-1].data, record.data):
                yield group
                group = []
            group.append(record)
        if group:
            yield group


def each_conversation(
    files: Sequence[DropFile],
    belongs: Callable[[Any, Any], bool],
    trajectory_of: Callable[[Sequence[Any]], Trajectory],
) -> Iterator[Trajectory | Rejection]:
    """One trajectory or one rejection a conversation. `trajectory_of` is given the data of its records."""
    for group in grouped(files, belongs):
        if isinstance(group, Rejection):
            yield group
            continue
        yield usable(joined(group), lambda record: trajectory_of(record.data))


def goes_on(earlier: Sequence[Any], later: Sequence[Any]) -> bool:
    """Whether a list of messages begins with all of an earlier one and goes on."""
    return 0 < len(earlier) < len(later) and all(
        _without_markers(one) == _without_markers(other) for one, other in zip(earlier, later, strict=False)
    )


def not_a_record(data: Any, wanted: str) -> UnusableRecord:
    """The problem of a record of another type."""
    return UnusableRecord("wrong_type", f"a record is {wanted}, this is {type_name(data)}")


def joined(group: Sequence[Record]) -> Record:
    """The records of a conversation as one, which stands where the first does."""
    return Record(
        group[0].source,
        group[0].line,
        [record.data for record in group],
        b"\n".join(record.raw.strip() for record in group),
    )


def _without_markers(message: Any) -> Any:
    """A message without the marks that a client moves along for the provider's cache."""
    if isinstance(message, dict):
        return {key: _without_markers(value) for key, value in message.items() if key != "cache_control"}
    return [_without_markers(item) for item in message] if isinstance(message, list) else message


def _agents(said: list[Said], conversation: Conversation, context: Context) -> tuple[Agent, ...]:
    """Everyone who spoke, in order. System prompt and tools are those of the first."""
    names = list(dict.fromkeys(event.agent_id for event in said))
    return tuple(
        Agent(
            id=name,
            description=conversation.system if index == 0 else None,
            model=context.model,
            tools=conversation.tools if index == 0 else None,
        )
        for index, name in enumerate(names)
    )
