"""Inspect AI logs, `.json` and `.eval`: one trajectory per sample and epoch.

An `.eval` log is a zip archive with one file per sample. Attachments, which a log stores once, are resolved. Events
repeat the messages with every model call; only usage, time and tools are read from them, unless the messages lack calls
of the agents (see `inspect_events`).
"""

import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import IO, Any
from zipfile import BadZipFile, ZipFile

from evaluation_assets.core.traces.formats.base import (
    DropFile,
    Record,
    Rejection,
    Sample,
    UnreadableDrop,
    UnusableRecord,
)
from evaluation_assets.core.traces.formats.context import success_of
from evaluation_assets.core.traces.formats.endings import is_truncation
from evaluation_assets.core.traces.formats.files.archives import read_member
from evaluation_assets.core.traces.formats.files.records import read_items, read_value, record_of, too_large
from evaluation_assets.core.traces.formats.files.samples import sample_of
from evaluation_assets.core.traces.formats.files.unpacking import TooLarge, check_expansion
from evaluation_assets.core.traces.formats.final_answers import final_submission
from evaluation_assets.core.traces.formats.isolation import each_own_file, usable
from evaluation_assets.core.traces.formats.messages.inspect_events import KINDS, conversation_of, is_incomplete
from evaluation_assets.core.traces.formats.messages.inspect_messages import Resolved, calls_of, content_of, usage_in
from evaluation_assets.core.traces.formats.messages.inspect_usage import (
    ReadSamples,
    agents_usage,
    confirm_log,
    failed_attempts,
)
from evaluation_assets.core.traces.formats.messages.tool_definitions import tools_of
from evaluation_assets.core.traces.formats.transcript import (
    Asked,
    Event,
    Result,
    Said,
    as_text,
    flags_of,
    one_line,
    total,
    written,
)
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields, ignore_rest
from evaluation_assets.core.traces.formats.untyped import at, listed, object_in, objects_in, without_none
from evaluation_assets.core.traces.trajectories.identity import digest, task_id_of, within
from evaluation_assets.core.traces.trajectories.model import Agent, JsonObject, Tool, Trajectory, Turn, Usage

NAME = "inspect_ai"
DESCRIPTION = "Inspect AI logs (.json, .eval): messages, scores and target of each sample"
DETECTION = "objects with eval.task, eval.dataset and status; or archives with header.json or _journal/start.json"

_SAMPLE = re.compile(r"samples/[^/]+\.json")
_HEADERS = ("header.json", "_journal/start.json")
_GRADES = {"C": True, "I": False, "N": False}
"""Inspect's values for correct, incorrect and no answer. Partially correct (P) counts as neither."""

_UNREADABLE = (BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError, KeyError)


def detect(sample: Sample) -> bool:
    """Whether a sample of a file is in this format."""
    return any(name in sample.members for name in _HEADERS) or any(_is_log(record) for record in sample.records)


def read(files: Sequence[DropFile], unmapped: UnmappedFields) -> Iterator[Trajectory | Rejection]:
    """Yield one trajectory or rejection per sample of each log. A log may be there as `.eval` and as `.json`."""
    return each_own_file(files, detect, NAME, partial(_samples_in, unmapped, set()))


def _samples_in(unmapped: UnmappedFields, read_before: set[str], file: DropFile) -> Iterator[Trajectory | Rejection]:
    samples = _archived(file) if sample_of(file).members else _listed(file)
    read = ReadSamples()
    about: JsonObject = {}
    for about, record in samples:
        read.add(record.data if isinstance(record, Record) else None)
        if isinstance(record, Rejection):
            yield record
            continue
        item = usable(record, lambda record, log=about: _trajectory_of(record, log, unmapped), is_whole=True)
        name = None if isinstance(item, Rejection) else _identity(item)
        if name in read_before:
            unmapped.note("repeated_record", "samples")
            continue
        read_before.update([] if name is None else [name])
        yield item
    if read.samples:
        confirm_log(about, read, unmapped)
    else:
        yield Rejection(file.source, 1, "no_trajectory_text", "the log has no samples", "")


