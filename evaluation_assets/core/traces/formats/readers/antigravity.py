"""Conversations of Google Antigravity and its CLI: `transcript_full.jsonl`, or `transcript.jsonl`, which cuts texts.

Each line is a step. The results of the calls of a planner's response are the steps that follow it, in their order.
"""

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from evaluation_assets.core.traces.formats.base import DropFile, Rejection
from evaluation_assets.core.traces.formats.coding.session import CodingSession
from evaluation_assets.core.traces.formats.coding.session_logs import SessionLog
from evaluation_assets.core.traces.formats.messages.chat import first_line
from evaluation_assets.core.traces.formats.transcript import Call, Result, Said
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields
from evaluation_assets.core.traces.formats.untyped import at, object_in, parsed
from evaluation_assets.core.traces.trajectories.model import Agent, JsonObject, Trajectory

NAME = "antigravity"
DESCRIPTION = "Google Antigravity conversations (transcript_full.jsonl)"
DETECTION = "lines with a step_index, a source and a type such as USER_INPUT or PLANNER_RESPONSE"

_FULL, _CUT = "transcript_full.jsonl", "transcript.jsonl"
_REQUEST = re.compile(r"<USER_REQUEST>\s*(.*?)\s*</USER_REQUEST>", re.DOTALL)
_MODEL = re.compile(r"`Model Selection` from .+? to (.+?)\.(?:\s|$)")
_EXIT = re.compile(r"^The command exited with code (-?\d+)", re.MULTILINE)


def read(files: Sequence[DropFile], unmapped: UnmappedFields) -> Iterator[Trajectory | Rejection]:
    """Yield one trajectory per transcript; of two in a folder, the full one is read."""
    full = {posixpath.dirname(file.source) for file in files if posixpath.basename(file.source) == _FULL}
    own = [
        file for file in files if posixpath.basename(file.source) != _CUT or posixpath.dirname(file.source) not in full
    ]
    yield from _LOG.read(own, unmapped)


def _is_line(data: Any) -> bool:
    kind = at(data, "type")
    return (
        isinstance(at(data, "step_index"), int)
        and isinstance(at(data, "source"), str)
        and (kind in ("USER_INPUT", "PLANNER_RESPONSE") or "truncated_fields" in object_in(data))
    )


def _session(lines: Sequence[JsonObject], unmapped: UnmappedFields) -> CodingSession:
    session = CodingSession(Agent(id="antigravity", name="Antigravity"))
    for line in lines:
        with unmapped.reading(line) as fields:
            _add(session, fields, unmapped)
    return session


def _add(session: CodingSession, fields: Fields, unmapped: UnmappedFields) -> None:
    kind, source, text = fields.text("type") or "unknown", fields.text("source"), fields.text("content") or ""
    session.at(fields.text("created_at"))
    unmapped.stated.compare("full text", len(fields.items("truncated_fields")), 0)
    status = fields.text("status")
    fields.set_aside("step_index")
    if kind == "USER_INPUT":
        asked, model = _REQUEST.search(text), _MODEL.search(text)
        session.asked(text if asked is None else asked[1])
        if model is not None:
            session.agent = replace(session.agent, model=model[1])
    elif kind == "PLANNER_RESPONSE":
        calls = tuple(
            Call(name=call.text("name") or "unnamed", arguments=_arguments(call.value("args")))
            for call in fields.objects("tool_calls")
        )
        session.said(Said(thought=fields.text("thinking"), message=text.strip() or None, calls=calls))
    elif source in ("MODEL", "TOOL"):
        session.answered(_result(text, status, fields.whole("exit_code")))
    else:
        session.compactions += kind == "CHECKPOINT"
        unmapped.count(f"lines[] ({kind})")
        fields.rest()


def _arguments(given: Any) -> Any:
    """The arguments of a call, whose texts some versions write as JSON."""
    if not isinstance(given, dict):
        return given
    return {name: _unquoted(value) for name, value in given.items()}


def _unquoted(value: Any) -> Any:
    is_quoted = isinstance(value, str) and len(value) > 1 and value[0] == value[-1] == '"'
    return parsed(value) if is_quoted else value


def _result(text: str, status: str | None, exit_code: int | None) -> Result:
    stated = _EXIT.search(text)
    code = int(stated[1]) if exit_code is None and stated is not None else exit_code
    error = f"exit code {code}" if code else None
    if error is None and status == "ERROR":
        error = first_line(text) or "error"
    return Result(content=text, error=error, succeeded=code == 0)


_LOG = SessionLog(name=NAME, is_line=_is_line, session=_session)
detect = _LOG.detects
