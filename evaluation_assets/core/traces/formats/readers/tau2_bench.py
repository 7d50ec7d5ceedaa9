"""tau2-bench results: tasks and simulations, each with its reward and recorded action checks.

A result file holds everything. A result folder has the tasks in `results.json` and one file per simulation in
`simulations`, which are read together if the folder is one drop.

The calls that the simulated user makes, and the actions expected of it, are stored in the labels.
"""

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

from evaluation_assets.core.traces.formats.base import DropFile, Record, Rejection, Sample, UnusableRecord
from evaluation_assets.core.traces.formats.context import Context
from evaluation_assets.core.traces.formats.conversation import (
    Conversation,
    confirm_answers,
    not_a_record,
    trajectory_from,
)
from evaluation_assets.core.traces.formats.endings import is_limit
from evaluation_assets.core.traces.formats.files.records import read_items, read_records, read_value
from evaluation_assets.core.traces.formats.files.samples import sample_of
from evaluation_assets.core.traces.formats.isolation import usable
from evaluation_assets.core.traces.formats.messages.chat import first_line, result_of, said_of
from evaluation_assets.core.traces.formats.messages.contents import content_of
from evaluation_assets.core.traces.formats.messages.tool_definitions import described_tool, tools_of
from evaluation_assets.core.traces.formats.messages.users_calls import with_users_calls
from evaluation_assets.core.traces.formats.readers.tau_bench import succeeded
from evaluation_assets.core.traces.formats.stated import Comparisons
from evaluation_assets.core.traces.formats.tau2_reviews import review_labels
from evaluation_assets.core.traces.formats.tau2_voice import messages_of, session_usage, with_cost
from evaluation_assets.core.traces.formats.times import elapsed_ms
from evaluation_assets.core.traces.formats.transcript import Asked, Event, Said, total
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields
from evaluation_assets.core.traces.formats.untyped import at, list_in, object_in, objects_in
from evaluation_assets.core.traces.formats.usage import UNKNOWN, usage, usage_of
from evaluation_assets.core.traces.trajectories.identity import recorded_id
from evaluation_assets.core.traces.trajectories.model import JsonObject, Tool, Trajectory, Usage

NAME = "tau2_bench"
DESCRIPTION = "tau2-bench result files and folders: tasks and simulations with rewards, recorded checks and costs"
DETECTION = "objects with simulations or with tasks and an info with agent_info; simulations with a termination_reason"

