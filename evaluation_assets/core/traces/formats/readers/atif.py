"""ATIF, Harbor's Agent Trajectory Interchange Format, versions 1.5 to 1.8: one document per trajectory.

A document may reference others: sub-agent trajectories, embedded in `subagent_trajectories` or in another file of the
drop, and the trajectory that continues it. Referenced documents become part of the referencing trajectory. A first pass
collects names and references; a second pass reads each document in its place, with one trajectory in memory at a time.
In the folder of a job, outcomes come from the results of its trials.

The fields are read one by one instead of with the pydantic models of the format, which reject a whole document for an
unknown field, a step number out of order or a result of an unknown call.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from evaluation_assets.core.traces.formats.atif_documents import DEEPEST, Documents, is_document
from evaluation_assets.core.traces.formats.atif_messages import plain_message
from evaluation_assets.core.traces.formats.atif_usage import (
    at_least,
    final_usage,
    includes,
    usage_in_metrics,
    whole_usage,
)
from evaluation_assets.core.traces.formats.base import DropFile, Record, Rejection, UnusableRecord, any_record
from evaluation_assets.core.traces.formats.coding.client_context import exit_code_of, is_client_context
from evaluation_assets.core.traces.formats.context import success_of
from evaluation_assets.core.traces.formats.files.records import read_records
from evaluation_assets.core.traces.formats.final_answers import final_message, final_submission
from evaluation_assets.core.traces.formats.harbor_trials import Trial, Trials
from evaluation_assets.core.traces.formats.isolation import usable
from evaluation_assets.core.traces.formats.messages.tool_definitions import tools_of
from evaluation_assets.core.traces.formats.messages.written_calls import instruction_in, typed_in
from evaluation_assets.core.traces.formats.run_usage import lacking
from evaluation_assets.core.traces.formats.stated import OUTCOME
from evaluation_assets.core.traces.formats.times import elapsed_s
from evaluation_assets.core.traces.formats.transcript import (
    Asked,
    Call,
    Event,
    Result,
    Said,
    as_text,
    flags_of,
    total,
    written,
)
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields
from evaluation_assets.core.traces.formats.untyped import listed
from evaluation_assets.core.traces.formats.usage import UNKNOWN, confirm
from evaluation_assets.core.traces.trajectories.identity import task_id_of
from evaluation_assets.core.traces.trajectories.model import Agent, JsonObject, Trajectory, Usage

NAME = "atif"
DESCRIPTION = "ATIF (Harbor): system, user and agent steps with tool calls and observations"
DETECTION = "records whose schema_version starts with ATIF, or with an agent and steps that have step_id and source"

_OUTCOMES = ("resolved", "is_resolved", "reward")
_NO_CALL = "no call"
"""Stands in for a call ID: a message of the system to an agent is not the result of any call."""


def read(files: Sequence[DropFile], unmapped: UnmappedFields) -> Iterator[Trajectory | Rejection]:
    """Yield one trajectory or rejection per document that no other document references."""
    documents, trials = Documents(files), Trials(files, unmapped)
    runs = Counter(trial.folder for source in documents.roots if (trial := trials.of(source)) is not None)
    for file in files:
        if file.source not in documents.sources:
            if trials.has(file.source):
                unmapped.count("files of a trial beside its trajectory")
            else:
                yield Rejection(file.source, 1, "not_this_format", f"no record of this file is in format {NAME}", "")
            continue
        trial = trials.of(file.source)
        if trial is not None and runs[trial.folder] > 1:  # it does not state the outcome of each
            trial = None
        for record in read_records(file):
            if isinstance(record, Rejection):
                yield record
            elif not documents.is_part(record):
                yield usable(record, partial(_trajectory_of, documents, trial, unmapped), is_whole=True)
    yield from trials.without(documents.roots)


@dataclass(slots=True)
class _Reading:
    """State while a document and its referenced documents are read."""

    documents: Documents
    unmapped: UnmappedFields
    agents: dict[str, Agent] = field(default_factory=dict)
    times: list[str] = field(default_factory=list)
    usages: list[Usage | None] = field(default_factory=list)
    seen: set[tuple[str, int]] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _Part:
    """A document being read: its location, its caller and the prompt it was called with.

    `children` are the documents in it that no step has referenced yet, `usages` those of its steps, `called` the IDs of
    its calls.
    """

    data: JsonObject
    source: str
    caller: str | None = None
    said_to_it: str = ""
    depth: int = 0
    continues: str | None = None
    agent_id: str = ""
    children: dict[str, JsonObject] = field(default_factory=dict)
    usages: list[Usage | None] = field(default_factory=list)
    called: set[str] = field(default_factory=set)


def _trajectory_of(documents: Documents, trial: Trial | None, unmapped: UnmappedFields, record: Record) -> Trajectory:
    data = record.json_object()
    reading = _Reading(documents, UnmappedFields(), seen={(record.source, record.line)})
    root: JsonObject = {}
    text, turns = written(_events(_Part(data, record.source), reading, root))
    if not turns:
        raise UnusableRecord("no_trajectory_text", "no agent step has a message, a tool call or an observation")
    unmapped.update(reading.unmapped)
    prompt = next((turn.user_message for turn in turns if turn.user_message), "")
    task = root.pop("task") or instruction_in(prompt) or prompt
    verified = Trial(folder="") if trial is None else trial
    task_id = task_id_of(root.pop("task_id") or verified.task_id, task, text)
    answer = root.pop("final_answer") or final_submission(text, turns) or final_message(turns)
    used, success = total(reading.usages), root.pop("success")
    confirm(unmapped.stated, verified.used, used)
    is_agreed = unmapped.stated.agree(OUTCOME, success, verified.success)
    if verified.error is not None:
        root["error"] = verified.error
    return Trajectory(
        id=task_id,
        task_id=task_id,
        trial=root.pop("trial"),
        format=NAME,
        task=task,
        text=text,
        turns=turns,
        agents=tuple(reading.agents.values()),
        final_answer=answer,
        reference_answer=root.pop("reference_answer"),
        success=verified.success if success is None else success,
        started_at=reading.times[0] if reading.times else None,
        duration_s=_duration_s(root.pop("duration_s"), reading.times),
        usage=verified.used if used is None or used.input_tokens is None is used.cost_usd else used,
        flags=flags_of(
            cut_off=verified.is_cut_off,
            unanswered=not answer and len(turns) == 1,
            failed=verified.is_broken,
            disputed=not is_agreed,
        ),
        labels=root.pop("labels") | verified.rewards | verified.tests,
        extra=root,
    )


def _duration_s(stated: float | None, times: Sequence[str]) -> float | None:
    return elapsed_s(times[0], times[-1]) if stated is None and len(times) > 1 else stated


def _events(part: _Part, reading: _Reading, root: JsonObject | None = None) -> Iterator[Event]:
    """Read a document, then its continuation. `root` receives the metadata of the whole."""
    with reading.unmapped.reading(part.data) as fields:
        version, session = fields.text("schema_version"), fields.name("session_id")
        name = fields.name("trajectory_id")
        part = replace(part, agent_id=_agent(fields.object("agent"), part, reading), children=_embedded(fields))
        extra = fields.object("extra")
        if root is not None:
            root |= {"task_id": extra.name("task_id", "task_name"), "labels": {}, "success": None}
            root |= {key: extra.text(key) for key in ("task", "final_answer", "reference_answer")}
            root |= {"trial": max(0, extra.whole("trial") or 0), "duration_s": extra.amount("duration_s")}
            for outcome in _OUTCOMES:
                if outcome in extra:
                    root["labels"][outcome] = extra.value(outcome)
            outcomes = (success_of(outcome) for outcome in root["labels"].values())
            root["success"] = next((outcome for outcome in outcomes if outcome is not None), None)
            ids = (("version", version), ("session_id", session), ("trajectory_id", name))
            root |= {key: value for key, value in ids if value is not None}
        counted, is_alone = len(reading.usages), part.depth == 0 and not part.children
        is_leading = True
        steps = fields.objects("steps")
        for step in steps:
            is_leading = is_leading and step.text("source") == "system"
            yield from _step(step, part, reading, is_leading=is_leading)
        for name in list(part.children):  # not referenced by any step
            yield from _sub_agent(part.children.pop(name), part, "", reading)
        metrics = fields.object("final_metrics")
        own_total = final_usage(metrics)
        # Writers leave the total out of a document with sub-agents whose steps have their usage.
        is_summed = own_total is None and is_alone
        own = total(part.usages)
        if is_summed and lacking(reading.unmapped.stated, part.usages) is not None:
            own = total(used or UNKNOWN for used in part.usages)
        confirm(reading.unmapped.stated, own_total, at_least(own_total, own))  # a total may include what no step has
        stated = reading.unmapped.stated
        stated.compare("step", metrics.whole("total_steps"), len(steps))
        if "total_steps" not in metrics:
            stated.steps_in_sequence([step.whole("step_id") for step in steps])
        if part.continues is not None and includes(own_total, total([*reading.usages, own])):
            counted = 0
        used = total([*reading.usages[counted:], whole_usage(own, own_total)])
        reading.usages[counted:] = [at_least(used, own_total)]
        continued = fields.text("continued_trajectory_ref")
    if continued is not None:
        yield from _continuation(continued, part, reading)


def _agent(fields: Fields, part: _Part, reading: _Reading) -> str:
    """The id of a document's agent; a sub-agent with the name of its caller gets a distinct id."""
    name = fields.text("name") or "agent"
    agent_id = f"{name} sub-agent" if part.depth and name == part.caller else name
    agent_id = part.continues or agent_id
    tools = tools_of(fields, "tool_definitions")
    known = reading.agents.get(agent_id)
    model, version = fields.text("model_name"), fields.text("version")
    if known is None:
        reading.agents[agent_id] = Agent(id=agent_id, name=name, model=model, version=version, tools=tools)
    return agent_id


