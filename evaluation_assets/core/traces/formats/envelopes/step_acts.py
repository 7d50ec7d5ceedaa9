"""The calls of a step of a run, each with what came back: in the call, beside it, or in the step after it."""

from collections.abc import Iterator
from typing import Any

from evaluation_assets.core.traces.formats.envelopes.envelope import without
from evaluation_assets.core.traces.formats.messages.acts import ERRORS, RESULTS, act_in, by_name, id_of
from evaluation_assets.core.traces.formats.messages.chat import EXITS
from evaluation_assets.core.traces.formats.untyped import at, list_in, object_in, objects_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

LISTS_OF_CALLS = (
    "tool_calls", "toolCalls", "calls", "actions", "tools_used", "tools_called", "tool_uses", "function_calls",
)  # fmt: skip
BESIDE = ("tool_results", "toolResults", "observations", "tool_outputs", "results")
"""Results of the calls of a step, in a list of their own."""

NUMBERS = ("step", "step_number", "step_id", "step_index", "index", "iteration", "round")
_ATTEMPTS = ("attempts", "retries", "tries")
OUTCOMES = (
    *ERRORS, *EXITS, "success", "status", "is_error", "isError", "tool_call_id", "id", "usage", *_ATTEMPTS,
)  # fmt: skip
"""What a step says of the outcome of its call."""


def with_results(items: list[Any]) -> list[Any]:
    """The items of a list. One that is only what came back is a part of the one before, if that has no result."""
    merged: list[Any] = []
    for item in items:
        before = merged[-1] if merged else None
        is_result = isinstance(item, dict) and item.keys() <= {*RESULTS, *OUTCOMES, *NUMBERS, "timestamp"}
        if is_result and _lacks_result(before):
            merged[-1] = {**item, **object_in(before)}
        else:
            merged.append(item)
    return merged


def _lacks_result(step: Any) -> bool:
    """Whether a step is an action without a result; one that has a name alone is an action if a result follows."""
    acts = list(acts_of(step))
    return any(not has_result(act) for act in acts) if acts else act_in({**object_in(step), RESULTS[0]: ""}) is not None


def acts_of(step: Any) -> Iterator[JsonObject]:
    """The calls of a step: name, arguments, and the result if there is one."""
    listed = next((calls for name in LISTS_OF_CALLS if (calls := list(objects_in(at(step, name))))), None)
    calls = [object_in(step)] if listed is None else with_answers(listed, step)
    for call in calls:
        attempts = next((made for name in _ATTEMPTS if (made := list(objects_in(call.get(name))))), [{}])
        for number, attempt in enumerate(attempts):
            act = act_in({**without(call, *_ATTEMPTS), **attempt})
            if act is not None:
                is_again = number > 0 and act["id"] == id_of(call) is not None
                yield {**act, "id": f"{act['id']} {number}"} if is_again else act


def with_answers(calls: list[JsonObject], step: Any) -> list[JsonObject]:
    """Calls with the results that stand beside them: by their IDs or names, or in their order if none is missing."""
    beside = next((found for name in BESIDE if (found := at(step, name)) and isinstance(found, list | dict)), [])
    named = [{"id": key, "result": value} for key, value in object_in(beside).items()]
    if named and not all(id_of(call) in beside for call in calls):
        return calls
    results = named or list_in(beside)
    if any(name in call for call in calls for name in RESULTS):
        return calls
    by_id = {id_of(result): result for result in objects_in(results) if id_of(result) is not None}
    if by_id:
        return [{**_result_in(by_id.get(id_of(call))), **call} for call in calls]
    if len(results) != len(calls):
        return calls
    return [{**_result_in(result), **call} for call, result in zip(calls, by_name(calls, results), strict=True)]


def _result_in(result: Any) -> JsonObject:
    """The fields of a result of its own that say what came back."""
    if not isinstance(result, dict):
        return {"result": result}
    shown = next((result[name] for name in (*RESULTS, "content") if result.get(name) is not None), None)
    said = {name: result[name] for name in OUTCOMES if name in result and name != "id"}
    return {"result": shown if shown is not None or said else result, **said}


def has_result(act: JsonObject) -> bool:
    """Whether something came back from a call."""
    return act["shown"] is not None
