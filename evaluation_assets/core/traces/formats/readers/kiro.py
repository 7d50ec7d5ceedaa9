"""Sessions of Kiro CLI: `~/.kiro/sessions/cli/<session>.jsonl`, with what is known of it in `<session>.json`; and the
conversations that `/chat save` of Kiro CLI and Amazon Q Developer CLI writes.

Tokens are not stated: Kiro is paid in credits.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from evaluation_assets.core.traces.formats.base import DropFile, Rejection
from evaluation_assets.core.traces.formats.coding.session import CodingSession, Parts
from evaluation_assets.core.traces.formats.coding.session_logs import SessionLog
from evaluation_assets.core.traces.formats.files.records import first_object
from evaluation_assets.core.traces.formats.messages.chat import first_line
from evaluation_assets.core.traces.formats.messages.pieces import call_in
from evaluation_assets.core.traces.formats.transcript import Result, Said, as_text
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields, ignore_rest
from evaluation_assets.core.traces.formats.untyped import at, first_text, object_in, objects_in
from evaluation_assets.core.traces.trajectories.model import Agent, JsonObject, Trajectory

NAME = "kiro"
DESCRIPTION = "Kiro CLI sessions, and saved conversations of Kiro CLI and Amazon Q Developer CLI"
DETECTION = (
    "lines with a kind such as Prompt or AssistantMessage, and data with content; or a conversation_id with a history "
    "of user and assistant"
)

_KINDS = ("Prompt", "AssistantMessage", "ToolResults")
_STATUS = re.compile(r"exit status: (-?\d+)")


def read(files: Sequence[DropFile], unmapped: UnmappedFields) -> Iterator[Trajectory | Rejection]:
    """Yield one trajectory per session or conversation, with what a file beside it states of a session."""
    about: dict[str, JsonObject] = {}
    for file in files:
        data = first_object(file) if file.source.endswith(".json") else None
        if data is not None and _is_about(data):
            about[file.source] = data
    for item in _LOG.read([file for file in files if file.source not in about], unmapped):
        known = None if isinstance(item, Rejection) or item.source is None else about.get(_beside(item.source.file))
        yield item if isinstance(item, Rejection) or known is None else _known(item, known)


def _known(run: Trajectory, about: Mapping[str, Any]) -> Trajectory:
    """The trajectory with the ID, folder and model of its session."""
    model = first_text(at(at(about.get("session_state"), "rts_model_state"), "model_info"), "model_id")
    session, folder = first_text(about, "session_id"), first_text(about, "cwd")
    return replace(
        run,
        id=session or run.id,
        agents=tuple(replace(agent, model=agent.model or model) for agent in run.agents),
        extra={**run.extra, **{key: one for key, one in (("session_id", session), ("cwd", folder)) if one}},
    )


def _beside(source: str) -> str:
    return f"{source.removesuffix('.jsonl')}.json"


def _is_about(data: Any) -> bool:
    return "session_id" in object_in(data) and isinstance(at(data, "session_state"), dict)


def _is_line(data: Any) -> bool:
    return at(data, "kind") in _KINDS and isinstance(at(at(data, "data"), "content"), list)


def _is_conversation(data: Any) -> bool:
    entries = objects_in(at(data, "history"))
    return "conversation_id" in object_in(data) and any({"user", "assistant"} <= entry.keys() for entry in entries)


def _session(lines: Sequence[JsonObject], unmapped: UnmappedFields) -> CodingSession:
    session = CodingSession(Agent(id="kiro", name="Kiro"))
    for line in lines:
        with unmapped.reading(line) as fields:
            if _is_conversation(line):
                session.id = fields.name("conversation_id")
                for entry in fields.objects("history"):
                    _entry(session, entry)
            else:
                _line(session, fields, unmapped)
    return session


def _line(session: CodingSession, fields: Fields, unmapped: UnmappedFields) -> None:
    kind, data = fields.text("kind") or "unknown", fields.object("data")
    fields.set_aside("version")
    data.set_aside("message_id")
    if kind not in _KINDS:
        unmapped.count(f"lines[] ({kind})")
        ignore_rest(data, fields)
        return
    session.at_seconds(data.object("meta").number("timestamp"))
    told = Parts()
    for block in data.objects("content"):
        what, inner = block.text("kind"), block.object("data") if block.is_object("data") else None
        if inner is None:
            told.texts.append(block.text("data") or "")
        elif what == "toolUse":
            told.calls.append(call_in(inner, "name", "input", "toolUseId"))
        elif what == "toolResult":
            session.answered(_result(inner))
        elif what == "thinking":
            told.thoughts.append(inner.text("text") or "")
        elif what == "image":
            told.texts.append("[image]")
        else:
            block.note_unknown(what or "without a kind")
        if inner is not None:
            inner.rest()
    text = "\n\n".join(filter(None, map(str.strip, told.texts)))
    if kind == "AssistantMessage":
        if text or told.thoughts or told.calls:
            session.said(
                Said(thought="\n\n".join(told.thoughts) or None, message=text or None, calls=tuple(told.calls))
            )
    else:
        session.asked(text)


def _result(fields: Fields) -> Result:
    """The result of a call: texts, or JSON, which of a command has its streams and how it ended."""
    pieces = [object_in(each) for each in fields.items("content")]
    values = [next(iter(piece[key] for key in ("data", "Text", "Json") if key in piece), None) for piece in pieces]
    content = "\n".join(filter(None, map(_shown, values)))
    ended = next((match for value in values if (match := _STATUS.match(str(at(value, "exit_status"))))), None)
    code = None if ended is None else int(ended[1])
    failed = (fields.text("status") or "").lower() == "error"
    error = (first_line(content) or "error") if failed else f"exit code {code}" if code else None
    return Result(
        content=content,
        call_id=fields.name("toolUseId", "tool_use_id"),
        error=error,
        succeeded=error is None and code == 0,
        exit_code=code,
    )


def _shown(value: Any) -> str:
    if not isinstance(at(value, "stdout"), str):
        return as_text(value)
    return "\n".join(text for key in ("stdout", "stderr") if isinstance(text := at(value, key), str) and text)


def _entry(session: CodingSession, entry: Fields) -> None:
    """A request of a saved conversation: what the model was given, and what it said."""
    user, answer = entry.object("user"), entry.object("assistant")
    session.at(user.text("timestamp"))
    content = user.object("content")
    for kind in ("ToolUseResults", "CancelledToolUses"):
        for result in content.object(kind).objects("tool_use_results"):
            session.answered(_result(result))
        session.interruptions += kind == "CancelledToolUses" and kind in content
    prompt = content.object("Prompt").text("prompt") or content.object("CancelledToolUses").text("prompt")
    session.asked(prompt or "")
    said = answer.object("ToolUse") if "ToolUse" in answer else answer.object("Response")
    calls = [call_in(call, "name", "args", "id") for call in said.objects("tool_uses")]
    session.spoke(None, (said.text("content") or "").strip(), calls)
    ignore_rest(*said.objects("tool_uses"), said, content, answer, user, entry)


_LOG = SessionLog(
    name=NAME,
    is_line=lambda data: _is_line(data) or _is_conversation(data),
    session=_session,
    is_session=_is_conversation,
)
detect = _LOG.detects
