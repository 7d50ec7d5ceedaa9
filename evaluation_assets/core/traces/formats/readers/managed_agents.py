"""Events of Claude Managed Agents (`client.beta.sessions.events`): a line each, or pages of them, and their session."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from evaluation_assets.core.traces.formats.coding.session import CodingSession
from evaluation_assets.core.traces.formats.coding.session_logs import SessionLog, add_message, content_text
from evaluation_assets.core.traces.formats.messages.chat import first_line
from evaluation_assets.core.traces.formats.messages.pieces import call_in
from evaluation_assets.core.traces.formats.transcript import Result, Said, as_text, one_line
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields
from evaluation_assets.core.traces.formats.untyped import at, objects_in
from evaluation_assets.core.traces.formats.usage import usage_beside
from evaluation_assets.core.traces.trajectories.model import Agent, JsonObject, Usage

NAME = "managed_agents"
DESCRIPTION = "events of Claude Managed Agents, with their session"
DETECTION = (
    "events of type agent.message, agent.tool_use, agent.custom_tool_use or agent.mcp_tool_use with processed_at"
)

_CALLS = ("agent.tool_use", "agent.custom_tool_use", "agent.mcp_tool_use")
_RESULTS = {
    "agent.tool_result": "tool_use_id",
    "user.custom_tool_result": "custom_tool_use_id",
    "agent.mcp_tool_result": "mcp_tool_use_id",
}
_SILENT = ("span.model_request_start", "user.tool_confirmation", "user.define_outcome")
_STATES = ("session.status_", "session.thread_")


def _is_event(data: Any) -> bool:
    return at(data, "type") in ("agent.message", *_CALLS) and "processed_at" in data


def _is_page(data: Any) -> bool:
    return any(map(_is_event, objects_in(at(data, "data"))))


def _is_line(data: Any) -> bool:
    return _is_event(data) or _is_page(data)


def _session(lines: Sequence[JsonObject], unmapped: UnmappedFields) -> CodingSession:
    session = CodingSession(Agent(id="agent"))
    for line in lines:
        for event in objects_in(line["data"]) if _is_page(line) else [line]:
            with unmapped.reading(event, "events[].") as fields:
                _add(session, fields)
    return session


def _add(session: CodingSession, event: Fields) -> None:
    kind = event.text("type") or "unknown"
    session.at(event.text("processed_at"))
    event.set_aside("session_thread_id", "agent_name", "stop_reason", "evaluated_permission", "model_request_start_id")
    if kind in _CALLS:
        call = call_in(event, "name", "input", "id")
        session.spoke(calls=[replace(call, server=event.text("mcp_server_name"))])
        return
    identity = event.name("id")
    if kind == "user.message":
        add_message(session, "user", event)
    elif kind == "agent.message":
        session.said(Said(message=content_text(event) or None))
    elif kind == "agent.thinking":
        session.spoke(content_text(event))
    elif kind in _RESULTS:
        session.answered(_result(event, _RESULTS[kind]))
    elif kind == "span.model_request_end":
        event.set_aside("is_error")
        session.used(_usage(event.object("model_usage")))
    elif kind == "session.error":
        error = event.rest().get("error")
        session.error = one_line(as_text(at(error, "message") or error)) or "error"
    elif kind == "session":
        session.id = identity
        _describe(session, event.object("agent"))
        event.rest()
    elif kind == "user.interrupt":
        session.interruptions += 1
    elif kind in _SILENT or kind.startswith(_STATES):
        event.rest()
    else:
        event.ignore_unknown(kind)


def _describe(session: CodingSession, agent: Fields) -> None:
    model = agent.object("model").text("id") if agent.is_object("model") else agent.text("model")
    name, prompt = agent.text("name"), agent.text("system")
    session.agent = replace(session.agent, name=name, model=model, description=prompt)
    agent.rest()


def _result(event: Fields, key: str) -> Result:
    content = content_text(event)
    failed = event.flag("is_error") is True
    return Result(content=content, call_id=event.name(key), error=first_line(content) if failed else None)


def _usage(used: Fields) -> Usage | None:
    """Tokens of a request; those read from and written to the cache are counted beside the input."""
    given, read, written = (
        used.whole(name) for name in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    )
    used.rest()
    return usage_beside(given, used.whole("output_tokens"), read, written)


_LOG = SessionLog(name=NAME, is_line=_is_line, session=_session)
detect, read = _LOG.detects, _LOG.read
