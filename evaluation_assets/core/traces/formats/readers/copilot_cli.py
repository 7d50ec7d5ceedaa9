"""Sessions of GitHub Copilot CLI: the events in `session-state/<session>/events.jsonl`, with its sub-agents."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from evaluation_assets.core.traces.formats.coding.session import SUB_AGENT, CodingSession
from evaluation_assets.core.traces.formats.coding.session_logs import SessionLog, add_time
from evaluation_assets.core.traces.formats.messages.chat import first_line
from evaluation_assets.core.traces.formats.messages.pieces import call_in
from evaluation_assets.core.traces.formats.transcript import Result, one_line, total
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields
from evaluation_assets.core.traces.formats.untyped import at, object_in
from evaluation_assets.core.traces.formats.usage import Count, settled, usage
from evaluation_assets.core.traces.trajectories.model import Agent, JsonObject, Usage

NAME = "copilot_cli"
DESCRIPTION = "GitHub Copilot CLI sessions (events.jsonl), with their sub-agents"
DETECTION = "lines of types such as session.start, user.message and tool.execution_complete, with data and a parentId"

_TYPICAL = ("session.start", "user.message", "assistant.message", "tool.execution_start", "tool.execution_complete")
_EXIT_CODE = re.compile(r"<exited with exit code (-?\d+)>\s*\Z")
_READ = ("user.message", "assistant.message", "assistant.reasoning", "tool.execution_complete")
_IDS = (
    "messageId", "reasoningId", "apiCallId", "clientRequestId", "requestId", "serviceRequestId", "interactionId",
    "turnId", "model", "reasoningOpaque", "encryptedContent", "rte", "phase", "originatingMessageId",
    "transformedContent", "delivery", "supportedNativeDocumentMimeTypes", "agentMode", "toolTelemetry", "outputTokens",
    "parentAgentTaskId", "sandboxed",
)  # fmt: skip
"""Fields of messages that name things, or repeat them for the model."""

_SILENT = (
    "session.", "assistant.turn_", "assistant.streaming", "assistant.message_", "hook.", "tool.execution_", "system.",
    "subagent.",
)  # fmt: skip
"""Beginnings of the types of events without anything that was said or done."""

_USAGE = "assistant.usage"
"""Of a stream; session files do not have it."""

_STARTS, _END = ("session.start", "session.resume"), "session.shutdown"


def _is_line(data: Any) -> bool:
    return at(data, "type") in _TYPICAL and isinstance(at(data, "data"), dict) and "parentId" in object_in(data)


def _session(lines: Sequence[JsonObject], unmapped: UnmappedFields) -> CodingSession:
    counts_usage = any(line.get("type") == _USAGE for line in lines)
    log = _Log(unmapped, _spent(lines, unmapped), counts_usage=counts_usage)
    for line in _kept(lines, unmapped):
        with unmapped.reading(line) as fields:
            log.add(fields)
    return log.session


def _kept(lines: Sequence[JsonObject], unmapped: UnmappedFields) -> list[JsonObject]:
    """The lines without those that the user took back."""
    kept: list[JsonObject] = []
    for line in lines:
        if line.get("type") == "session.snapshot_rewind":
            name = at(line.get("data"), "upToEventId")
            place = next((place for place, one in enumerate(kept) if name is not None and one.get("id") == name), None)
            if place is not None:
                kept = kept[:place]
                unmapped.note("rewound", "branch")
        kept.append(line)
    return kept


def _spent(lines: Sequence[JsonObject], unmapped: UnmappedFields) -> Usage | None:
    """The tokens that Copilot states when it ends; unknown if one of its runs in this session did not end so."""
    ends = [line for line in lines if line.get("type") == _END]
    runs = sum(line.get("type") in _STARTS for line in lines)
    if not ends or len(ends) != runs:
        return None
    metrics = [object_in(at(line.get("data"), "modelMetrics")) for line in ends]
    return total(_usage(at(one, "usage"), unmapped) for models in metrics for one in models.values())


def _usage(data: Any, unmapped: UnmappedFields) -> Usage | None:
    counts = object_in(data)
    given, written, cached, stored, thought = (
        count if isinstance(count := counts.get(key), int) else None
        for key in ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens", "reasoningTokens")
    )
    cache = (cached or 0) + (stored or 0)
    counted = settled(unmapped.stated, None, Count(given, cache), Count(written, thought or 0))
    return usage(*counted, cached_tokens=cached)


class _Log:
    """Reads the events of a session; those with a `parentToolCallId` belong to the sub-agent that the call started."""

    def __init__(self, unmapped: UnmappedFields, spent: Usage | None, *, counts_usage: bool) -> None:
        self._counts_usage = counts_usage
        self.session = CodingSession(Agent(id="copilot", name="GitHub Copilot CLI"), spent=spent)
        self._children: dict[str, CodingSession] = {}
        self._thoughts: dict[str | None, str | None] = {}
        self._unmapped = unmapped

    def add(self, fields: Fields) -> None:
        """Add an event."""
        kind, data = fields.text("type") or "unknown", fields.object("data")
        add_time(self.session, fields)
        fields.set_aside("id", "parentId", "ephemeral", "agentId")
        caller = data.name("parentToolCallId")
        session = self.session if caller is None else self._child(caller)
        if kind == "user.message":
            self._asked(session, data)
        elif kind == "assistant.reasoning":
            self._thoughts[caller] = data.text("content")
        elif kind == "assistant.message":
            self._said(session, data, self._thoughts.pop(caller, None))
        elif kind == "tool.execution_complete":
            self._answered(session, data)
        elif kind == "subagent.started":
            self._started(data)
        elif kind == _USAGE:
            if self.session.spent is None:
                session.used(_usage(data.rest(), self._unmapped))
        elif not self._tells_of_session(kind, data) and not kind.startswith(_SILENT):
            self._unmapped.count(f"lines[] ({kind})")
        if kind in _READ:
            data.set_aside(*_IDS)
        else:
            data.rest()

    def _tells_of_session(self, kind: str, data: Fields) -> bool:
        """Read an event about the session as a whole; whether it is one."""
        if kind in _STARTS:
            self._began(data)
        elif kind == "session.model_change":
            self.session.agent = replace(self.session.agent, model=data.text("newModel"))
        elif kind == "session.error":
            self.session.error = one_line(data.text("message")) or "error"
        elif kind == "session.compaction_complete":
            self.session.compactions += 1
        elif kind == "abort":
            self.session.interruptions += 1
        elif kind == "session.task_complete":
            self.session.outcome = data.text("summary") or self.session.outcome
        else:
            return False
        return True

    def _child(self, call_id: str) -> CodingSession:
        if call_id not in self._children:
            child = CodingSession(Agent(id=SUB_AGENT))
            self._children[call_id] = child
            self.session.join(child, call_id)
        return self._children[call_id]

    def _started(self, data: Fields) -> None:
        call_id = data.name("toolCallId")
        if call_id is not None:
            child = self._child(call_id)
            name, model = data.text("agentName", "agentDisplayName"), data.text("model")
            child.agent = Agent(id=name or SUB_AGENT, description=data.text("agentDescription"), model=model)

    def _began(self, data: Fields) -> None:
        context = data.object("context")
        self.session.know(cwd=context.text("cwd"), branch=context.text("branch"), version=data.text("copilotVersion"))
        context.rest()
        self.session.id = self.session.id or data.name("sessionId")
        if (model := data.text("selectedModel")) is not None:
            self.session.agent = replace(self.session.agent, model=model)

    def _asked(self, session: CodingSession, data: Fields) -> None:
        source = data.text("source")
        if source not in (None, "user") or data.flag("isAutopilotContinuation") is True:
            self._unmapped.count("user.message (of the client)")
        else:
            session.asked(data.text("content") or "")

    def _said(self, session: CodingSession, data: Fields, thought: str | None) -> None:
        session.ran_on(data.text("model"))
        requests = data.objects("toolRequests")
        calls = [
            replace(call_in(request, "name", "arguments", "toolCallId"), server=request.text("mcpServerName"))
            for request in requests
        ]
        for request in requests:
            request.set_aside("type", "intentionSummary", "toolTitle", "mcpToolName")
        session.spoke(data.text("reasoningText") or thought, data.text("content"), calls)
        if self.session.spent is None and not self._counts_usage:
            session.used(usage(output_tokens=data.whole("outputTokens")))

    def _answered(self, session: CodingSession, data: Fields) -> None:
        result, error = data.object("result"), data.object("error")
        told = error.text("message")
        content = result.text("content", "detailedContent") or told or ""
        match = _EXIT_CODE.search(content)
        failed = data.flag("success") is False
        result.set_aside("detailedContent", "contents", "binaryResultsForLlm", "structuredContent")
        error.set_aside("code")
        session.answered(
            Result(
                content=content,
                call_id=data.name("toolCallId"),
                error=first_line(told or content) if failed else None,
                exit_code=None if match is None else int(match[1]),
            )
        )


_LOG = SessionLog(name=NAME, is_line=_is_line, session=_session)
detect, read = _LOG.detects, _LOG.read
