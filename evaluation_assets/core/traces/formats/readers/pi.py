"""Sessions of Pi, the coding agent: a log whose entries form a tree; the branch with the last entry is current.

`pi --mode json` prints the messages of a session among events that repeat them.
"""

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from evaluation_assets.core.traces.formats.base import DropFile, Record, Rejection
from evaluation_assets.core.traces.formats.branches import path_to
from evaluation_assets.core.traces.formats.coding.session import CodingSession
from evaluation_assets.core.traces.formats.coding.session_logs import SessionLog, add_message, add_time, content_text
from evaluation_assets.core.traces.formats.endings import is_truncation
from evaluation_assets.core.traces.formats.files.records import read_records
from evaluation_assets.core.traces.formats.messages.chat import first_line
from evaluation_assets.core.traces.formats.times import chronological
from evaluation_assets.core.traces.formats.transcript import Asked, Result, as_text, one_line
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields
from evaluation_assets.core.traces.formats.untyped import at, first_text, object_in, objects_in
from evaluation_assets.core.traces.formats.usage import usage_beside
from evaluation_assets.core.traces.trajectories.model import Agent, JsonObject, Usage

NAME = "pi"
DESCRIPTION = "Pi coding agent sessions, of the current branch; the tokens of other branches count"
DETECTION = "lines with a header of type session that has a cwd, or messages of the role toolResult or bashExecution"

_EntryKey = tuple[str | None, str | None]
"""ID and time of an entry, which a fork has from the session it was forked from."""

_PRINTED = "message_end"
_REPEATED = re.compile(
    r"(?:agent|turn)_(?:start|end|settled)|message_(?:start|update)|tool_execution_(?:start|update|end)"
)
"""Types of printed events: a message as a whole, and those that say nothing else."""
_SUMMARIES = ("compaction", "branch_summary")
_SILENT = ("thinking_level_change", "label", "custom", "context_transform", "ephemeral")


def _is_line(data: Any) -> bool:
    if at(data, "type") == "session":
        return isinstance(at(data, "cwd"), str) and isinstance(at(data, "id"), str) and "timestamp" in data
    message = object_in(at(data, "message"))
    return at(data, "type") == "message" and message.get("role") in ("toolResult", "bashExecution")


def _session(lines: Sequence[JsonObject], unmapped: UnmappedFields) -> CodingSession:
    session = CodingSession(Agent(id="pi", name="Pi"))
    lines = _without_repetitions(lines)
    current = _branch(lines)
    left = [line for line in lines if id(line) not in current]
    for line in left:  # paid for, too
        message = object_in(line.get("message"))
        calls = sum(part.get("type") == "toolCall" for part in objects_in(message.get("content")))
        unmapped.note("rewound", "call", calls)
        with unmapped.peeking(message or line) as fields:
            session.used(_usage(fields))
    shown = {first_text(line, "id") for line in lines if id(line) in current}
    parents = [first_text(line, "parentId") for line in left]
    unmapped.note("rewound", "branch", sum(parent is None or parent in shown for parent in parents))
    told = ""
    for line in lines:
        if id(line) not in current:
            continue
        role = first_text(line.get("message"), "role")
        if told and role in ("user", "assistant"):
            if role == "user" or (session.events and isinstance(session.events[-1], Asked)):
                unmapped.count("lines[] (context of an extension)")
            else:
                session.asked(told)
            told = ""
        with unmapped.reading(line) as fields:
            if _is_of_extension(line):
                told = _told(session, fields)
            else:
                _add(session, fields, unmapped)
    return session


def _without_repetitions(lines: Sequence[JsonObject]) -> Sequence[JsonObject]:
    """The header and the messages of printed events, as they are in a session."""
    if not any(line.get("type") == _PRINTED for line in lines):
        return lines
    kept = (line for line in lines if not _REPEATED.fullmatch(first_text(line, "type") or ""))
    return [
        {"type": "message", "timestamp": at(line.get("message"), "timestamp"), "message": line.get("message")}
        if line.get("type") == _PRINTED
        else line
        for line in kept
    ]


def _is_of_extension(line: JsonObject) -> bool:
    """Whether a line has a message of an extension: the prompt if the agent goes on after it, else context of one."""
    return line.get("type") == "custom_message" or first_text(line.get("message"), "role") == "custom"


def _told(session: CodingSession, fields: Fields) -> str:
    add_time(session, fields)
    message = fields if "content" in fields else fields.object("message")
    text = content_text(message)
    fields.set_aside("type", "id", "parentId", "version", "customType", "display", "details")
    message.set_aside("role", "timestamp", "customType", "display", "details")
    return text


def _branch(lines: Sequence[JsonObject]) -> set[int]:
    """The lines from the root to the last entry, and those without a place in the tree, by identity."""
    entries = {name: line for line in lines if line.get("type") != "session" and (name := first_text(line, "id"))}
    kept = {id(line) for line in lines if line.get("type") == "session" or not first_text(line, "id")}
    parents = {name: first_text(line, "parentId") for name, line in entries.items()}
    return kept | {id(entries[name]) for name in path_to(next(reversed(entries), None), parents)}


