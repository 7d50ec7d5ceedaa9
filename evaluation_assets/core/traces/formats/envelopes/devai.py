"""Trajectories of DevAI (Agent-as-a-Judge): steps with what a user said, an agent thought and did, and what came back.

The figures of each step are its own; those accumulated are left out.
"""

from collections.abc import Iterator
from typing import Any

from evaluation_assets.core.traces.formats.envelopes.envelope import PARTS, Chat, Envelope, plain_message
from evaluation_assets.core.traces.formats.untyped import at, first_text, list_in, object_in, objects_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

_STEP = {"step", "user_message", "agent", "environment"}
_LISTS = ("trajectory", "steps")


def _is_step(data: Any) -> bool:
    return isinstance(data, dict) and data.keys() >= _STEP and "action" in object_in(data["agent"])


def _steps_in(data: Any) -> tuple[str, list[JsonObject]]:
    lists = ((name, list_in(at(data, name))) for name in _LISTS)
    return next(((name, steps) for name, steps in lists if steps and all(map(_is_step, steps))), ("", []))


def _conversations(data: JsonObject) -> Iterator[Chat]:
    name, steps = (PARTS, list(objects_in(data[PARTS]))) if PARTS in data else _steps_in(data)
    models = (first_text(step.get("step_usage"), "model") for step in steps)
    messages = [message for step in steps for message in _messages(step)]
    about = {key: value for key, value in data.items() if key != name}
    yield Chat({"model": next(filter(None, models), None), **about, "messages": messages})


def _messages(step: JsonObject) -> Iterator[JsonObject]:
    if (asked := first_text(step, "user_message")) is not None:
        yield plain_message("user", asked)
    agent, used = object_in(step["agent"]), object_in(step.get("step_usage"))
    thought, action = first_text(agent, "thought"), first_text(agent, "action")
    usage = {name: used[name] for name in ("input_tokens", "output_tokens", "cost") if used.get(name) is not None}
    if action is None and thought is None:
        return
    about = {"name": first_text(agent, "agent_name"), "usage": usage or None}
    said = plain_message("assistant", thought if action is None else None, **about)
    call_id = f"step {step['step']}"
    call = {"id": call_id, "name": "action", "arguments": {"action": action}}
    yield said if action is None else {**said, "reasoning_content": thought, "tool_calls": [call]}
    if action is not None and step.get("environment") is not None:
        yield plain_message("tool", step["environment"], tool_call_id=call_id)


DEVAI = Envelope(
    name="devai",
    description="trajectories of DevAI (Agent-as-a-Judge)",
    detection="steps with user_message, agent and environment",
    holds=lambda data: bool(_steps_in(data)[1]),
    part_of=lambda data: "" if _is_step(data) else None,
    conversations=_conversations,
)
