"""Runs whose steps are not one list, in the form of steps.

Actions and observations, or tools with what they were given and gave back, may be lists of their own, which go together
by their places, or pairs in one list. What was retrieved for an answer, or the one call before it, may stand beside the
question and the answer.

{"task": "Is order 17 paid?", "thoughts": ["I look."], "actions": ["look_up[17]"], "observations": ["paid"]}
{"task": "Is order 17 paid?", "trajectory": [["look_up[17]", "Order 17 was paid."]]}
{"task": "Is order 17 paid?", "tools_used": ["look_up"], "tool_inputs": [{"order": 17}], "tool_outputs": ["paid"]}
{"question": "Is order 17 paid?", "contexts": ["Order 17 was paid."], "answer": "Yes."}
"""

from typing import Any

from evaluation_assets.core.traces.formats.messages.acts import RESULTS, THOUGHTS
from evaluation_assets.core.traces.formats.messages.answered_questions import RETRIEVED
from evaluation_assets.core.traces.formats.messages.call_arguments import ARGUMENTS
from evaluation_assets.core.traces.formats.run_names import run_of
from evaluation_assets.core.traces.formats.untyped import decoded, first_text, list_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

_MADE = ("actions", "action_history", "commands", "actions_taken", "executed_actions")
_IN_PAIRS = ("steps", "trajectory", "history", "actions")
"""Lists of pairs. A history of pairs of texts may be one of what a user and an agent said."""
_ALONE = "action_history"
"""Actions that have no observations, as those of Online-Mind2Web, which keeps pictures instead."""
_SHOWN = tuple(name for each in RESULTS for name in (each, f"{each}s"))
_THOUGHT = tuple(name for each in THOUGHTS for name in (each, f"{each}s"))

_COLUMNS = (
    ("tools_used", "tools_called", "tool_names", "tool_calls"),
    ("tool_inputs", "tool_arguments", "tool_args", "tool_parameters"),
    ("tool_outputs", "tool_results", "observations"),
)
"""Lists of the tools that were called, of what each was given, and of what each gave back."""

_ASKED = ("question", "user_input", "query", "input", "user_query", "prompt", "task", "instruction")
_ANSWERED = ("answer", "response", "actual_output", "output", "generated_answer", "model_answer", "final_answer")
_TOOL = ("tool", "tool_name", "toolName", "function_name")
_NUMBERED = ("step", "step_number", "step_id", "step_index", "index", "turn")


def with_steps(data: JsonObject) -> JsonObject:
    """A record with its steps in a list; any other record unchanged."""
    asked = next((name for name in _ASKED if first_text(data, name)), None)
    answered = next((name for name in _ANSWERED if first_text(data, name)), None)
    if asked is None or answered is None or "role" in data or "messages" in data:
        return _with_paired(data)
    shown = next((name for name in RETRIEVED if isinstance(decoded(data.get(name)), list)), None)
    lists = (value for name, value in data.items() if name != shown and isinstance(value, list))
    if any(isinstance(item, dict) for value in lists for item in value):
        return _with_paired(data)
    if shown is not None:
        step = {"tool": "retrieval", "args": {"query": data[asked]}, "result": decoded(data[shown])}
        return {**{name: value for name, value in data.items() if name != shown}, "steps": [step]}
    return _with_one_call(data, answered)


def _with_one_call(data: JsonObject, answered: str) -> JsonObject:
    """A record with the call that stands beside its question and answer, unless that is one of several steps."""
    names = (_TOOL, ARGUMENTS, RESULTS)
    found = [next((name for name in each if data.get(name) and name != answered), None) for each in names]
    if None in found or answered in RESULTS or run_of(data) is not None or any(name in data for name in _NUMBERED):
        return _with_paired(data)
    step = {name: decoded(data[name]) for name in found if name is not None}
    return {**{name: value for name, value in data.items() if name not in found}, "steps": [step]}


