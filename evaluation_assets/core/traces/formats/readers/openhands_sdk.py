"""Conversations of the OpenHands SDK (OpenHands V1): events that name their kind, one file each or one a line.

A stored conversation is a folder with `base_state.json`, which has the model and the usage, and a folder `events`. The
files of a folder are one trajectory if the folder is one drop. Records of the benchmarks of OpenHands (`output.jsonl`)
have the events of a run as `history`; their outcomes are in test reports of the same drop.
"""

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from evaluation_assets.core.traces.formats.base import DropFile, Record, Rejection, any_record
from evaluation_assets.core.traces.formats.coding.session import CodingSession
from evaluation_assets.core.traces.formats.files.records import read_records
from evaluation_assets.core.traces.formats.files.samples import own_files, sample_of
from evaluation_assets.core.traces.formats.images import image_text
from evaluation_assets.core.traces.formats.isolation import usable
from evaluation_assets.core.traces.formats.patch_reports import PatchReports, is_report, reports_of
from evaluation_assets.core.traces.formats.transcript import Call, Result, Said, as_text, flags_of, one_line, total
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields, ignore_rest
from evaluation_assets.core.traces.formats.untyped import at, first_text, object_in, objects_in
from evaluation_assets.core.traces.formats.usage import usage
from evaluation_assets.core.traces.trajectories.identity import task_id_of
from evaluation_assets.core.traces.trajectories.model import Agent, Tool, Trajectory, Usage

NAME = "openhands_sdk"
DESCRIPTION = "OpenHands V1 (software-agent-sdk): events by kind, with base_state.json, and records of its benchmarks"
DETECTION = (
    "events with a kind such as ActionEvent, a source and a timestamp, or a history of them; or a state with an agent "
    "and stats"
)

_FILE = re.compile(r"event-(\d{5,})-[0-9a-zA-Z-]+\.json|base_state\.json")
_KINDS = ("Condensation", "CondensationRequest", "UserRejectObservation")
"""Kinds of events whose names do not end with `Event`."""

_SILENT = (
    "CondensationRequest", "CondensationSummaryEvent", "ConversationStateUpdateEvent", "StreamingDeltaEvent",
    "TokenEvent", "LLMCompletionLogEvent", "HookExecutionEvent",
)  # fmt: skip
_NOT_OVER = -1
"""Exit code of a command that still runs."""


def read(files: Sequence[DropFile], unmapped: UnmappedFields) -> Iterator[Trajectory | Rejection]:
    """Yield one trajectory per conversation: per folder of event files, per file with many events, per output."""
    others = [file for file in files if len(files) > 1 and not _FILE.fullmatch(posixpath.basename(file.source))]
    tested = [file for file in others if is_report(sample_of(file))]
    reports = reports_of(tested, unmapped.stated)
    conversations: dict[str, list[DropFile]] = defaultdict(list)
    for file in own_files([file for file in files if file not in tested], detect, NAME):
        if isinstance(file, Rejection):
            yield file
        else:
            conversations[_conversation_of(file.source)].append(file)
    for own in conversations.values():
        records: list[Record] = []
        for file in sorted(own, key=lambda one: posixpath.basename(one.source)):
            for record in read_records(file):
                if isinstance(record, Rejection):
                    yield record
                elif _is_output(record.data):
                    yield usable(record, partial(_output, unmapped, reports), is_whole=True)
                else:
                    records.append(record)
        if records:
            yield _trajectory_of(records, unmapped)


def _trajectory_of(records: list[Record], unmapped: UnmappedFields) -> Trajectory | Rejection:
    data = [record.data for record in records]
    return usable(records[0], lambda _: _Conversation(data, unmapped).session.trajectory(NAME, unmapped), goes_on=True)


def _output(unmapped: UnmappedFields, reports: PatchReports, record: Record) -> Trajectory:
    """The trajectory of a record of a benchmark."""
    session = _Conversation(record.data["history"], unmapped, record.data.get("metrics")).session
    with unmapped.reading(record.data) as fields:
        instance, error = fields.recorded_id("instance_id"), fields.text("error")
        settings, tested, metrics = (fields.object(name) for name in ("metadata", "test_result", "metrics"))
        model = session.agent.model or settings.object("llm").text("model") or metrics.text("model_name")
        session.agent = replace(session.agent, model=model)
        session.error = session.error or one_line(error)
        session.spent = _counted(metrics.value("accumulated_token_usage"), metrics.number("accumulated_cost"))
        patch = tested.text("git_patch")
        fields.set_aside("history", "instance", "instruction", "runtime_runs", "attempt")
        ignore_rest(settings.object("llm"), settings, metrics)
    run = session.trajectory(NAME, unmapped)
    task_id = task_id_of(instance, run.task, run.text)
    report = reports.of(task_id)
    answer = patch or run.final_answer
    return replace(
        run,
        id=task_id,
        task_id=task_id,
        final_answer=answer,
        success=None if report is None else report.resolved,
        labels={} if report is None else report.labels,
        flags=flags_of(cut_off=session.stopped, unanswered=answer is None, failed=session.error is not None),
    )


