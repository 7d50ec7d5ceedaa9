"""Events of OpenHands as its resolver writes them: without source and IDs, and the arguments among the other fields.

{"action": "run", "command": "make test", "thought": "I run the tests.", "is_confirmed": "confirmed"}
{"observation": "run", "content": "2 failed", "command": "make test", "exit_code": 1}
"""

from collections.abc import Sequence
from typing import Any

from evaluation_assets.core.traces.trajectories.model import JsonObject

_ACTIONS = frozenset(
    "message run run_ipython read write edit browse browse_interactive delegate finish reject think recall null"
    " change_agent_state add_task modify_task summarize call_tool_mcp condensation".split()
)
_RESULTS = ("content", "observation")


def are_flat(items: Sequence[Any]) -> bool:
    """Whether all items are such events, and an observation is among them."""
    shown = [isinstance(item, dict) and _is_observation(item) for item in items]
    return any(shown) and all(
        is_shown or (isinstance(item, dict) and _is_action(item)) for item, is_shown in zip(items, shown, strict=True)
    )


def with_sources(items: Sequence[JsonObject]) -> list[JsonObject]:
    """These events in the form of the event stream. An observation is the result of the action before it."""
    events: list[JsonObject] = []
    for number, item in enumerate(items):
        if _is_observation(item):
            extras = {key: value for key, value in item.items() if key not in _RESULTS}
            shown = {key: item[key] for key in _RESULTS}
            events.append({"source": "environment", "cause": number - 1, "extras": extras, **shown})
            continue
        arguments = {key: value for key, value in item.items() if key != "action"}
        is_users = item["action"] == "message" and not item.get("wait_for_response")
        source = "user" if is_users else "agent"
        events.append({"id": number, "source": source, "action": item["action"], "args": arguments})
    return events


def _is_action(item: JsonObject) -> bool:
    action = item.get("action")
    return isinstance(action, str) and action in _ACTIONS and not {"source", "args", "observation"} & item.keys()


def _is_observation(item: JsonObject) -> bool:
    return all(isinstance(item.get(key), str) for key in _RESULTS) and not {"source", "action"} & item.keys()