def _step(step: Fields, part: _Part, reading: _Reading, *, is_leading: bool) -> Iterator[Event]:
    """Read a step. Leading system steps are the system prompt; later ones are messages to the agent."""
    step.set_aside("step_id", "llm_call_count")
    if step.flag("is_copied_context"):
        step.rest()
        reading.unmapped.count("steps[] (copied context)")
        return
    source = step.text("source")
    said, told, reasoning = plain_message(step.value("message"))
    message = _content(said, "message", reading)
    _describe(part, reading, told or "")
    if (time := step.text("timestamp")) is not None:
        reading.times.append(time)
    message, calls = _called(step, source, message)
    part.called.update(call.id for call in calls if call.id is not None)
    if source == "user" and is_client_context(message):
        reading.unmapped.count("steps[] (context by the client)")
    elif source == "user" and part.depth == 0:
        if message.strip():
            yield Asked(text=message, knowledge=step.object("extra").text("knowledge"))
    elif source == "user":
        if message.strip() and message.strip() not in part.said_to_it:
            yield Said(agent_id=part.caller or "agent", message=message)
    elif source == "system" and is_leading and not calls:
        _describe(part, reading, message)
    elif source in ("agent", "assistant") or calls:
        used = usage_in_metrics(step.object("metrics"))
        part.usages.append(used)
        model = step.text("model_name")
        if model is not None and reading.agents[part.agent_id].model is None:
            reading.agents[part.agent_id] = replace(reading.agents[part.agent_id], model=model)
        thought = step.text("reasoning_content") or reasoning
        if message.strip() or thought or calls:
            yield Said(
                agent_id=part.agent_id,
                thought=thought,
                message=message if message.strip() else None,
                calls=calls,
                usage=used,
            )
    elif message.strip():
        yield Result(content=message, call_id=_NO_CALL, agent_id=part.agent_id)
    yield from _observation(step.object("observation"), part, calls, reading)


