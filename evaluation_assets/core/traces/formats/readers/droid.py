"""Sessions of Droid, Factory's coding agent: its session files, and `droid exec --output-format stream-json`.

The model and the tokens of a session are in `<session>.settings.json` beside `<session>.jsonl`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from evaluation_assets.core.traces.formats.base import DropFile, Rejection
from evaluation_assets.core.traces.formats.coding.session import CodingSession
from evaluation_assets.core.traces.formats.coding.session_logs import SessionLog, add_message, add_time
from evaluation_assets.core.traces.formats.files.records import first_object
from evaluation_assets.core.traces.formats.messages.chat import first_line
from evaluation_assets.core.traces.formats.messages.pieces import call_in
from evaluation_assets.core.traces.formats.transcript import Result, as_text, one_line
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields
from evaluation_assets.core.traces.formats.untyped import at, first_text, object_in
from evaluation_assets.core.traces.formats.usage import usage_beside, usage_of
from evaluation_assets.core.traces.trajectories.model import Agent, JsonObject, Trajectory

NAME = "droid"
DESCRIPTION = "Droid (Factory): session files, and stream-json output of droid exec"
DETECTION = (
    "lines of type session_start with an id and a title, tool_call with a toolName and parameters, or message with a "
    "text and a session_id"
)

_SETTINGS = ".settings.json"
_OF_MESSAGE = {"id", "role", "timestamp", "session_id"}
_SESSION = ("session_id", "sessionId")


def read(files: Sequence[DropFile], unmapped: UnmappedFields) -> Iterator[Trajectory | Rejection]:
    """Yield one trajectory per file of lines, with what the settings beside it state of the session."""
    about: dict[str, JsonObject] = {}
    for file in (file for file in files if file.source.endswith(_SETTINGS)):
        data = first_object(file)
        if data is not None and isinstance(data.get("tokenUsage"), dict):
            about[file.source] = data
    for item in _LOG.read([file for file in files if file.source not in about], unmapped):
        source = None if isinstance(item, Rejection) or item.source is None else item.source.file
        known = None if source is None else about.get(f"{source.removesuffix('.jsonl')}{_SETTINGS}")
        yield item if isinstance(item, Rejection) or known is None else _known(item, known)


def _known(run: Trajectory, about: JsonObject) -> Trajectory:
    """The trajectory with the model and the tokens of its session, of which those in a cache stand beside the input."""
    counts = Fields(about["tokenUsage"])
    given, cached, written = (counts.whole(f"{kind}Tokens") for kind in ("input", "cacheRead", "cacheCreation"))
    outputs = None if counts.whole("thinkingTokens") else counts.whole("outputTokens")  # which may have them, or not
    used = usage_beside(given, outputs, cached, written)
    model = first_text(about, "model")
    return replace(
        run,
        usage=run.usage or used,
        agents=tuple(replace(agent, model=agent.model or model) for agent in run.agents),
    )


def _is_line(data: Any) -> bool:
    kind, fields = at(data, "type"), object_in(data)
    if kind == "session_start":
        return "id" in fields and ("title" in fields or "sessionTitle" in fields)
    if kind == "tool_call":
        return "toolName" in fields and "parameters" in fields
    if kind == "message":
        return isinstance(fields.get("text"), str) and fields.keys() >= _OF_MESSAGE
    return kind == "completion" and "finalText" in fields


def _session(lines: Sequence[JsonObject], unmapped: UnmappedFields) -> CodingSession:
    session = CodingSession(Agent(id="droid", name="Droid"))
    for line in lines:
        with unmapped.reading(line) as fields:
            _add(session, fields, unmapped)
    return session


def _add(session: CodingSession, fields: Fields, unmapped: UnmappedFields) -> None:
    kind = fields.text("type") or "unknown"
    add_time(session, fields)
    session.id = session.id or fields.name(*_SESSION)
    fields.set_aside(*_SESSION, "parentId", "messageId", "owner", "version")
    if kind == "session_start":
        session.id = fields.name("id")
        session.know(cwd=fields.text("cwd"), title=fields.text("sessionTitle", "title"))
        fields.set_aside("title")
    elif kind == "system":
        session.know(cwd=fields.text("cwd"))
        session.agent = replace(session.agent, model=fields.text("model"))
        fields.set_aside("id", "subtype", "tools", "reasoning_effort")
    elif kind == "message" and fields.is_object("message"):
        message = fields.object("message")
        fields.set_aside("id")
        add_message(session, message.text("role"), message)
    elif kind == "message":
        fields.set_aside("id")
        _spoken(session, fields.text("role"), fields.text("text"))
    elif kind == "tool_call":
        session.spoke(calls=[call_in(fields, "toolName", "parameters", "toolCallId", "id")])
        fields.set_aside("id", "toolId")
    elif kind == "tool_result":
        session.answered(_result(fields))
    elif kind == "completion":
        session.outcome = fields.text("finalText")
        session.spent = usage_of(fields.object("usage"))
        fields.set_aside("id", "numTurns", "durationMs")
    elif kind == "error":
        session.error = one_line(fields.text("message")) or "error"
        fields.set_aside("source")
    else:
        unmapped.count(f"lines[] ({kind})")
        fields.rest()


def _spoken(session: CodingSession, role: str | None, text: str | None) -> None:
    if text is None:
        return
    with UnmappedFields().peeking({"content": text}) as message:
        add_message(session, role, message)


def _result(fields: Fields) -> Result:
    """The result of a call: a text, or the streams of a command with its exit code."""
    value = fields.value("value", "error")
    exit_code = at(value, "exitCode")
    streams = [text for key in ("stdout", "stderr") if isinstance(text := at(value, key), str) and text]
    content = "\n".join(streams) if isinstance(value, dict) and ("stdout" in value or streams) else as_text(value)
    failed = fields.flag("isError") is True
    fields.set_aside("id", "toolId")
    return Result(
        content=content,
        call_id=fields.name("toolCallId", "id"),
        tool=fields.text("toolName", "toolId"),
        error=first_line(content) if failed else None,
        exit_code=exit_code if isinstance(exit_code, int) else None,
    )


_LOG = SessionLog(name=NAME, is_line=_is_line, session=_session)
detect = _LOG.detects