_BROKEN = ("infrastructure_error", "unexpected_error", "user_error")
"""Termination reasons for which the agent is not to blame: the benchmark, or the simulated user, broke."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Definition of one task."""

    ticket: str | None = None
    expected: tuple[JsonObject, ...] = ()
    labels: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Metadata shared by all simulations of a file."""

    model: str | None = None
    policy: str | None = None
    tools: tuple[Tool, ...] | None = None
    extra: JsonObject = field(default_factory=dict)


def detect(sample: Sample) -> bool:
    """Whether the file has simulations, starts like a file that has, or is a simulation of a result folder."""
    return _kind(sample) is not None


def read(files: Sequence[DropFile], unmapped: UnmappedFields) -> Iterator[Trajectory | Rejection]:
    """Yield one trajectory or rejection per simulation. The tasks are read first, as a side table."""
    kinds = {file.source: _kind(sample_of(file)) for file in files}
    results = [file for file in files if kinds[file.source] == "results"]
    of_file = {file.source: _shared(file, unmapped) for file in results}
    shared = {posixpath.dirname(source): each for source, each in of_file.items()}
    folders = {posixpath.dirname(posixpath.dirname(name)) for name, kind in kinds.items() if kind == "simulation"}
    for file in files:
        folder = posixpath.dirname(file.source)
        if kinds[file.source] == "results":
            yield from _simulations(file, *of_file[file.source], unmapped, in_files=folder in folders)
        elif kinds[file.source] == "simulation":
            setting, tasks = shared.get(posixpath.dirname(folder), (Setting(), {}))
            for record in read_records(file):
                make = partial(trajectory_of, unmapped, setting, tasks)
                yield record if isinstance(record, Rejection) else usable(record, make)
        else:
            yield Rejection(file.source, 1, "not_this_format", f"the file is not in format {NAME}", "")


def _shared(file: DropFile, unmapped: UnmappedFields) -> tuple[Setting, dict[str, Task]]:
    """What the simulations of a result file or folder share: its settings, and its tasks by ID."""
    listed = read_items(file, "tasks")
    tasks = dict(_task(record, unmapped) for record in listed if isinstance(record, Record))
    return _setting(read_value(file.path, file.source, "info"), unmapped), tasks


def _simulations(
    file: DropFile, setting: Setting, tasks: Mapping[str, Task], unmapped: UnmappedFields, *, in_files: bool
) -> Iterator[Trajectory | Rejection]:
    """The simulations in a result file. That of a folder has none: they are in files of their own."""
    read, of_tasks = 0, set(tasks)
    for record in read_items(file, "simulations"):
        read += 1
        of_tasks.add(recorded_id(at(record.data, "task_id")) or "" if isinstance(record, Record) else "")
        make = partial(trajectory_of, unmapped, setting, tasks)
        yield record if isinstance(record, Rejection) else usable(record, make, is_whole=True)
    trials = setting.extra.get("num_trials")
    if read and isinstance(trials, int):
        unmapped.stated.compare("trial", trials * len(of_tasks - {""}), read)
    if not read and not in_files:
        detail = "the file has no simulations; if it belongs to a result folder, evaluate the folder with --one-drop"
        yield Rejection(file.source, 1, "no_trajectory_text", detail, "")


def trajectory_of(unmapped: UnmappedFields, setting: Setting, tasks: Mapping[str, Task], record: Record) -> Trajectory:
    """Build the trajectory of a simulation.

    Raises:
        UnusableRecord: the record is not a simulation, or has no agent message or tool call.
    """
    if not isinstance(record.data, dict):
        raise not_a_record(record.data, "an object")
    simulation = record.data
    if not simulation.get("messages") and isinstance(ticks := simulation.get("ticks"), list):
        simulation = simulation | {"messages": messages_of(ticks)}
    messages, user_calls = with_users_calls(list_in(simulation.get("messages")))
    simulation = simulation | {"messages": messages}
    with unmapped.reading(simulation) as fields:
        fields.set_aside("ticks")
        messages = fields.objects("messages")
        if not messages:
            raise UnusableRecord("no_trajectory_text", "there are no messages, and nothing is said or called in ticks")
        task_id = fields.recorded_id("task_id")
        task = tasks.get(task_id or "", Task())
        trial = max(fields.whole("trial") or 0, 0)
        events = tuple(_events(messages))
        reward_info = fields.object("reward_info")
        reward = reward_info.number("reward")
        ended = fields.text("termination_reason")
        reviews = review_labels(fields, reward_info)
        assertions = _where_any("nl_assertions", reward_info.items("nl_assertions"))
        expected = _with_checks(task.expected, reward_info.objects("action_checks"))
        context = Context(
            id=f"{task_id}#{trial}" if task_id and trial else task_id,
            task=None if any(isinstance(event, Asked) for event in events) else task.ticket,
            task_id=task_id,
            trial=trial,
            model=setting.model,
            success=None if reward is None else succeeded(reward),
            started_at=fields.text("start_time", "timestamp"),
            duration_s=fields.amount("duration"),
            cut_off=is_limit(ended),
            failure=ended if ended in _BROKEN else None,
            labels={
                **({} if reward is None else {"reward": reward}),
                "expected_calls": [call for call in expected if call["requestor"] != "user"],
                **_where_any("expected_user_calls", [call for call in expected if call["requestor"] == "user"]),
                **_where_any("user_calls", user_calls),
                **_where_any("reward_info", {**reward_info.rest(), **assertions}),
                **reviews,
                **task.labels,
            },
            extra=setting.extra | fields.short("id", "seed", "termination_reason", "user_cost", "mode"),
        )
        fields.set_aside("timestamp", "end_time", "speech_environment", "effect_timeline", "provider_session_id")
        conversation = Conversation(
            events=events,
            system=fields.text("policy") or setting.policy,
            tools=setting.tools,
            usage=_whole_usage(unmapped.stated, events, fields),
        )
        return trajectory_from(NAME, conversation, context)


def _events(messages: Sequence[Fields]) -> Iterator[Event]:
    before: str | None = None
    for message in messages:
        role, now = message.text("role"), message.text("timestamp")
        latency = elapsed_ms(before, now)
        before = now or before
        message.set_aside("turn_idx", "raw_data", "type", "requestor")
        for call in message.objects("tool_calls"):
            call.set_aside("requestor")
        if role == "tool":
            result = result_of(message)
            failed = message.flag("error") is True
            yield replace(result, error=first_line(result.content) if failed else None, latency_ms=latency)
        elif role == "user":
            text = content_of(message)
            message.set_aside("cost", "usage")  # cost of the user simulation
            if text.strip():
                yield Asked(text=text)
        elif role is not None and role != "system":
            said = said_of(message, latency_ms=latency, usage=_step_usage(message))
            if said is not None:
                yield said


def _step_usage(message: Fields) -> Usage | None:
    tokens = usage_of(message.object("usage"))
    cost = message.number("cost")
    if tokens is None:
        return usage(cost_usd=cost)
    return replace(tokens, cost_usd=cost if cost is not None and cost > 0 else None)


def _whole_usage(stated: Comparisons, events: Sequence[Event], simulation: Fields) -> Usage | None:
    """Summed usage of the messages, or of the voice session, with the recorded total cost."""
    session = session_usage(simulation.object("agent_usage"))
    tokens = total(event.usage for event in events if isinstance(event, Said))
    tokens = tokens if confirm_answers(stated, events) else UNKNOWN
    return with_cost(tokens or session, simulation.number("agent_cost"))


def _where_any(name: str, values: Any) -> JsonObject:
    return {name: values} if values else {}


def _task(record: Record, unmapped: UnmappedFields) -> tuple[str, Task]:
    """Read a task by its id."""
    if not isinstance(record.data, dict):
        unmapped.count("tasks[]")
        return "", Task()
    with unmapped.reading(record.data, "tasks[].") as fields:
        criteria = fields.object("evaluation_criteria")
        scenario = fields.object("user_scenario")
        expected = tuple(_expected(action) for action in criteria.objects("actions"))
        labels = {
            **_where_any("criteria", criteria.rest()),
            **_where_any("user_scenario", scenario.rest()),
            **fields.short("description"),
        }
        fields.set_aside("initial_state")  # state of the database and devices before the run
        return fields.name("id") or "", Task(ticket=fields.text("ticket"), expected=expected, labels=labels)


def _expected(action: Fields) -> JsonObject:
    """Read a gold action. With `compare_args`, only those arguments are compared."""
    compared = action.value("compare_args")
    action.set_aside("info")
    return {
        "id": action.name("action_id"),
        "name": action.text("name"),
        "arguments": action.value("arguments") or {},
        "requestor": action.text("requestor") or "assistant",
        **({} if compared is None else {"compare_args": compared}),
    }


def _with_checks(expected: Sequence[JsonObject], checks: Sequence[Fields]) -> list[JsonObject]:
    """The gold actions, each with whether the benchmark found a matching call."""
    matches = {}
    recorded = []
    for check in checks:
        action = _expected(check.object("action"))
        recorded.append(action)
        matched = check.flag("action_match")
        check.set_aside("action_reward", "tool_type")
        if matched is not None and action["id"] is not None:
            matches[action["id"]] = matched
    return [
        {**action, "recorded_match": matches[action["id"]]} if action["id"] in matches else action
        for action in expected or recorded
    ]


def _setting(info: Any, unmapped: UnmappedFields) -> Setting:
    if not isinstance(info, dict):
        return Setting()
    with unmapped.reading(info, "info.") as fields:
        agent, user, environment = (fields.object(f"{name}_info") for name in ("agent", "user", "environment"))
        user.set_aside("global_simulation_guidelines")
        extra = {
            **fields.short("git_commit", "num_trials", "max_steps", "max_errors", "seed"),
            **_where_any("agent_info", agent.short("implementation", "llm_args")),
            **_where_any("user_info", user.short("implementation", "llm", "llm_args")),
            **environment.short("domain_name"),
        }
        return Setting(
            model=agent.text("llm"), policy=environment.text("policy"), tools=_tools(environment), extra=extra
        )


def _tools(environment: Fields) -> tuple[Tool, ...] | None:
    """The agent's tools: OpenAI schemas, or signatures by name."""
    definitions = environment.value("tool_defs")
    if isinstance(definitions, list):
        return tools_of(environment, "tool_defs")
    if not isinstance(definitions, dict):
        return None
    signatures = environment.object("tool_defs")
    tools = []
    for name in definitions:
        signature = signatures.object(name)
        signature.set_aside("name", "returns", "raises", "examples", "info")
        parameters = signature.value("params", "parameters")
        tools.append(described_tool(name, signature.text("short_desc", "doc", "description"), parameters))
    return tuple(tools)


def _kind(sample: Sample) -> Literal["results", "simulation"] | None:
    if any(_holds_simulations(record) or _begins_like_results(record) for record in sample.records):
        return "results"
    return "simulation" if any(map(_is_simulation, sample.records)) else None


def _is_simulation(record: Any) -> bool:
    """Whether a record is a simulation, as a result folder has them."""
    known = isinstance(record, dict) and all(key in record for key in ("task_id", "termination_reason", "reward_info"))
    return known and ("messages" in record or "ticks" in record)


def _holds_simulations(record: Any) -> bool:
    simulations = objects_in(at(record, "simulations"))
    return any("task_id" in one and ("messages" in one or "ticks" in one) for one in simulations)


def _begins_like_results(record: Any) -> bool:
    """Whether the tasks are in this format; they can fill the whole sample, so that no simulation is in it."""
    has_tasks = isinstance(at(record, "tasks"), list)
    return has_tasks and {"agent_info", "environment_info"} <= object_in(record.get("info")).keys()
