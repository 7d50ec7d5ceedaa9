"""Sessions of Kimi Code: its `wire.jsonl`, with the messages of the user and the events of the agent's loop.

Kimi CLI, which came before, keeps its messages in `context.jsonl`, between marks whose roles begin with `_`, and what
it showed in another `wire.jsonl`.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from evaluation_assets.core.traces.formats.coding.kimi_wire import EXIT_CODE, is_wire_line, read_wire
from evaluation_assets.core.traces.formats.coding.session import CodingSession
from evaluation_assets.core.traces.formats.coding.session_logs import SessionLog, add_message, content_text
from evaluation_assets.core.traces.formats.messages.chat import first_line
from evaluation_assets.core.traces.formats.messages.pieces import call_in
from evaluation_assets.core.traces.formats.transcript import Result, Said, as_text, total
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields
from evaluation_assets.core.traces.formats.untyped import at
from evaluation_assets.core.traces.formats.usage import usage_beside
from evaluation_assets.core.traces.trajectories.model import Agent, JsonObject, Usage

NAME = "kimi_code"
DESCRIPTION = "Kimi Code sessions (wire.jsonl), and those of Kimi CLI (context.jsonl, wire.jsonl)"
DETECTION = (
    "lines of type context.append_loop_event with an event, or context.append_message with a message; "
    "or of the role _system_prompt, _checkpoint or _usage; or with a timestamp and a message that has a payload"
)

_LOOP, _MESSAGE, _COMPACTED = "context.append_loop_event", "context.append_message", "context.apply_compaction"
_USED = "usage.record"
_SILENT = ("turn.prompt", "full_compaction.begin", "full_compaction.complete", "llm.tools_snapshot")
"""Lines that repeat or announce others."""

_MARKS = {"_system_prompt": ("content", str), "_checkpoint": ("id", int), "_usage": ("token_count", int)}
"""Marks in the context of Kimi CLI, with what each has. The tokens are those of the context, not of a request."""

_CHECKPOINT = re.compile(r"\s*<system>CHECKPOINT \d+</system>\s*")
_FAILED = "<system>ERROR"


def is_mark(data: Any) -> bool:
    """Whether a value is a mark between the messages of Kimi CLI."""
    role = at(data, "role")
    if not isinstance(role, str) or role not in _MARKS:
        return False
    name, its_type = _MARKS[role]
    return isinstance(at(data, name), its_type)


def _is_line(data: Any) -> bool:
    kind = at(data, "type")
    return (
        is_mark(data)
        or is_wire_line(data)
        or (kind == _LOOP and isinstance(at(data, "event"), dict))
        or (kind == _MESSAGE and isinstance(at(data, "message"), dict))
    )


def _session(lines: Sequence[JsonObject], unmapped: UnmappedFields) -> CodingSession:
    session = CodingSession(Agent(id="kimi-code", name="Kimi Code"))
    spent: list[Usage | None] = []
    if any(map(is_wire_line, lines)):
        read_wire(session, lines, unmapped)
        return session
    for line in lines:
        with unmapped.reading(line) as fields:
            if fields.text("type") == _USED:
                spent.append(_usage(fields.object("usage")))
            _add(session, fields, unmapped)
    session.spent = total(spent)
    return session


def _add(session: CodingSession, fields: Fields, unmapped: UnmappedFields) -> None:
    if "role" in fields:
        _add_of_context(session, fields)
        return
    kind, milliseconds = fields.text("type") or "unknown", fields.number("time")
    session.at_milliseconds(milliseconds)
    if kind == _LOOP:
        _loop(session, fields.object("event"))
    elif kind == _MESSAGE:
        message = fields.object("message")
        if message.items("toolCalls"):
            message.note_unknown("toolCalls")
        message.set_aside("origin")
        add_message(session, message.text("role"), message)
    elif kind == _COMPACTED:
        session.compactions += 1
        fields.rest()
    elif kind in ("config.update", "llm.request"):
        model = fields.text("model", "modelAlias") or session.agent.model
        prompt = fields.text("systemPrompt") or session.agent.description
        session.agent = replace(session.agent, model=model, description=prompt)
        fields.rest()
    else:
        if kind not in (*_SILENT, _USED):
            unmapped.count(f"lines[] ({kind})")
        fields.rest()


def _add_of_context(session: CodingSession, message: Fields) -> None:
    """Add a message or mark of Kimi CLI."""
    role = message.text("role")
    if role == "user":
        asked = _CHECKPOINT.sub("\n", content_text(message)).strip()
        session.asked(asked)
    elif role == "assistant":
        for part in message.parts("content"):
            if isinstance(part, str):
                session.said(Said(message=part))
            else:
                _said(session, part)
        for call in message.objects("tool_calls"):
            call.set_aside("type")
            made = call_in(call.object("function"), "name", "arguments")
            session.spoke(calls=[replace(made, id=call.name("id"))])
    elif role == "tool":
        content = content_text(message)
        failed = content.startswith(_FAILED)
        session.answered(
            Result(content=content, call_id=message.name("tool_call_id"), error=first_line(content) if failed else None)
        )
    elif role == "_system_prompt":
        session.agent = replace(session.agent, description=message.text("content"))
    elif role in _MARKS:
        message.rest()
    else:
        message.ignore_unknown(role or "without a role")


def _said(session: CodingSession, part: Fields) -> None:
    """Add a part of what the agent says: a text or a thought."""
    thought, message = part.text("think"), part.text("text")
    if thought is None and message is None and part.text("type") not in ("think", "text"):
        message = f"[{part.note_unknown(part.text('type'))}]"
    part.set_aside("type", "encrypted")
    if thought is not None or message is not None:
        session.said(Said(thought=thought, message=message))


def _loop(session: CodingSession, event: Fields) -> None:
    """Add an event of the agent's loop; a step ends with its usage."""
    kind = event.text("type") or "unknown"
    event.set_aside("uuid", "turnId", "step", "stepUuid", "parentUuid", "description", "display")
    if kind == "content.part":
        _said(session, event.object("part"))
    elif kind == "tool.call":
        session.spoke(calls=[call_in(event, "name", "args", "toolCallId")])
    elif kind == "tool.result":
        result = event.object("result")
        content = _output(result)
        failed = result.flag("isError") is True
        error = first_line(content) if failed else None
        code = EXIT_CODE.search(content) if failed else None
        session.answered(
            Result(
                content=content,
                call_id=event.name("toolCallId"),
                error=error,
                exit_code=None if code is None else int(code[1]),
            )
        )
    elif kind == "step.end":
        session.used(_usage(event.object("usage")))
        event.rest()
    elif kind != "step.begin":
        event.ignore_unknown(kind)


def _output(result: Fields) -> str:
    """What a tool returned: a text, or parts of a message."""
    output = result.value("output")
    return content_text(Fields({"content": output})) if isinstance(output, list) else as_text(output)


def _usage(used: Fields) -> Usage | None:
    """Tokens of a request; those read from and written to the cache are counted beside the others."""
    given, read, written = (used.whole(name) for name in ("inputOther", "inputCacheRead", "inputCacheCreation"))
    return usage_beside(given, used.whole("output"), read, written)


_LOG = SessionLog(name=NAME, is_line=_is_line, session=_session)
detect, read = _LOG.detects, _LOG.read
