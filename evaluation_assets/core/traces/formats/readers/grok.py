"""Sessions of Grok Build, xAI's coding agent: `chat_history.jsonl`, which has neither times nor tokens."""

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from evaluation_assets.core.traces.formats.base import DropFile, Rejection
from evaluation_assets.core.traces.formats.coding.session import CodingSession
from evaluation_assets.core.traces.formats.coding.session_logs import SessionLog, content_text
from evaluation_assets.core.traces.formats.messages.pieces import call_in
from evaluation_assets.core.traces.formats.transcript import Call, Result
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields
from evaluation_assets.core.traces.formats.untyped import at, object_in
from evaluation_assets.core.traces.trajectories.model import Agent, JsonObject, Trajectory

NAME = "grok"
DESCRIPTION = "Grok Build sessions (chat_history.jsonl)"
DETECTION = "lines of type assistant with a model_id, or of type user with a prompt_index or a synthetic_reason"

_HISTORY = "chat_history.jsonl"
_QUERY = re.compile(r"\s*<user_query>\s*(.*?)\s*</user_query>\s*", re.DOTALL)
_CONTEXT = re.compile(r"\s*<(?:user_info|system-reminder)>")


def read(files: Sequence[DropFile], unmapped: UnmappedFields) -> Iterator[Trajectory | Rejection]:
    """Yield one trajectory per history. Other files in the folder of a session say less, and are left out."""
    folders = {posixpath.dirname(file.source) for file in files if posixpath.basename(file.source) == _HISTORY}
    own = [
        file
        for file in files
        if posixpath.basename(file.source) == _HISTORY or posixpath.dirname(file.source) not in folders
    ]
    unmapped.count("files beside the history of a session", len(files) - len(own))
    yield from _LOG.read(own, unmapped)


def is_of_grok(data: Any) -> bool:
    """Whether a line has fields that only Grok Build writes. Its reasoning is an item as of the Responses API."""
    kind, fields = at(data, "type"), object_in(data)
    if "role" in fields or "message" in fields:
        return False
    if kind == "assistant":
        return "model_id" in fields and "content" in fields
    return kind == "user" and ("prompt_index" in fields or "synthetic_reason" in fields)


def _session(lines: Sequence[JsonObject], unmapped: UnmappedFields) -> CodingSession:
    session = CodingSession(Agent(id="grok", name="Grok Build"))
    thoughts: list[str] = []
    for line in lines:
        with unmapped.reading(line) as fields:
            _add(session, fields, thoughts, unmapped)
    _said(session, thoughts)
    return session


def _add(session: CodingSession, fields: Fields, thoughts: list[str], unmapped: UnmappedFields) -> None:
    kind = fields.text("type") or "unknown"
    if kind == "system":
        session.agent = replace(session.agent, description=session.agent.description or content_text(fields))
    elif kind == "user":
        _said(session, thoughts)
        _heard(session, fields, unmapped)
    elif kind == "reasoning":
        summary = (text for part in fields.objects("summary") if (text := part.text("text")) is not None)
        thoughts.append("\n".join(summary) or content_text(fields))
        fields.rest()
    elif kind == "assistant":
        session.ran_on(fields.text("model_id"))
        fields.set_aside("model_fingerprint", "reasoning_effort")
        calls = [call_in(call, "name", "arguments", "id") for call in fields.objects("tool_calls")]
        _said(session, thoughts, content_text(fields).strip(), calls)
    elif kind == "tool_result":
        session.answered(Result(content=content_text(fields), call_id=fields.name("tool_call_id")))
    elif kind == "backend_tool_call":
        _hosted(session, fields.object("kind"), thoughts)
    else:
        unmapped.count(f"lines[] ({kind})")
        fields.rest()


def _said(session: CodingSession, thoughts: list[str], message: str = "", calls: Sequence[Call] = ()) -> None:
    """Add an output of the model with the reasoning before it, if there is any of them."""
    thought = "\n\n".join(filter(None, thoughts))
    thoughts.clear()
    session.spoke(thought, message, calls)


def _heard(session: CodingSession, fields: Fields, unmapped: UnmappedFields) -> None:
    """A prompt, or what the client says in the place of the user."""
    reason, text = fields.text("synthetic_reason"), content_text(fields)
    fields.set_aside("prompt_index")
    session.interruptions += fields.text("prior_turn_interrupt") is not None
    if reason is not None or _CONTEXT.match(text):
        unmapped.count("lines[] (context by the client)")
        return
    asked = _QUERY.fullmatch(text)
    session.asked(text if asked is None else asked[1])


def _hosted(session: CodingSession, call: Fields, thoughts: list[str]) -> None:
    """A call that the model's provider ran: the session has no more of its result than whether it completed."""
    call_id, status = call.name("id"), call.text("status") or "completed"
    made = Call(name=call.text("tool_type") or "unnamed", arguments=call.value("action", "input"), id=call_id)
    _said(session, thoughts, calls=[made])
    failed = status in ("failed", "incomplete")
    session.answered(Result(content=status, call_id=call_id, error=status if failed else None, succeeded=not failed))
    call.rest()


_LOG = SessionLog(name=NAME, is_line=is_of_grok, session=_session)
detect = _LOG.detects