def _with_paired(data: JsonObject) -> JsonObject:
    """A record with its paired lists, or the pairs in its list, as steps; any other record unchanged.

    Before the first action, there may be an observation more.
    """
    data = _with_columns(data)
    for name in _IN_PAIRS:
        items = list_in(data.get(name))
        first, rest = items[:1], items[1:]
        if rest and _is_shown(first[0]):
            return {**data, "first_observation": next(iter(first[0].values())), name: rest}
        if _are_pairs(items, may_be_chat=name == "history"):
            return {**data, name: list(map(_step_of, items))}
    data = _with_thoughts(data)
    made = next((name for name in _MADE if _are_texts(data.get(name))), None)
    shown = next((name for name in _SHOWN if isinstance(data.get(name), list)), None)
    if made is None or (shown is None and made != _ALONE):
        return data
    actions, results = data[made], [None] * len(data[made]) if shown is None else data[shown]
    first = results[:1] if len(results) == len(actions) + 1 else []
    if len(results) - len(first) not in (len(actions), len(actions) - 1):
        return data
    said = next((name for name in _THOUGHT if len(list_in(data.get(name))) == len(actions)), None)
    thoughts = [None] * len(actions) if said is None else data[said]
    results = [*results[len(first) :], None]
    steps = [
        {
            "thought": thought,
            **({"action": action} if shown else {"tool": "action", "args": {"action": action}}),
            "observation": result,
        }
        for thought, action, result in zip(thoughts, actions, results, strict=False)
    ]
    others = {key: value for key, value in data.items() if key not in (made, shown, said)}
    return {**others, **({"first_observation": first[0]} if first else {}), "steps": steps}


def _with_columns(data: JsonObject) -> JsonObject:
    """A record with its calls as steps, if tools, arguments and results are lists that are equally long."""
    names = [next((name for name in each if list_in(decoded(data.get(name)))), None) for each in _COLUMNS]
    tools, given, shown = (list_in(decoded(data.get(name or ""))) for name in names)
    if not _are_texts(tools) or not len(tools) == len(given) == len(shown):
        return data
    steps = [
        {"tool": tool, "args": decoded(arguments), "result": result}
        for tool, arguments, result in zip(tools, given, shown, strict=True)
    ]
    return {**{key: value for key, value in data.items() if key not in names}, "steps": steps}


def _with_thoughts(data: JsonObject) -> JsonObject:
    """A record with the thoughts of a list of their own in the actions that are objects, if these are as many."""
    made = next((name for name in _MADE if any(isinstance(item, dict) for item in list_in(data.get(name)))), None)
    said = next((name for name in _THOUGHT if made and len(list_in(data.get(name))) == len(data[made])), None)
    if made is None or said is None or not all(isinstance(item, dict) for item in data[made]):
        return data
    actions = [{"thought": thought, **action} for thought, action in zip(data[said], data[made], strict=True)]
    return {**{key: value for key, value in data.items() if key != said}, made: actions}


def _is_shown(item: Any) -> bool:
    """Whether an item is what came back, and nothing else."""
    return isinstance(item, dict) and len(item) == 1 and next(iter(item)) in _SHOWN


def _are_pairs(items: list[Any], *, may_be_chat: bool) -> bool:
    """Whether all items are an action and what came back, which of two texts are the longer ones."""
    if not items or not all(map(_is_pair, items)):
        return False
    texts = [item for item in items if isinstance(item[0], str)]
    return not texts or (not may_be_chat and sum(len(made) - len(shown) for made, shown in texts) < 0)


def _is_pair(item: Any) -> bool:
    """Whether an item is an action and what came back."""
    made, shown = item if isinstance(item, list) and len(item) == 2 else (None, None)
    return (isinstance(made, str) and isinstance(shown, str)) or (
        isinstance(made, dict) and "role" not in made and (isinstance(shown, str) or _is_shown(shown))
    )


def _step_of(pair: list[Any]) -> JsonObject:
    made, shown = pair
    return {
        **(made if isinstance(made, dict) else {"action": made}),
        **(shown if isinstance(shown, dict) else {"observation": shown}),
    }


def _are_texts(actions: Any) -> bool:
    return any(list_in(actions)) and all(isinstance(action, str) for action in list_in(actions))
