"""Steps in which another agent ran, with its own steps inside: these come after the step that began them.

{"steps": [{"agent": "planner", "task": "Refund order 17", "child": {"agent": "refunder", "steps": [...]}}]}

So do those of the agents that a run has beside its steps.

{"input": "Refund order 17", "output": "Done.", "children": [{"agent": "refunder", "tool_calls": [...]}]}
"""

import re
from collections.abc import Iterator
from typing import Any

from evaluation_assets.core.traces.formats.envelopes.asked import answers_in, asked_in
from evaluation_assets.core.traces.formats.messages.acts import act_in
from evaluation_assets.core.traces.formats.untyped import at, first_text, list_in, object_in, objects_in, without_none
from evaluation_assets.core.traces.trajectories.model import JsonObject

_STEPS = ("steps", "trajectory", "actions", "history", "trace", "events")
_CHILD = re.compile("child|sub|nested|delegat|spawn|handoff|worker|agent_?run|inner|run$|trajectory$", re.IGNORECASE)
"""What fields with the run of another agent are called, one or several."""
_CALLS = ("calls", "tool_calls", "toolCalls", "actions")
_AGENTS = ("agent_name", "agent", "name")
_WORDS = ("message", "content", "text")
_ASKED = ("task", "instruction", "instructions", "request", "prompt", "query", "goal", "input", "objective")
_DEEPEST = 20
_BESIDE = re.compile("child|^sub|nested|delegat|spawn|worker", re.IGNORECASE)
"""What the runs of other agents are called beside the steps of a run."""


def with_child_steps(data: JsonObject) -> JsonObject:
    """A record with the steps of all its agents in one list; any other record unchanged."""
    name = next((name for name in _STEPS if any(map(_has_children, list_in(data.get(name))))), None)
    if name is not None:
        return {**data, name: list(_steps_of(data[name], None, _DEEPEST))}
    children = _runs_beside(data)
    if not children or asked_in(data) is None or not answers_in(data):
        return data
    own = _list_of(data) or _STEPS[0]
    steps = [*list_in(data.get(own)), *_steps_of_runs(children, first_text(data, *_AGENTS), _DEEPEST)]
    return {**{key: value for key, value in data.items() if value is not children}, own: steps}


def _runs_beside(data: JsonObject) -> list[JsonObject]:
    """The runs of other agents that a run has beside its steps: in a list, each with calls or with such runs."""
    lists = (value for key, value in data.items() if _BESIDE.search(key) and isinstance(value, list))
    return next((runs for runs in lists if runs and all(map(_is_run, runs))), [])


def _is_run(child: Any) -> bool:
    told = isinstance(child, dict) and (asked_in(child) is not None or bool(answers_in(child)))
    return told and (_list_of(child) is not None or bool(_runs_beside(child)))


def _list_of(run: JsonObject) -> str | None:
    return next((name for name in (*_STEPS, *_CALLS) if list_in(run.get(name))), None)


def _steps_of_runs(runs: list[JsonObject], caller: str | None, depth: int) -> Iterator[Any]:
    """The steps of runs: what each was asked by its caller, what it did and had done, and what it answered."""
    for run in runs if depth else ():
        agent = first_text(run, *_AGENTS)
        if (asked := asked_in(run)) is not None:
            yield without_none({"agent": caller, _WORDS[0]: asked[1]})
        for step in list_in(run.get(_list_of(run) or "")):
            yield {"agent": agent, **step} if isinstance(step, dict) and agent is not None else step
        yield from _steps_of_runs(_runs_beside(run), agent, depth - 1)
        if (answer := next(iter(answers_in(run).values()), None)) is not None:
            yield without_none({"agent": agent, _WORDS[0]: answer})


def _steps_of(steps: list[Any], agent: str | None, depth: int) -> Iterator[Any]:
    for step in steps:
        own, children = _parted(step) if depth else (step, [])
        own = own if agent is None or not isinstance(own, dict) else {"agent": agent, **own}
        if not children:
            yield own
            continue
        if first_text(own, *_WORDS) is not None or act_in(own) is not None or _calls_of(own):
            yield own
        elif (asked := next((key for key in _ASKED if first_text(own, key)), None)) is not None:
            others = {key: value for key, value in own.items() if key != asked}
            yield {**others, _WORDS[0]: own[asked]}  # what it said to the agent that it began
        for child in children:
            holder = next(name for name in _STEPS if list_in(child.get(name)))
            yield from _steps_of(child[holder], first_text(child, *_AGENTS) or agent, depth - 1)


def _parted(step: Any) -> tuple[Any, list[JsonObject]]:
    """A step without the runs of other agents in it and in its calls, and these."""
    if not _has_children(step):
        return step, []
    found = _children_of(step)
    children = [each for runs in found.values() for each in runs]
    own = {key: value for key, value in step.items() if key not in found}
    for name in _CALLS:
        if calls := list_in(own.get(name)):
            parted = [_parted(call) for call in calls]
            own[name] = [call for call, _ in parted]
            children += [each for _, inner in parted for each in inner]
    return own, children


def _has_children(step: Any) -> bool:
    return bool(_children_of(step)) or any(map(_children_of, _calls_of(step)))


def _calls_of(step: Any) -> list[Any]:
    return [call for name in _CALLS for call in list_in(at(step, name))]


def _children_of(step: Any) -> dict[str, list[JsonObject]]:
    """The runs of other agents in a step, by the fields that hold them."""
    fields = {key: value for key, value in object_in(step).items() if _CHILD.search(key)}
    runs = {key: list(objects_in([value] if isinstance(value, dict) else value)) for key, value in fields.items()}
    return {
        key: found
        for key, found in runs.items()
        if found and all(any(list_in(each.get(name)) for name in _STEPS) for each in found)
    }
