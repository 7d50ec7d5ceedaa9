"""Multi-agent sessions with a user, and simple traces of one agent's answer.

A session has agents with their tools, and turns; a turn has one interaction per agent, and an interaction has steps. A
simple trace is one turn of one agent: `user_message`, `agent_steps`, `agent_response`. A file holds a single session, a
list, one session per line, or an object with such a list.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evaluation_assets.core.traces.formats.base import DropFile, Record, Rejection, any_record
from evaluation_assets.core.traces.formats.context import agent_of
from evaluation_assets.core.traces.formats.files.records import read_items, read_records
from evaluation_assets.core.traces.formats.files.samples import sample_of
from evaluation_assets.core.traces.formats.final_answers import final_message
from evaluation_assets.core.traces.formats.isolation import each_own_record
from evaluation_assets.core.traces.formats.messages.chat import stated_error
from evaluation_assets.core.traces.formats.messages.tool_definitions import described_tool
from evaluation_assets.core.traces.formats.transcript import UNNAMED, Asked, Call, Result, Said, Transcript, as_text
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields
from evaluation_assets.core.traces.formats.untyped import at, list_in, objects_in
from evaluation_assets.core.traces.formats.usage import usage
from evaluation_assets.core.traces.trajectories.identity import task_id_of
from evaluation_assets.core.traces.trajectories.model import Agent, JsonObject, Tool, Trajectory

NAME = "agent_session"
DESCRIPTION = "Multi-agent sessions (agents, tools, turns, interactions, steps), or simple traces of one agent"
DETECTION = "records with turns that have agent_interactions, or with agent_steps and user_message or agent_response"

_LISTS = ("sessions", "conversations", "traces")
_TASK = ("initial_task", "task")


def read(files: Sequence[DropFile], unmapped: UnmappedFields) -> Iterator[Trajectory | Rejection]:
    """Yield one trajectory or rejection per session."""
    yield from each_own_record(files, detect, NAME, lambda found: trajectory_of(found, unmapped), _records)


def trajectory_of(record: Record, unmapped: UnmappedFields) -> Trajectory:
    """Build the trajectory of one session.

    Raises:
        UnusableRecord: the record is not an object or has no agent steps.
    """
    data = record.json_object()
    with unmapped.reading(data) as fields:
        settings: JsonObject = {}
        declared = [_agent(agent, settings) for agent in fields.objects("agents", "agent_definitions")]
        alone = declared[0].id if len(declared) == 1 else "agent"
        transcript = Transcript()
        asked = [_turn(turn, transcript, alone) for turn in fields.objects("turns") or [fields]]
        text, turns = transcript.finished("no turn has agent steps or a response")
        metadata = fields.object("session_metadata", "metadata")
        spoke = dict.fromkeys(interaction.agent_id for turn in turns for interaction in turn.interactions)
        known = {agent.id for agent in declared}
        beside, within = agent_of(fields), agent_of(metadata)
        name, version = beside[0] or within[0], beside[1] or within[1]
        model = fields.text("model") or metadata.text("model")
        unknown = [
            Agent(id=agent, name=name if agent == UNNAMED else None, model=model)
            for agent in spoke
            if agent not in known
        ]
        recorded = fields.name(*_TASK)
        task = recorded or next((said for said in asked if said is not None), "")
        own_id = fields.name("session_id", "id", "conversation_id", "trace_id")
        task_id = task_id_of(fields.recorded_id("task_id"), task, text)
        answer = final_message(turns)
        latency = fields.amount("total_latency_ms")
        return Trajectory(
            id=own_id or task_id,
            task_id=task_id,
            format=NAME,
            task=task,
            text=text,
            agents=tuple(replace(agent, version=agent.version or version) for agent in (*declared, *unknown)),
            turns=turns,
            final_answer=answer,
            reference_answer=fields.text("reference_answer", "ground_truth", "expected_answer"),
            success=fields.outcome("success"),
            started_at=metadata.name("timestamp") or fields.name("timestamp", "created_at"),
            duration_s=None if latency is None else latency / 1000,
            usage=usage(cost_usd=fields.number("total_cost")),
            flags=() if answer or len(turns) > 1 else ("no_answer",),
            labels={"analyses": analyses} if (analyses := fields.items("analyses")) else {},
            extra=_extra(metadata, settings),
        )


def _extra(metadata: Fields, settings: JsonObject) -> JsonObject:
    kept = {"tags": metadata.items("tags"), "metadata": metadata.object("extra").rest(), "agent_settings": settings}
    return {name: value for name, value in kept.items() if value}


def _records(file: DropFile) -> Iterator[Record | Rejection]:
    records = sample_of(file).records
    name = next((listed for record in records if (listed := _list_of(record)) is not None), None)
    return read_records(file) if name is None else read_items(file, name)


def _agent(fields: Fields, settings: JsonObject) -> Agent:
    """Read an agent; its configuration except for the model is added to `settings`."""
    config = fields.object("config")
    own_id = fields.name("id", "agent_id") or fields.name("name") or "agent"
    model = fields.text("model") or config.text("model", "model_name")
    if rest := config.rest():
        settings[own_id] = rest
    capabilities = [str(item) for item in fields.items("capabilities")]
    description = [fields.text("description", "system_prompt") or "", *(f"- {item}" for item in capabilities)]
    tools = None
    if "tools_available" in fields or "tools" in fields:
        tools = tuple(_tool(tool) for tool in fields.objects("tools_available", "tools"))
    return Agent(
        id=own_id,
        name=fields.text("name"),
        role=fields.text("role"),
        description="\n".join(description).strip() or None,
        model=model,
        version=fields.name("version"),
        tools=tools,
    )


def _tool(fields: Fields) -> Tool:
    schema = fields.value("parameters_schema", "parameters", "input_schema")
    return described_tool(fields.name("name") or "tool", fields.text("description"), schema)


def _turn(fields: Fields, transcript: Transcript, alone: str) -> str | None:
    """Write a turn; return the user message."""
    fields.set_aside("turn_index")
    knowledge = fields.text("knowledge")
    if fields.is_object("user_message"):
        message = fields.object("user_message")
        said, knowledge = message.text("content", "text", "message"), knowledge or message.text("knowledge")
    else:
        said = fields.text("user_message")
    if said is not None:
        transcript.asked(Asked(text=said, knowledge=knowledge))
    for interaction in fields.objects("agent_interactions", "interactions") or [fields]:
        _interaction(interaction, transcript, alone)
    return said


def _interaction(fields: Fields, transcript: Transcript, alone: str) -> None:
    """Write one interaction: steps, the tool run after them, response."""
    agent = fields.name("agent_id") or alone
    steps = [_step(step, agent) for step in fields.objects("agent_steps", "steps")]
    if (executed := _execution(fields.object("tool_execution_result"), agent)) is not None:
        _join(steps, executed)
    for step in steps:
        transcript.said(step.said, [step.result])
        if step.observed is not None:
            transcript.observed(Result(content=step.observed, agent_id=agent))
    if (response := fields.text("agent_response", "response")) is not None:
        transcript.said(Said(agent_id=agent, message=response))
    transcript.answered(fields.amount("latency_ms"))


@dataclass(slots=True, kw_only=True)
class _Step:
    """A step before it is written. `observed` is an observation other than the result of its call."""

    said: Said
    result: Result | None = None
    observed: str | None = None


def _step(fields: Fields, agent: str) -> _Step:
    thought, action, observed = fields.text("thought"), fields.text("action"), _text(fields, "observation")
    call, result = _call(fields.object("tool_call")) if fields.is_object("tool_call") else (None, None)
    if call is None:
        return _Step(said=Said(agent_id=agent, thought=thought, message=action), observed=observed)
    said = Said(agent_id=agent, thought=thought, message=None if action == call.name else action, calls=(call,))
    if observed is not None and result is None:
        result, observed = Result(content=observed), None
    return _Step(said=said, result=result, observed=None if result and result.content == observed else observed)


def _call(fields: Fields) -> tuple[Call, Result | None]:
    call = Call(
        name=fields.name("tool_name", "name") or "tool",
        arguments=fields.value("parameters", "arguments"),
        latency_ms=fields.amount("latency_ms"),
    )
    content, error = _text(fields, "result", "output"), _text(fields, "error")
    if content is None and error is None:
        return call, None
    told = content or error or ""
    return call, Result(content=told, error=error or stated_error(fields, told))


def _execution(fields: Fields, agent: str) -> _Step | None:
    call, result = _call(fields)
    return (
        None
        if call.name == "tool" and result is None
        else _Step(said=Said(agent_id=agent, calls=(call,)), result=result)
    )


def _join(steps: list[_Step], executed: _Step) -> None:
    """Assign a tool run to the last call of that tool, or add it as a separate call."""
    ran = executed.said.calls[0]
    for step in reversed(steps):
        if step.said.calls and step.said.calls[0].name == ran.name:
            step.result = step.result or executed.result
            if step.said.calls[0].latency_ms is None:
                step.said = replace(step.said, calls=(replace(step.said.calls[0], latency_ms=ran.latency_ms),))
            return
    steps.append(executed)


def _text(fields: Fields, *keys: str) -> str | None:
    """Convert a value to text; results and observations are texts or any JSON."""
    value = fields.value(*keys)
    return None if value is None else as_text(value)


def _is_session(record: Any) -> bool:
    turns = at(record, "turns")
    if isinstance(turns, list):
        return any("agent_interactions" in turn or "agent_steps" in turn for turn in objects_in(turns))
    has_steps = isinstance(at(record, "agent_steps"), list)
    return has_steps and ("user_message" in record or "agent_response" in record)


def _list_of(record: Any) -> str | None:
    """The key of the list of sessions in an object."""
    return next((name for name in _LISTS if any(map(_is_session, list_in(at(record, name))))), None)


detect = any_record(lambda record: _is_session(record) or _list_of(record) is not None)
