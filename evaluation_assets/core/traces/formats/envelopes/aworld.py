"""Trajectories of AWorld: steps with the state that an agent was in, and the action that it took.

The state has the messages before the step, or only what came in. Each step of an agent repeats what it saw before.
"""

from collections.abc import Iterator
from typing import Any

from evaluation_assets.core.traces.formats.envelopes.envelope import PARTS, Chat, Envelope, plain_message, without
from evaluation_assets.core.traces.formats.messages.chat import role_of
from evaluation_assets.core.traces.formats.transcript import as_text
from evaluation_assets.core.traces.formats.untyped import (
    as_number,
    at,
    decoded,
    first_text,
    object_in,
    objects_in,
    without_none,
)
from evaluation_assets.core.traces.trajectories.model import JsonObject

_STEPS = "trajectory"


def _is_step(data: Any) -> bool:
    step = object_in(data)
    action, state = object_in(step.get("action")), object_in(step.get("state"))
    return "agent_id" in object_in(step.get("meta")) and "is_agent_finished" in action and "messages" in state


def _steps_in(data: Any) -> list[JsonObject]:
    steps = list(objects_in(decoded(at(data, _STEPS))))
    return steps if steps and all(map(_is_step, steps)) else []


def _conversations(data: JsonObject) -> Iterator[Chat]:
    steps = list(objects_in(data[PARTS])) if PARTS in data else _steps_in(data)
    about = object_in(steps[0].get("meta"))
    record = {
        "task_id": about.get("task_id"),
        "session_id": about.get("session_id"),
        **without(data, PARTS, _STEPS, "is_sub_task"),
        "score": as_number(at(steps[-1].get("reward"), "score")),
        "messages": list(_messages(steps)),
    }
    numbers: dict[Any, int] = {}
    for step in steps:
        number = step["meta"].get("step")
        if isinstance(number, int):
            numbers[step["meta"]["agent_id"]] = max(number, numbers.get(step["meta"]["agent_id"], 0))
    stated = {"step": (max(len(steps), sum(numbers.values())), len(steps))} if numbers else {}
    yield Chat(without_none(record), stated=stated)


def _messages(steps: list[JsonObject]) -> Iterator[JsonObject]:
    """What was said and done. Of what other agents were told, only results of calls are new."""
    first = first_text(steps[0]["meta"], "agent_id")
    seen: set[str | None] = set()
    for step in steps:
        agent = first_text(step["meta"], "agent_id")
        for message in _given(step["state"], is_first=agent not in seen):
            if role_of(message) == "tool" or agent == first:
                yield message
        seen.add(agent)
        action = step["action"]
        calls = list(objects_in(action.get("tool_calls")))
        said = plain_message("assistant", action.get("content"), name=(agent or "").partition("---")[0] or None)
        if calls or action.get("content"):
            yield {**said, **({"tool_calls": calls} if calls else {})}


def _given(state: JsonObject, *, is_first: bool) -> list[JsonObject]:
    """What a state has that the one before had not: all messages, or those since the agent acted."""
    messages = list(objects_in(state.get("messages")))
    if not messages:
        given = object_in(state.get("input"))
        results = list(objects_in(given.get("action_result")))
        asked = as_text(given.get("content") or "")
        return list(map(_result, results)) if results else [plain_message("user", asked)] if is_first else []
    acted = [place for place, message in enumerate(messages) if role_of(message) == "assistant"]
    return messages if is_first or not acted else messages[acted[-1] + 1 :]


def _result(result: JsonObject) -> JsonObject:
    failed = result.get("success") is False or bool(result.get("error"))
    shown = as_text(result.get("content") or result.get("error") or "")
    return plain_message("tool", shown, tool_call_id=result.get("tool_call_id"), is_error=failed or None)


AWORLD = Envelope(
    name="aworld",
    description="trajectories of AWorld: steps with meta, state, action and reward",
    detection="steps whose meta names an agent_id, with a state and an action that says is_agent_finished",
    holds=lambda data: bool(_steps_in(data)),
    part_of=lambda data: (first_text(data["meta"], "task_id") or "") if _is_step(data) else None,
    conversations=_conversations,
)