def _identity(run: Trajectory) -> str | None:
    """What only copies of one sample have in common, if its log says which run it is of."""
    about = {**run.extra, "sample_uuid": None, "status": None}
    names = [type(run.task_id).__name__, run.task_id, str(run.trial), run.text, as_text(run.labels), as_text(about)]
    return digest(*names) if "run_id" in run.extra else None


def _archived(file: DropFile) -> Iterator[tuple[JsonObject, Record | Rejection]]:
    """Yield the samples of an archive, each with the header of the log."""
    try:
        with file.path.open("rb") as stream, ZipFile(stream) as archive:
            names = archive.namelist()
            header = next(name for name in _HEADERS if name in names)
            log = _member(archive, stream, header, file, 0)
            about = log.data if isinstance(log, Record) and isinstance(log.data, dict) else {}
            members = [name for name in dict.fromkeys(names) if _SAMPLE.fullmatch(name)]
            if not members and any(name.startswith("samples/") for name in names):
                raise UnreadableDrop(
                    f"{file.source} has chunked samples, which are not supported. Use the log it was converted from."
                )
            packed, plain = file.path.stat().st_size, 0
            for number, name in enumerate(members, 1):
                record = _member(archive, stream, name, file, number)
                plain += len(record.raw)
                check_expansion(plain, packed)
                yield about, record
    except TooLarge as problem:
        raise UnreadableDrop(f"{file.source} {problem}. Remove it.") from problem
    except _UNREADABLE as problem:
        raise UnreadableDrop(
            f"{file.source} cannot be unpacked: {problem}. Copy it again, or convert it to .json: inspect log convert"
        ) from problem


def _member(archive: ZipFile, stream: IO[bytes], name: str, file: DropFile, number: int) -> Record | Rejection:
    """Read an archive member as a record."""
    content = read_member(archive, stream, name)
    return too_large(file.source, number, name.encode()) if content is None else record_of(content, file.source, number)


def _listed(file: DropFile) -> Iterator[tuple[JsonObject, Record | Rejection]]:
    about = {key: read_value(file.path, file.source, key) for key in ("status", "eval", "results", "stats")}
    for record in read_items(file, "samples"):
        yield about, record


@dataclass(slots=True)
class _Asked:
    """Data of the model calls in the events: usage by id of the resulting message, tools and start time.

    `is_cached` is set if Inspect repeated an answer from its cache, which it does not count.
    """

    usages: dict[str, tuple[Usage | None, float | None]] = field(default_factory=dict)
    tools: dict[str, Tool] = field(default_factory=dict)
    started_at: str | None = None
    is_cached: bool = False


