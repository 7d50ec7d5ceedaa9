"""Runs whose actions and observations are lists of their own, which go together by their places.

{"task": "Is order 17 paid?", "thoughts": ["I look."], "actions": ["look_up[17]"], "observations": ["paid"]}
"""

from typing import Any

from evaluation_assets.core.traces.formats.messages.acts import RESULTS, THOUGHTS
from evaluation_assets.core.traces.formats.untyped import list_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

_MADE = ("actions", "action_history", "commands", "actions_taken", "executed_actions")
_SHOWN = tuple(name for each in RESULTS for name in (each, f"{each}s"))
_THOUGHT = tuple(name for each in THOUGHTS for name in (each, f"{each}s"))


def with_steps(data: JsonObject) -> JsonObject:
    """A record with its paired lists as steps; any other record unchanged.

    Before the first action, there may be an observation more.
    """
    made = next((name for name in _MADE if _are_texts(data.get(name))), None)
    shown = next((name for name in _SHOWN if isinstance(data.get(name), list)), None)
    if made is None or shown is None:
        return data
    actions, results = data[made], data[shown]
    first = results[:1] if len(results) == len(actions) + 1 else []
    if len(results) - len(first) not in (len(actions), len(actions) - 1):
        return data
    said = next((name for name in _THOUGHT if len(list_in(data.get(name))) == len(actions)), None)
    thoughts = [None] * len(actions) if said is None else data[said]
    results = [*results[len(first) :], None]
    steps = [
        {"thought": thought, "action": action, "observation": result}
        for thought, action, result in zip(thoughts, actions, results, strict=False)
    ]
    others = {key: value for key, value in data.items() if key not in (made, shown, said)}
    return {**others, **({"first_observation": first[0]} if first else {}), "steps": steps}


def _are_texts(actions: Any) -> bool:
    return any(list_in(actions)) and all(isinstance(action, str) for action in list_in(actions))
