"""Sessions of Cursor: `cursor-agent --output-format stream-json`, transcripts that its agent keeps, exported chats.

A transcript (`agent-transcripts/<id>.jsonl`) has the calls without their results, an exported chat has neither.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from evaluation_assets.core.traces.formats.base import DropFile, Record, Rejection, Sample
from evaluation_assets.core.traces.formats.coding.session import CodingSession
from evaluation_assets.core.traces.formats.coding.session_logs import SessionLog, add_message, add_time
from evaluation_assets.core.traces.formats.files.opening import read_text
from evaluation_assets.core.traces.formats.files.samples import own_files, sample_of
from evaluation_assets.core.traces.formats.isolation import usable
from evaluation_assets.core.traces.formats.messages.chat import first_line
from evaluation_assets.core.traces.formats.messages.elements import element_in
from evaluation_assets.core.traces.formats.transcript import Asked, Call, Result, Said, as_text, one_line, total
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields
from evaluation_assets.core.traces.formats.untyped import at, first_text, object_in
from evaluation_assets.core.traces.formats.usage import usage
from evaluation_assets.core.traces.trajectories.model import Agent, JsonObject, Trajectory, Usage

NAME = "cursor"
DESCRIPTION = "Cursor: stream-json output of cursor-agent, agent transcripts, exported chats (copied to a .txt file)"
DETECTION = (
    "lines with a role and a message that has content, without a type; lines of type tool_call with a tool_call; texts "
    "with a line '_Exported on ... from Cursor (...)_'"
)

_SUFFIX = "ToolCall"
_EXPORTED = re.compile(r"\A\s*# (.*)\n_Exported on .* from Cursor \((.*)\)_\s*$", re.MULTILINE)
_SPEAKER = re.compile(r"^---\n+\*\*(User|Cursor)\*\*\n", re.MULTILINE)


def is_cursor_line(data: Any) -> bool:
    """Whether a value is a line that only Cursor writes."""
    line = object_in(data)
    if "type" not in line:
        is_spoken = line.get("role") in ("user", "assistant") and "content" not in line
        return is_spoken and isinstance(at(line.get("message"), "content"), list)
    if line["type"] == "tool_call":
        return isinstance(line.get("tool_call"), dict) and "call_id" in line
    return line.get("subtype") == "init" and "apiKeySource" in line and "tools" not in line


def _session(lines: Sequence[JsonObject], unmapped: UnmappedFields) -> CodingSession:
    log = _Log(unmapped)
    for line in lines:
        with unmapped.reading(line) as fields:
            log.add(fields)
    return log.ended()


class _Log:
    """Reads the lines of a session. With partial output, the texts of an answer come again as a whole at its end."""

    def __init__(self, unmapped: UnmappedFields) -> None:
        self._session = CodingSession(Agent(id="cursor", name="Cursor"))
        self._unmapped = unmapped
        self._thought = ""
        self._partial = ""
        self._called: set[str | None] = set()
        self._spent: list[Usage | None] = []

    def ended(self) -> CodingSession:
        """The session."""
        self._flush()
        self._session.spent = total(self._spent)
        for place, event in enumerate(self._session.events):
            if isinstance(event, Asked) and (query := element_in(event.text, "user_query")):
                self._session.events[place] = replace(event, text=query)
        return self._session

    def add(self, fields: Fields) -> None:
        """Add a line."""
        kind = fields.text("type", "role") or "unknown"
        is_partial = "timestamp_ms" in fields
        add_time(self._session, fields)
        self._session.id = self._session.id or fields.name("session_id")
        fields.set_aside("session_id", "role", "model_call_id")
        if kind == "assistant":
            self._said(fields.object("message"), is_partial=is_partial)
        elif kind == "user":
            self._flush()
            self._spoken("user", fields.object("message"))
        elif kind == "thinking":
            self._thought += fields.text("text") or ""
            fields.set_aside("subtype")
        elif kind == "tool_call":
            self._flush()
            self._tool(fields)
        elif kind == "system":
            self._session.agent = replace(self._session.agent, model=fields.text("model"))
            self._session.know(cwd=fields.text("cwd"))
            fields.set_aside("subtype", "apiKeySource", "permissionMode")
        elif kind == "result":
            self._result(fields)
        elif kind == "turn_ended":
            self._session.error = None if (status := fields.text("status")) in (None, "success") else status
        else:
            self._unmapped.count(f"lines[] ({kind})")
            fields.rest()

    def _said(self, message: Fields, *, is_partial: bool) -> None:
        text = "".join(
            first_text(part, "text") or "" for part in message.items("content") if at(part, "type") == "text"
        )
        if is_partial:
            self._partial += text
            message.rest()
        elif self._partial and text == self._partial:
            message.rest()
        else:
            self._flush()
            self._spoken("assistant", message)

    def _spoken(self, role: str, message: Fields) -> None:
        message.set_aside("role")
        add_message(self._session, role, message)

    def _flush(self) -> None:
        """Add what was thought and, with partial output, said."""
        thought, said = self._thought.strip(), self._partial
        self._thought = self._partial = ""
        if thought or said.strip():
            self._session.said(Said(thought=thought or None, message=said if said.strip() else None))

    def _tool(self, fields: Fields) -> None:
        call_id, is_done = fields.name("call_id"), fields.text("subtype") == "completed"
        name, made = next(iter(object_in(fields.value("tool_call")).items()), ("unnamed", {}))
        if call_id is None or call_id not in self._called:
            self._called.add(call_id)
            given = at(made, "args") if at(made, "args") is not None else at(made, "arguments")
            named = first_text(made, "name") or first_text(given, "toolName") if name in _WRAPPERS else None
            server = first_text(given, "providerIdentifier")
            arguments = at(given, "args") if name == _MCP and "args" in object_in(given) else given
            call = Call(name=named or name.removesuffix(_SUFFIX), arguments=arguments, id=call_id, server=server)
            self._session.spoke(calls=[call])
        if not is_done:
            return
        outcome, value = next(iter(object_in(at(made, "result")).items()), ("success", at(made, "result")))
        content = _content(value)
        code = at(value, "exitCode")
        self._session.answered(
            Result(
                content=content,
                call_id=call_id,
                error=None if outcome == "success" else first_line(content) if content else outcome,
                exit_code=code if isinstance(code, int) else None,
            )
        )

    def _result(self, fields: Fields) -> None:
        self._flush()
        counts, failed = fields.object("usage"), fields.flag("is_error") is True
        given, cached, written = (counts.whole(key) for key in ("inputTokens", "cacheReadTokens", "cacheWriteTokens"))
        parts = (cached or 0) + (written or 0)  # of the input, unless they are more
        whole = given if given is None or parts <= given else given + parts
        self._spent.append(usage(whole, counts.whole("outputTokens"), None, cached, written))
        self._session.error = (one_line(fields.text("error", "result")) or "error") if failed else None
        fields.set_aside("subtype", "duration_ms", "duration_api_ms", "request_id", "result", "error")


_MCP = "mcpToolCall"
_WRAPPERS = (_MCP, "function")
"""Calls whose arguments name the tool."""


def _content(value: Any) -> str:
    """The text of a result: its content, the streams of a command, or the message of an error."""
    streams = [text for key in ("stdout", "stderr") if isinstance(text := at(value, key), str) and text]
    first = first_text(value, "content", "errorMessage", "error", "reason")
    return first or "\n".join(streams) or as_text(value)


_LOG = SessionLog(name=NAME, is_line=is_cursor_line, session=_session)


def detect(sample: Sample) -> bool:
    """Whether a sample is in this format."""
    return _LOG.detects(sample) or _is_export(sample)


def read(files: Sequence[DropFile], unmapped: UnmappedFields) -> Iterator[Trajectory | Rejection]:
    """Yield one trajectory or rejection per file."""
    for file in own_files(files, detect, NAME):
        if isinstance(file, Rejection):
            yield file
        elif _is_export(sample_of(file)):
            text = read_text(file.path, file.source)
            record = Record(file.source, 1, text, text.encode())
            yield usable(
                record, lambda record: _exported(record.data, unmapped).trajectory(NAME, unmapped), is_whole=True
            )
        else:
            yield from _LOG.read([file], unmapped)


def _is_export(sample: Sample) -> bool:
    return not sample.records and _EXPORTED.match(sample.text) is not None


def _exported(text: str, unmapped: UnmappedFields) -> CodingSession:
    session = CodingSession(Agent(id="cursor", name="Cursor"))
    head = _EXPORTED.match(text)
    session.about |= {} if head is None else {"title": head[1], "version": head[2]}
    unmapped.note("unknown_part", "calls, which exported chats leave out")
    _, *pieces = _SPEAKER.split(text)
    for speaker, said in zip(pieces[::2], pieces[1::2], strict=False):
        words = said.strip().removesuffix("---").strip()
        if speaker == "User":
            session.asked(words)
        else:
            session.spoke(message=words)
    return session