def _describe(part: _Part, reading: _Reading, prompt: str) -> None:
    """Keep the first system prompt of a document's agent."""
    known = reading.agents[part.agent_id]
    if prompt.strip():
        reading.agents[part.agent_id] = replace(known, description=known.description or prompt)


def _called(step: Fields, source: str | None, message: str) -> tuple[str, tuple[Call, ...]]:
    """The message of a step and its calls; Terminus may write them as its message."""
    calls = tuple(
        Call(
            name=call.text("function_name") or "unknown",
            arguments=call.value("arguments"),
            id=call.name("tool_call_id"),
            server=call.object("extra").text("server"),
        )
        for call in step.objects("tool_calls")
    )
    typed = typed_in(message) if source == "agent" and not calls else None
    if typed is None:
        return message, calls
    return typed["content"], tuple(Call(name=call["name"], arguments=call["arguments"]) for call in typed["tool_calls"])


def _observation(observation: Fields, part: _Part, calls: tuple[Call, ...], reading: _Reading) -> Iterator[Event]:
    """Add all results of a step, then the work of the sub-agents it called."""
    called: list[tuple[JsonObject, str]] = []
    for result in observation.objects("results"):
        call_id = result.name("source_call_id")
        told_id = call_id if calls or call_id in part.called else _NO_CALL
        references = result.value("subagent_trajectory_ref")
        content = _content(result.value("content"), "observation.results[].content", reading)
        said = next((as_text(call.arguments) for call in calls if call.id == call_id or len(calls) == 1), "")
        own = listed(references)
        called += [(reference, said) for reference in own if isinstance(reference, dict)]
        error, code = result.object("extra").text("error"), exit_code_of(content)
        if error is None and code:
            error = f"exit code {code}"
        if content or call_id is not None or references is None:
            passed = error is None and code == 0
            yield Result(content=content, call_id=told_id, error=error, agent_id=part.agent_id, succeeded=passed)
    for reference, said in called:
        name = reference.get("trajectory_id")
        if isinstance(name, str) and name in part.children:
            yield from _sub_agent(part.children.pop(name), part, said, reading)
        elif (place := reading.documents.find(reference, part.source)) is not None and place not in reading.seen:
            reading.seen.add(place)
            data = reading.documents.load(place)
            yield from _sub_agent(data, part, said, reading, place[0])
        else:
            reading.unmapped.count("steps[].observation.results[].subagent_trajectory_ref (not in the drop)")
            reading.unmapped.stated.compare("sub-agent session", 1, 0)


