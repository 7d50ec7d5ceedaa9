"""The `wire.jsonl` of Kimi CLI, before Kimi Code: what its agent sent to the terminal, each message with its time.

Texts, thoughts and the arguments of calls may arrive in pieces. What a sub-agent sent is wrapped, with the call that
started it.
"""

import re
from collections.abc import Iterable
from typing import Any

from evaluation_assets.core.traces.formats.coding.session import CodingSession
from evaluation_assets.core.traces.formats.coding.session_logs import content_text
from evaluation_assets.core.traces.formats.messages.chat import first_line
from evaluation_assets.core.traces.formats.transcript import Call, Result, Said
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields
from evaluation_assets.core.traces.formats.untyped import at
from evaluation_assets.core.traces.formats.usage import usage_beside
from evaluation_assets.core.traces.trajectories.model import Agent, JsonObject

_SILENT = frozenset(
    "TurnEnd StepRetry CompactionEnd HookTriggered HookResolved HookRequest MCPLoadingBegin MCPLoadingEnd Notification "
    "PlanDisplay BtwBegin BtwEnd ApprovalRequest ApprovalResponse ApprovalRequestResolved QuestionRequest "
    "ToolCallRequest".split()
)
"""Messages about the terminal and its user."""
EXIT_CODE = re.compile(r"Command failed with exit code: (\d{1,9})\.?\s*\Z")
_CALLERS = ("parent_tool_call_id", "task_tool_call_id")


def is_wire_line(data: Any) -> bool:
    """Whether a value is a line of a wire file of Kimi CLI."""
    message = at(data, "message")
    return isinstance(at(message, "payload"), dict) and isinstance(at(data, "timestamp"), int | float)


def read_wire(session: CodingSession, lines: Iterable[JsonObject], unmapped: UnmappedFields) -> None:
    """Add the messages of a wire file to a session."""
    wire = _Wire(session, unmapped)
    for line in lines:
        with unmapped.reading(line) as fields:
            session.at_seconds(fields.number("timestamp"))
            fields.set_aside("type", "protocol_version")
            if "message" in fields:
                wire.add(fields.object("message"))
    wire.end()


class _Wire:
    """Adds messages to the session of one agent, and those of its sub-agents to sessions of their own."""

    def __init__(self, session: CodingSession, unmapped: UnmappedFields) -> None:
        self._session = session
        self._unmapped = unmapped
        self._thought = self._text = ""
        self._call: tuple[str | None, str | None, str] | None = None
        self._children: dict[str, _Wire] = {}

    def add(self, message: Fields) -> None:
        kind, payload = message.text("type") or "unknown", message.object("payload")
        if kind == "ContentPart":
            self._part(payload)
        elif kind == "ToolCallPart":
            if self._call is not None:
                self._call = (*self._call[:2], self._call[2] + (payload.text("arguments_part") or ""))
        elif kind == "SubagentEvent":
            self._of_child(payload)
        else:
            self._flush()
            self._event(kind, payload)

    def end(self) -> None:
        """Add what has arrived in pieces, and the sub-agents to their calls."""
        self._flush()
        for call_id, child in self._children.items():
            child.end()
            self._session.join(child._session, call_id or None)

    def _part(self, part: Fields) -> None:
        self._flush_call()
        kind = part.text("type")
        part.set_aside("encrypted")
        if kind == "think":
            self._thought += part.text("think") or ""
        elif kind == "text":
            self._text += part.text("text") or ""
        else:
            self._text += f"[{part.note_unknown(kind)}]"

    def _event(self, kind: str, payload: Fields) -> None:
        if kind in ("TurnBegin", "SteerInput"):
            self._session.asked(content_text(Fields({"content": payload.value("user_input")})).strip())
        elif kind == "ToolCall":
            function = payload.object("function")
            payload.set_aside("type", "extras")
            self._call = (payload.name("id"), function.text("name"), function.text("arguments") or "")
        elif kind == "ToolResult":
            self._result(payload)
        elif kind == "StatusUpdate":
            counts = payload.object("token_usage")
            given, read, new = (counts.whole(f"input_{name}") for name in ("other", "cache_read", "cache_creation"))
            self._session.used(usage_beside(given, counts.whole("output"), read, new))
            payload.rest()
        elif kind == "StepInterrupted":
            self._session.interruptions += 1
        elif kind == "CompactionBegin":
            self._session.compactions += 1
        elif kind in _SILENT:
            payload.rest()
        elif kind != "StepBegin":
            payload.ignore_unknown(kind)

    def _result(self, payload: Fields) -> None:
        returned = payload.object("return_value", "result")
        output, told = returned.value("output"), returned.text("message")
        content = content_text(Fields({"content": output})) or told or ""
        failed = returned.flag("is_error") is True
        returned.set_aside("display", "brief", "extras")
        error = first_line(told or content) if failed else None
        code = EXIT_CODE.search(told or "") if failed else None
        self._session.answered(
            Result(
                content=content,
                call_id=payload.name("tool_call_id"),
                error=error,
                exit_code=None if code is None else int(code[1]),
            )
        )

    def _of_child(self, payload: Fields) -> None:
        call_id = payload.name(*_CALLERS) or ""
        agent = Agent(id=payload.text("subagent_type") or "sub-agent", role="sub-agent")
        child = self._children.setdefault(call_id, _Wire(CodingSession(agent), self._unmapped))
        payload.set_aside("agent_id")
        child.add(payload.object("event"))

    def _flush(self) -> None:
        if self._thought or self._text:
            self._session.said(Said(thought=self._thought or None, message=self._text.strip() or None))
            self._thought = self._text = ""
        self._flush_call()

    def _flush_call(self) -> None:
        if self._call is not None:
            call_id, name, arguments = self._call
            self._call = None
            self._session.spoke(calls=[Call(name=name or "unnamed", arguments=arguments, id=call_id)])