def _trajectory_of(record: Record, log: JsonObject, unmapped: UnmappedFields) -> Trajectory:
    data = record.json_object()
    about = Fields(object_in(log.get("eval")), "eval.")
    with unmapped.reading(data) as sample:
        old = sample.object("transcript")
        attachments = {**object_in(sample.value("attachments")), **object_in(old.value("content"))}
        resolved = Resolved(attachments)
        told_by_events = is_incomplete(data)
        known = KINDS if told_by_events else ("model",)
        asked = _model_calls([*sample.objects("events"), *old.objects("events")], known, unmapped)
        sample.set_aside(
            "events_data", "timelines", "working_time", "completed_at", "choices", "sandbox", "files", "setup"
        )
        task = _task(sample, resolved)
        output = sample.object("output")
        model = about.text("model")
        agents: Sequence[Agent]
        if told_by_events:
            sample.set_aside("messages")
            conversation = conversation_of(data, resolved, asked.usages, unmapped)
            text, turns = written(conversation.events)
            acting = {one.agent_id for turn in turns for one in turn.interactions}
            agents = [conversation.agents.get(name) or Agent(id=name, model=model) for name in sorted(acting)]
        else:
            prompts: list[str] = []
            text, turns = written(_events(sample, resolved, asked, prompts, unmapped))
            described = "\n".join(prompts).strip() or None
            tools = tuple(asked.tools.values()) or None
            agents = [Agent(id="agent", description=described, model=model, tools=tools)]
        error = sample.object("error").text("message")
        scores = _scores(sample)
        success = _success(scores.get("scores", {}))
        if not turns and task.strip() and success is not None:
            text, turns = written([Asked(text=task)])
        if not turns:
            raise UnusableRecord("no_trajectory_text", "the sample has no model message")
        truncated = any(is_truncation(choice.get("stop_reason")) for choice in objects_in(output.peek("choices")))
        answer, final = _answer(output, resolved, text, turns)
        limit = sample.object("limit").text("type")
        name, task_name = sample.recorded_id("id"), about.text("task")
        task_id = task_id_of(within(task_name, name), task, text)
        own = {
            "task": task_name,
            "model": model,
            "run_id": about.name("run_id"),
            "eval_id": about.name("eval_id"),
            "sample_uuid": sample.name("uuid"),
            "status": log.get("status") if isinstance(log.get("status"), str) else None,
            "limit": limit,
            "error": None if error is None else error[:500],
        }
        sample.object("error").set_aside("traceback", "traceback_ansi")
        failed = failed_attempts(sample, unmapped)
        counted = agents_usage(sample, object_in(log.get("eval")), is_graded="verdicts" in scores)
        own["failed_attempts"] = list(failed.errors) or None
        epoch = sample.whole("epoch")
        return Trajectory(
            id=task_id,
            task_id=task_id,
            trial=max(0, (epoch or 1) - 1),
            format=NAME,
            task=task,
            text=text,
            turns=turns,
            agents=tuple(agents),
            final_answer=answer,
            reference_answer=_target(sample),
            success=success,
            started_at=sample.text("started_at") or asked.started_at,
            duration_s=sample.amount("total_time"),
            usage=total((_usage_of(turns, None if asked.is_cached else final, counted), *failed.usages)),
            flags=flags_of(
                cut_off=limit is not None,
                truncated=truncated,
                unanswered=answer is None,
                failed=error is not None,
            ),
            labels=scores,
            extra=without_none(own),
        )


def _events(
    sample: Fields, resolved: Resolved, asked: _Asked, prompts: list[str], unmapped: UnmappedFields
) -> Iterator[Event]:
    """Convert messages to events, in order, without system prompts."""
    for message in sample.objects("messages"):
        role = message.text("role")
        name = message.name("id")
        message.set_aside("source", "model", "metadata")
        content = content_of(message.value("content"), resolved, unmapped)
        if role == "system":
            prompts.append(content.said)
        elif role == "user":
            message.set_aside("tool_call_id")
            yield Asked(text=content.said)
        elif role == "tool":
            message.set_aside("function")
            error = message.object("error")
            error.set_aside("type")
            told = error.text("message")
            yield Result(
                content=content.said or resolved.text(told), call_id=message.name("tool_call_id"), error=one_line(told)
            )
        else:
            used, seconds = asked.usages.get(name or "", (None, None))
            yield Said(
                thought=content.thought or message.text("reasoning"),
                message=content.said if content.said.strip() else None,
                calls=(*content.calls, *calls_of(message, resolved)),
                usage=used,
                latency_ms=None if seconds is None else seconds * 1000,
            )
            yield from content.results