def _conversation_of(source: str) -> str:
    """The folder of a conversation that is stored as files; else the file."""
    folder, name = posixpath.split(source)
    if not _FILE.fullmatch(name):
        return source
    return f"{posixpath.dirname(folder) if posixpath.basename(folder) == 'events' else folder}/"


class _Conversation:
    """Reads the state and the events of a conversation; `metrics` are those of its requests, if not in its state."""

    def __init__(self, records: Sequence[Any], unmapped: UnmappedFields, metrics: Any = None) -> None:
        self.session = CodingSession(Agent(id="openhands", name="OpenHands"))
        self._unmapped = unmapped
        self._usages: dict[str, Usage | None] = {}
        self._response: str | None = None
        self._said = Said()
        self._open: set[str] = set()
        self._requests(metrics)
        for record in records:
            if _is_state(record):
                with unmapped.reading(record) as fields:
                    self._state(fields)
        for record in records:
            if not isinstance(record, dict):
                unmapped.count("events[] (no object)")
            elif not _is_state(record):
                with unmapped.reading(record) as fields:
                    self._event(fields)
        self._flush()

    def _state(self, fields: Fields) -> None:
        self.session.id = fields.name("id")
        agent, workspace = fields.object("agent"), fields.object("workspace")
        self.session.agent = replace(self.session.agent, model=agent.object("llm").text("model"))
        self.session.know(cwd=workspace.text("working_dir"))
        self.session.stopped = fields.text("execution_status") == "stuck"
        totals: list[Usage | None] = []
        for metrics in object_in(at(fields.value("stats"), "usage_to_metrics")).values():
            totals.append(_counted(at(metrics, "accumulated_token_usage"), at(metrics, "accumulated_cost")))
            self._requests(metrics)
        self.session.spent = total(totals)
        ignore_rest(agent.object("llm"), agent, workspace, fields)  # settings, with keys that the SDK masks

    def _requests(self, metrics: Any) -> None:
        """Keep the usage of each request until its message is read."""
        for request in objects_in(at(metrics, "token_usages")):
            if (name := first_text(request, "response_id")) is not None:
                self._usages[name] = _counted(request, None)

    def _event(self, fields: Fields) -> None:
        kind = fields.text("kind") or "unknown"
        self.session.at(fields.text("timestamp"))
        fields.set_aside("id", "parent_id", "critic_result", "classification")
        if kind == "ActionEvent":
            self._act(fields)
            return
        self._flush()
        if kind == "SystemPromptEvent":
            self._describe(fields)
        elif kind == "MessageEvent":
            self._message(fields)
        elif kind in ("ObservationEvent", "UserRejectObservation", "AgentErrorEvent"):
            self.session.interruptions += fields.text("rejection_source") == "user"
            self.session.answered(_result(fields))
        elif kind == "ACPToolCallEvent":
            self._delegated(fields)
        elif kind == "Condensation":
            self.session.compactions += 1
        elif kind in ("PauseEvent", "InterruptEvent"):
            self.session.interruptions += 1
        elif kind == "ConversationErrorEvent":
            self.session.error = one_line(fields.text("detail") or fields.text("code"))
        elif kind in _SILENT:
            self._unmapped.count(f"events[] ({kind})")
        else:
            fields.note_unknown(kind)
        fields.rest()

    def _describe(self, fields: Fields) -> None:
        prompt = fields.object("system_prompt")
        named = (first_text(tool, "name", "title", "kind") for tool in objects_in(fields.items("tools")))
        tools = tuple(Tool(name=name) for name in named if name is not None)
        self.session.agent = replace(self.session.agent, description=prompt.text("text"), tools=tools or None)
        prompt.rest()

    def _message(self, fields: Fields) -> None:
        message, source = fields.object("llm_message"), fields.text("source")
        text, response = _texts(message.parts("content")), fields.text("llm_response_id")
        thought = message.text("reasoning_content")
        message.rest()
        if source == "user":
            self.session.asked(text)
        elif source == "agent":
            self.session.said(Said(thought=thought, message=text or None, usage=self._usages.get(response or "")))
        else:
            self._unmapped.count(f"events[] (MessageEvent of {source})")

    def _act(self, fields: Fields) -> None:
        """Add a call; the calls of one response are one message, whose words stand at the first."""
        response = fields.name("llm_response_id")
        if response is None or response != self._response:
            self._flush()
            blocks = [text for block in fields.objects("thinking_blocks") if (text := block.text("thinking"))]
            self._response = response
            self._said = Said(
                thought=fields.text("reasoning_content") or "\n\n".join(blocks) or None,
                message=_texts(fields.parts("thought")) or None,
                usage=self._usages.get(response or ""),
            )
        written = fields.object("tool_call")
        arguments = written.value("arguments")
        action = fields.value("action")
        call = Call(
            name=fields.text("tool_name") or "tool",
            id=fields.name("tool_call_id"),
            arguments=action if arguments is None else arguments,
        )
        self._said = replace(self._said, calls=(*self._said.calls, call))
        ignore_rest(written, *fields.objects("thinking_blocks"), *_objects(fields.parts("thought")), fields)

    def _delegated(self, fields: Fields) -> None:
        """A call of an agent that the SDK drives by the Agent Client Protocol, reported several times."""
        identity, status = fields.name("tool_call_id"), fields.text("status")
        name, arguments = fields.text("tool_kind") or fields.text("title") or "tool", fields.value("raw_input")
        if identity is None or identity not in self._open:
            self._open |= set() if identity is None else {identity}
            self.session.spoke(calls=[Call(name=name, id=identity, arguments=arguments)])
        failed = fields.flag("is_error") is True or status == "failed"
        if failed or status == "completed":
            content = as_text(fields.value("raw_output", "content"))
            error = (one_line(content) or "error") if failed else None
            self.session.answered(Result(content=content, call_id=identity, error=error, succeeded=not failed))

    def _flush(self) -> None:
        said, self._said, self._response = self._said, Said(), None
        if said.calls:
            self.session.said(said)