def _add(session: CodingSession, fields: Fields, unmapped: UnmappedFields) -> None:
    kind = fields.text("type") or "unknown"
    add_time(session, fields)
    fields.set_aside("parentId", "version")
    if kind == "session":
        session.id = fields.name("id")
        session.know(cwd=fields.text("cwd"), parent_session=fields.text("parentSession", "branchedFrom"))
        _uses(session, fields.text("modelId"))
        fields.set_aside("provider", "thinkingLevel")
        return
    fields.set_aside("id")
    if kind == "message":
        _message(session, fields.object("message"), unmapped)
    elif kind == "model_change":
        _uses(session, fields.text("modelId"))
        fields.set_aside("provider")
    elif kind == "session_info":
        session.about["title"] = fields.text("name")
    elif kind in _SUMMARIES:  # by a request of its own
        session.compactions += kind == "compaction"
        session.used(_usage(fields))
        fields.rest()
    elif kind in _SILENT:
        fields.rest()
    else:
        unmapped.count(f"lines[] ({kind})")
        fields.rest()


def _message(session: CodingSession, message: Fields, unmapped: UnmappedFields) -> None:
    role = message.text("role")
    message.set_aside("timestamp", "api", "provider", "responseId", "details", "responseModel", "diagnostics")
    message.set_aside("rawStopReason", "thinkingLevel")
    if role == "system":
        prompt = "\n\n".join(filter(None, [content_text(message), *_sections(message.object("sections"))]))
        session.agent = replace(session.agent, description=prompt or session.agent.description)
    elif role == "user":
        add_message(session, role, message)
    elif role == "assistant":
        _uses(session, message.text("model"))
        add_message(session, role, message)
        usage = _usage(message)
        session.used(usage)
        total = message.object("usage").whole("totalTokens")
        if usage is not None and usage.input_tokens is not None and usage.output_tokens is not None:
            unmapped.stated.compare("token", total or None, usage.input_tokens + usage.output_tokens)
        stopped, told = message.text("stopReason"), message.text("errorMessage")
        session.error = (one_line(told) or "error") if stopped == "error" else None
        session.interruptions += stopped == "aborted"
        session.truncated = is_truncation(stopped)
    elif role == "toolResult":
        content = content_text(message)
        failed = message.flag("isError") is True
        session.answered(
            Result(
                content=content,
                call_id=message.name("toolCallId"),
                tool=message.text("toolName"),
                error=first_line(content) if failed else None,
            )
        )
        session.used(_usage(message))  # of models that the tool asked
    else:  # commands of the user, and messages of extensions
        unmapped.count(f"messages[] ({role or 'without a role'})")
        message.rest()


def _sections(sections: Fields) -> list[str]:
    """The parts of a system prompt, in their order."""
    return [as_text(section) for section in sections.rest().values()]


def _usage(message: Fields) -> Usage | None:
    """The usage of an answer: Pi counts cached tokens beside the input."""
    counts = message.object("usage")
    given, cached, written = (counts.whole(key) for key in ("input", "cacheRead", "cacheWrite"))
    cost = counts.object("cost")
    paid = cost.amount("total")
    cost.rest()
    counts.set_aside("totalTokens", "reasoning")
    if not any((given, cached, written, counts.whole("output"))):  # the request failed
        return None
    return usage_beside(given, counts.whole("output"), cached, written, paid)


def _uses(session: CodingSession, model: str | None) -> None:
    if model is not None:
        session.agent = replace(session.agent, model=model)


def _own_records(files: Sequence[DropFile], file: DropFile, unmapped: UnmappedFields) -> Iterator[Record | Rejection]:
    """The records of a session without those that it has of the session it was forked from, if that is in the drop."""
    header = next((one.data for one in read_records(file.unwatched) if isinstance(one, Record)), None)
    parent = first_text(header, "parentSession", "branchedFrom")
    name = None if parent is None else parent.replace("\\", "/").rpartition("/")[2]
    origin = next((one for one in files if one != file and posixpath.basename(one.source) == name), None)
    copies = _entry_keys(origin) if origin is not None else frozenset[_EntryKey]()
    if name is not None and origin is None and _has_older(file, first_text(header, "timestamp")):
        unmapped.note("copied_history", name)
    if not copies:
        return read_records(file)
    records = read_records(file.unwatched)
    return file.watch.over(one for one in records if isinstance(one, Rejection) or _entry_key(one.data) not in copies)


def _entry_keys(file: DropFile) -> frozenset[_EntryKey]:
    keys = (_entry_key(one.data) for one in read_records(file.unwatched) if isinstance(one, Record))
    return frozenset(entry for entry in keys if None not in entry)


def _entry_key(line: Any) -> _EntryKey:
    return first_text(line, "id"), first_text(line, "timestamp")


def _has_older(file: DropFile, begun: str | None) -> bool:
    """Whether entries are older than their session."""
    times = (first_text(one.data, "timestamp") for one in read_records(file.unwatched) if isinstance(one, Record))
    return any(chronological(time) < chronological(begun) for time in times if time is not None and begun is not None)


_LOG = SessionLog(name=NAME, is_line=_is_line, session=_session, records=_own_records)
detect, read = _LOG.detects, _LOG.read