def _model_calls(events: list[Fields], known: Sequence[str], unmapped: UnmappedFields) -> _Asked:
    """Read what events add to the messages; events that are not of a known kind are counted as unmapped."""
    asked = _Asked()
    for event in events:
        kind = event.text("event") or "unknown"
        asked.started_at = asked.started_at or event.text("timestamp")
        if kind == "model":
            output = event.object("output")
            choices = output.objects("choices")
            messages = [choice.object("message") for choice in choices]
            used = output.object("usage")
            name = messages[0].name("id") if messages else None
            is_cached = event.text("cache") == "read"
            asked.is_cached = asked.is_cached or is_cached
            if name is not None:
                seconds = output.amount("time") or event.amount("working_time")
                asked.usages[name] = (None if is_cached else usage_in(used), seconds)
            for tool in tools_of(event, "tools") or ():
                asked.tools.setdefault(tool.name, tool)
            ignore_rest(*messages, *choices, used, output)
        elif kind not in known:
            unmapped.count(f"events[] ({kind})")
        event.rest()
    return asked


def _task(sample: Fields, resolved: Resolved) -> str:
    """The input as text; of several messages, the last user message."""
    value = sample.value("input")
    if not isinstance(value, list):
        return resolved.text(value)
    asked = [one.get("content") for one in value if isinstance(one, dict) and one.get("role") == "user"]
    return content_of(asked[-1], resolved, UnmappedFields()).said if asked else ""


def _answer(output: Fields, resolved: Resolved, text: str, turns: tuple[Turn, ...]) -> tuple[str | None, Usage | None]:
    """Scores of the sample, and usage of its last model call."""
    output.set_aside("model", "time", "metadata", "error")
    choices = output.objects("choices")
    said = ""
    for index, choice in enumerate(choices):
        choice.set_aside("stop_reason", "logprobs")
        message = choice.object("message")
        content = content_of(message.value("content"), resolved, UnmappedFields())
        if index == 0 and not message.items("tool_calls"):
            said = content.said
        message.rest()
    used = usage_in(output.object("usage"))
    answer = said.strip() or as_text(output.value("completion")).strip() or final_submission(text, turns)
    return answer or None, used


def _scores(sample: Fields) -> JsonObject:
    """All scores by scorer; scores given by a model are also imported as verdicts of that judge."""
    values: JsonObject = {}
    verdicts: list[JsonObject] = []
    recorded = sample.object("scores")
    if "score" in sample:
        recorded = sample.object("score")
        values["score"] = recorded.value("value")
        recorded.rest()
        return {"scores": values}
    for name, score in recorded.rest().items():
        if not isinstance(score, dict):
            continue
        values[name] = score.get("value")
        metadata = score.get("metadata")
        if isinstance(metadata, dict) and "grading" in metadata:
            verdict = {
                "judge": name,
                "level": "trajectory",
                "subject": "answer",
                "verdict": score.get("value"),
                "reasoning": score.get("explanation"),
            }
            verdicts.append(without_none(verdict))
    labels: JsonObject = {"scores": values} if values else {}
    return {**labels, "verdicts": verdicts} if verdicts else labels


def _success(scores: JsonObject) -> bool | None:
    """Whether the scorers rate the sample as correct; `None` if they disagree or give partial scores."""
    outcomes = {_correct(value) for value in scores.values()}
    return outcomes.pop() if len(outcomes) == 1 else None


def _correct(value: Any) -> bool | None:
    return _GRADES.get(value) if isinstance(value, str) else success_of(value)


def _target(sample: Fields) -> str | None:
    """The expected answer; several acceptable answers, one per line."""
    value = sample.value("target")
    texts = [as_text(one).strip() for one in listed(value)]
    return "\n".join(text for text in texts if text) or None


def _usage_of(turns: tuple[Turn, ...], final: Usage | None, counted: Usage | None) -> Usage | None:
    """Usage of the agent's model calls; without events the last call if it is the only one, else what is counted."""
    steps = [step for turn in turns for interaction in turn.interactions for step in interaction.steps]
    asked = [step for step in steps if step.message is not None or step.call is not None]
    if len(asked) == 1 and final is not None:
        return final
    return total(step.usage for step in steps) or counted


def _is_log(data: Any) -> bool:
    return {"task", "dataset"} <= object_in(at(data, "eval")).keys() and "status" in data
