"""Tool calls in the form that is compared with test cases, whether from trajectories, predictions or suites."""

import re
from dataclasses import dataclass

from evaluation_assets.core.traces.trajectories.calls import CallKey, key_of
from evaluation_assets.core.traces.trajectories.identity import digest
from evaluation_assets.core.traces.trajectories.model import JsonObject, Tool, ToolCall, Trajectory, arguments_in


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call.

    `arguments` is `None` where the agent wrote no JSON object. `label` is the name later calls refer to its result by.
    `error` is the failure the tool reported, `result` a digest of what came back, `None` without a result.
    """

    name: str
    arguments: JsonObject | None
    label: str | None = None
    error: str | None = None
    result: str | None = None

    @property
    def key(self) -> CallKey:
        """Key of identical calls: tool and arguments."""
        return key_of(self.name, self.arguments)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What is known of one attempt at a case. `tools` are the tools the agents were given, `None` when unknown;
    with `has_other_tools` these are not all.

    `said` is all that agents said in a dialogue, where what the user has to be told may come before the last message.
    `failure` says what broke where the agent is not to blame: an endpoint, or a tool server. Nothing is measured then.
    """

    calls: tuple[Call, ...]
    answer: str | None = None
    said: str | None = None
    cut_off: bool = False
    failure: str | None = None
    latency_ms: float | None = None
    cost_usd: float | None = None
    tools: tuple[Tool, ...] | None = None
    has_other_tools: bool = False


FAILED = "failed"
"""Flag of runs that ended because of the infrastructure, as set by this project's agents."""

CUT_OFF = frozenset(
    {"step_limit", "call_limit", "cost_limit", "time_limit", "user_limit", "context_limit", "truncated", FAILED}
)
"""Flags of runs that did not end by themselves."""


def run_of(trajectory: Trajectory) -> Run:
    """A trajectory as an attempt at a case."""
    given = [agent.tools for agent in trajectory.agents]
    known = bool(given) and all(tools is not None for tools in given)
    return Run(
        calls=tuple(_calls(trajectory)),
        answer=trajectory.final_answer,
        said=said_in(trajectory),
        cut_off=not CUT_OFF.isdisjoint(trajectory.flags),
        failure=str(trajectory.extra.get("error") or "the run failed") if FAILED in trajectory.flags else None,
        latency_ms=None if trajectory.duration_s is None else trajectory.duration_s * 1000,
        cost_usd=None if trajectory.usage is None else trajectory.usage.cost_usd,
        tools=tuple(tool for tools in given for tool in tools or ()) if known else None,
        has_other_tools=any(agent.has_other_tools for agent in trajectory.agents),
    )


def said_in(trajectory: Trajectory) -> str | None:
    """All that agents said in a dialogue; `None` with one turn."""
    if len(trajectory.turns) < 2:
        return None
    messages = (trajectory.piece(step.message) for step in trajectory.steps if step.message)
    responses = (each.response or "" for turn in trajectory.turns for each in turn.interactions)
    return "\n".join((*messages, *responses))


def _calls(trajectory: Trajectory) -> list[Call]:
    calls: list[Call] = []
    for step in trajectory.calls:
        if step.call is None:
            continue
        result = None if step.result is None else digest(trajectory.piece(step.result.content))
        error = None if step.result is None else step.result.error
        calls.append(Call(step.call.name, _arguments(trajectory, step.call), step.call.id, error, result))
    return calls


def _arguments(trajectory: Trajectory, call: ToolCall) -> JsonObject | None:
    """The arguments of a call. Transcripts keep a text as the only argument; a cut JSON object is none."""
    given, raw = trajectory.arguments(call), trajectory.piece(call.raw)
    is_cut = given is not None and given.keys() == {"arguments"} and raw.lstrip().startswith("{")
    return None if is_cut and arguments_in(raw) is None else given


_NOT_IN_FUNCTION_NAMES = re.compile(r"[^A-Za-z0-9_-]")


def same_tool(expected: str, called: str) -> bool:
    """Whether both name one tool.

    Providers allow only letters, digits, `_` and `-` in names, so that `math.sqrt` reaches a model as `math_sqrt`.
    """
    return called == expected or called == _NOT_IN_FUNCTION_NAMES.sub("_", expected)