def _result(fields: Fields) -> Result:
    observation, call_id = fields.object("observation"), fields.name("tool_call_id")
    content = _texts(observation.parts("content"))
    code = observation.whole("exit_code")
    if code is None:
        code = observation.object("metadata").whole("exit_code")
    problem = fields.text("error") or fields.text("rejection_reason")
    failed = problem is not None or observation.flag("is_error") is True
    ignore_rest(*_objects(observation.parts("content")), observation.object("metadata"), observation)
    if failed:
        error = one_line(problem or content) or "error"
    else:
        error = f"exit code {code}" if code not in (None, 0, _NOT_OVER) else None
    passed = error is None and code in (None, 0)
    return Result(content=content or problem or "", call_id=call_id, error=error, succeeded=passed)


def _texts(parts: Sequence[str | Fields]) -> str:
    """The texts of content parts; images are noted."""
    texts = []
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
            continue
        text = part.text("text")
        texts.append(image_text(part) if text is None and "image_urls" in part else text or "")
        part.set_aside("type", "cache_prompt", "image_urls")
    return "\n".join(texts)


def _objects(parts: Sequence[str | Fields]) -> list[Fields]:
    return [part for part in parts if not isinstance(part, str)]


def _counted(tokens: Any, cost: Any) -> Usage | None:
    """Usage from counts that are not read field by field."""
    counts = [at(tokens, name) for name in ("prompt_tokens", "completion_tokens", "cache_read_tokens")]
    inputs, outputs, cached = (one if isinstance(one, int) and not isinstance(one, bool) else None for one in counts)
    spent = cost if isinstance(cost, int | float) and not isinstance(cost, bool) and cost == cost else None
    return usage(inputs, outputs, spent, cached)


def _is_event(record: Any) -> bool:
    kind = at(record, "kind")
    is_kind = isinstance(kind, str) and (kind.endswith("Event") or kind in _KINDS)
    return is_kind and {"source", "timestamp"} <= record.keys()


def _is_output(record: Any) -> bool:
    history = at(record, "history")
    return isinstance(history, list) and "instance_id" in record and any(map(_is_event, history))


def _is_state(record: Any) -> bool:
    return isinstance(at(record, "agent"), dict) and "execution_status" in record and "kind" not in record


detect = any_record(lambda record: _is_event(record) or _is_state(record) or _is_output(record))