def _sub_agent(
    data: JsonObject, part: _Part, said: str, reading: _Reading, source: str | None = None
) -> Iterator[Event]:
    if part.depth == DEEPEST:
        reading.unmapped.count("subagent_trajectories[] (nested too deeply)")
        return
    yield from _events(_Part(data, source or part.source, part.agent_id, said, part.depth + 1), reading)


def _continuation(reference: str, part: _Part, reading: _Reading) -> Iterator[Event]:
    references = {"trajectory_path": reference}, {"trajectory_id": reference}
    place = next((place for one in references if (place := reading.documents.find(one, part.source)) is not None), None)
    if place is None or place in reading.seen:
        reading.unmapped.count("continued_trajectory_ref (not in the drop)")
        return
    reading.seen.add(place)
    data = reading.documents.load(place)
    yield from _events(
        _Part(data, place[0], part.caller, part.said_to_it, part.depth, continues=part.agent_id), reading
    )


def _embedded(fields: Fields) -> dict[str, JsonObject]:
    """The embedded sub-agent documents by name, or by position if unnamed."""
    documents = (item for item in fields.items("subagent_trajectories") if isinstance(item, dict))
    return {
        name if isinstance(name := document.get("trajectory_id"), str) else f"#{number}": document
        for number, document in enumerate(documents)
    }


def _content(value: Any, path: str, reading: _Reading) -> str:
    """Convert a text or message parts to text; images and recordings become their path."""
    if not isinstance(value, list):
        return as_text(value)
    pieces = []
    for item in value:
        if isinstance(item, dict) and isinstance(item.get("text"), str):
            pieces.append(item["text"])
        elif isinstance(item, dict) and isinstance(item.get("source"), dict):
            reading.unmapped.count(f"steps[].{path}[] ({item.get('type')})")
            pieces.append(f"[{item.get('type')}: {item['source'].get('path')}]")
        else:
            pieces.append(as_text(item))
    return "\n".join(pieces)


detect = any_record(is_document)
