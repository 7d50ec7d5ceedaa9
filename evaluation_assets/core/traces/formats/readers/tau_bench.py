"""tau-bench runs: a dialogue with a simulated user, its reward and the gold actions.

The instruction of the simulated user is not part of the agent's prompt; it is stored in the labels. Agents with the
strategies `react` and `act` write an action into each text; what a tool gives them, the user says.
"""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from evaluation_assets.core.traces.formats.base import DropFile, Record, Rejection, Sample, UnusableRecord
from evaluation_assets.core.traces.formats.context import Context
from evaluation_assets.core.traces.formats.conversation import Conversation, not_a_record, trajectory_from
from evaluation_assets.core.traces.formats.isolation import each_record
from evaluation_assets.core.traces.formats.messages.chat import events_of, system_of
from evaluation_assets.core.traces.formats.stated import OUTCOME
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields
from evaluation_assets.core.traces.formats.untyped import (
    as_object,
    at,
    first_text,
    list_in,
    object_in,
    without_none,
)
from evaluation_assets.core.traces.trajectories.model import JsonObject, Trajectory

NAME = "tau_bench"
DESCRIPTION = "tau-bench runs: messages with a simulated user, reward and gold actions"
DETECTION = "records with task_id, reward, traj and info"

_ACTION, _GIVEN, _RESPOND = "Action:", "API output: ", "respond"
_THOUGHT = re.compile(r"^\s*Thought:\s*", re.MULTILINE)


def detect(sample: Sample) -> bool:
    """Whether a record is a run with its reward."""
    return sample.has("traj", "task_id", "reward", "info")


def read(files: Sequence[DropFile], unmapped: UnmappedFields) -> Iterator[Trajectory | Rejection]:
    """Yield one trajectory or rejection per run."""
    return each_record(files, partial(trajectory_of, unmapped))


def trajectory_of(unmapped: UnmappedFields, record: Record) -> Trajectory:
    """Build the trajectory of a run.

    Raises:
        UnusableRecord: the record is not a run, or has no agent message or tool call.
    """
    if not isinstance(record.data, dict):
        raise not_a_record(record.data, "an object")
    with unmapped.reading({**record.data, "traj": list(_acted(list_in(record.data.get("traj"))))}) as fields:
        info = fields.object("info")
        messages = fields.objects("traj")
        if not messages:
            raise UnusableRecord("no_trajectory_text", info.text("error") or "'traj' is not a list of messages")
        task_id = fields.recorded_id("task_id")
        trial = max(fields.whole("trial") or 0, 0)
        reward = fields.number("reward")
        finished = info.object("reward_info")
        outcomes = map(_outcome, (reward, finished.number("reward")))
        context = Context(
            id=f"{task_id}#{trial}" if task_id and trial else task_id,
            task_id=task_id,
            trial=trial,
            success=None if reward is None else succeeded(reward),
            disputed=not fields.stated.agree(f"{OUTCOME} (`reward`, `info.reward_info.reward`)", *outcomes),
            cut_off=_never_ended(record.data),
            labels=_labels(info.object("task"), finished, reward),
            extra=info.short("source", "user_cost"),
        )
        conversation = Conversation(events=tuple(events_of(messages)), system=system_of(messages))
        return trajectory_from(NAME, conversation, context)


def _acted(messages: list[Any]) -> Iterator[Any]:
    """The messages, with the actions in their texts as calls and what tools gave as results, if there are any."""
    said = (_text(message) for message in messages if at(message, "role") == "assistant")
    is_written = any(_ACTION in text and "content" not in _action(text) for text in said)
    is_written = is_written or any(_text(message).startswith(_GIVEN) for message in messages)
    for message in messages:
        text, role = _text(message), at(message, "role")
        if is_written and role == "assistant" and not at(message, "tool_calls"):
            yield {**message, "content": None, **_action(text)}
        elif is_written and role == "user" and text.startswith(_GIVEN):
            yield {**message, "role": "tool", "content": text.removeprefix(_GIVEN)}
        else:
            yield message


def _action(text: str) -> JsonObject:
    """What a text does: it calls a tool, or says something to the user, as does one without an action."""
    thought, _, written = text.rpartition(_ACTION)
    action = object_in(as_object(written.strip()))
    arguments = object_in(action.get("arguments"))
    reasoning = {"reasoning_content": said} if (said := _THOUGHT.sub("", thought).strip()) else {}
    if (name := first_text(action, "name")) is None:
        return {"content": written.strip(), **reasoning}
    if name == _RESPOND:
        return {"content": first_text(arguments, "content") or "", **reasoning}
    return {"tool_calls": [{"name": name, "arguments": action.get("arguments")}], **reasoning}


def _text(message: Any) -> str:
    return first_text(message, "content") or ""


def succeeded(reward: float) -> bool:
    """The benchmark's rule for success: a reward of 1 within rounding."""
    return abs(reward - 1) <= 1e-6


def _outcome(reward: float | None) -> bool | None:
    return None if reward is None else succeeded(reward)


def _never_ended(data: JsonObject) -> bool:
    """Whether the run reached the turn limit; no reward is computed for such runs."""
    info = data.get("info")
    return isinstance(info, dict) and "reward_info" in info and info["reward_info"] is None


def _labels(task: Fields, finished: Fields, reward: float | None) -> JsonObject:
    """The outcome and the gold actions, which the benchmark writes twice."""
    labels: JsonObject = {"reward": reward, "expected_calls": [_expected(action) for action in task.objects("actions")]}
    outputs = task.items("outputs")
    checks = finished.short("info")
    labels |= {"expected_outputs": outputs} if outputs else {}
    labels |= {"reward_info": checks["info"]} if checks else {}
    labels |= task.short("instruction", "user_id")
    finished.set_aside("reward", "actions")
    return without_none(labels)


def _expected(action: Fields) -> dict[str, Any]:
    return {"name": action.text("name"), "arguments": action.value("kwargs", "arguments") or {}}
