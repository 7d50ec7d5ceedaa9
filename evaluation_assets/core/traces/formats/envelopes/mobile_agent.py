"""Logs of Mobile-Agent-E (`steps.json`): what its agents planned and did, and the screens that came of it."""

from collections.abc import Iterator
from typing import Any

from evaluation_assets.core.traces.formats.envelopes.envelope import PARTS, Chat, Envelope, plain_message
from evaluation_assets.core.traces.formats.transcript import as_text
from evaluation_assets.core.traces.formats.untyped import first_text, list_in, object_in, objects_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

_OPERATIONS = (
    "perception", "planning", "action", "action_reflection", "notetaking", "experience_retrieval",
    "experience_reflection", "finish",
)  # fmt: skip
_EXPECTED = "A"
"""The outcome of an action that did what the agent wanted, as another agent sees it."""
_MANAGER, _OPERATOR = "manager", "operator"


def _is_step(data: Any) -> bool:
    step = object_in(data)
    return "step" in step and (step.get("operation") in _OPERATIONS or {"instruction", "init_info_pool"} <= step.keys())


def _conversations(data: JsonObject) -> Iterator[Chat]:
    steps = list(objects_in(data[PARTS]))
    begun = next((step for step in steps if "instruction" in step), {})
    messages = [plain_message("user", asked)] if (asked := first_text(begun, "instruction")) else []
    for number, step in enumerate(steps):
        if step.get("operation") == "planning":
            plan = as_text(step.get("plan") or "")
            thought = first_text(step, "thought")
            messages.append(plain_message("assistant", plan, name=_MANAGER, reasoning_content=thought))
        elif step.get("operation") == "action":
            messages += _acted(step, steps[number + 1 :], f"action {number}")
    flag = next((flag for step in steps if (flag := first_text(step, "finish_flag"))), None)
    record = {"task_id": begun.get("task_id"), "stop_reason": flag, "messages": messages}
    yield Chat(record, failure=flag if flag == "abnormal" else None)


def _acted(step: JsonObject, later: list[JsonObject], name: str) -> Iterator[JsonObject]:
    """An action with what the screen showed next, and whether that was what the agent wanted."""
    made = object_in(step.get("action_object"))
    call = {"id": name, "name": first_text(made, "name") or "action", "arguments": made.get("arguments") or {}}
    said = plain_message("assistant", first_text(step, "action_description"), name=_OPERATOR)
    yield {**said, "reasoning_content": step.get("action_thought"), "tool_calls": [call]}
    until = next((n for n, each in enumerate(later) if each.get("operation") in ("planning", "action")), len(later))
    seen = {each.get("operation"): each for each in later[:until]}
    if "perception" not in seen and "action_reflection" not in seen:
        return
    reflected = object_in(seen.get("action_reflection"))
    outcome = first_text(reflected, "outcome")
    shown = "\n".join(as_text(info) for info in list_in(object_in(seen.get("perception")).get("perception_infos")))
    is_failed = outcome is not None and _EXPECTED not in outcome
    error = (first_text(reflected, "error_description") or outcome) if is_failed else None
    yield plain_message("tool", shown, tool_call_id=name, error=error)


MOBILE_AGENT = Envelope(
    name="mobile_agent",
    description="logs of Mobile-Agent-E (`steps.json`), without tokens",
    detection="steps with an operation such as planning, action and action_reflection",
    holds=lambda _: False,
    part_of=lambda data: "" if _is_step(data) else None,
    conversations=_conversations,
)
