"""opencode sessions, as `opencode export` writes them and as `opencode run --format json` prints them.

A sub-agent has a session of its own, which joins that of its caller if it is in the same drop.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import orjson

from evaluation_assets.core.traces.formats.base import DropFile, Rejection
from evaluation_assets.core.traces.formats.coding.linked_sessions import Link, LinkedFormat
from evaluation_assets.core.traces.formats.coding.session import SUB_AGENT, CodingSession, Parts
from evaluation_assets.core.traces.formats.coding.session_logs import units_in
from evaluation_assets.core.traces.formats.coding.session_spool import Unit
from evaluation_assets.core.traces.formats.files.records import read_records
from evaluation_assets.core.traces.formats.transcript import Call, Result, as_text, one_line
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields, ignore_rest
from evaluation_assets.core.traces.formats.untyped import at, first_text, list_in, objects_in
from evaluation_assets.core.traces.formats.usage import usage
from evaluation_assets.core.traces.trajectories.identity import digest
from evaluation_assets.core.traces.trajectories.model import Agent, JsonObject, Usage

NAME = "opencode"
DESCRIPTION = "opencode sessions: exports with their sub-agents, and events of `opencode run --format json`"
DETECTION = "a record with info and messages that have an info and parts; or events with a sessionID and a part"

MAIN = "opencode"
"""Id of the agent that talks to the user."""

_EVENTS = ("step_start", "step_finish", "text", "tool_use", "reasoning")
_PART = ("id", "sessionID", "messageID", "time", "metadata", "synthetic", "ignored", "snapshot")
_FORK_TITLE = re.compile(r".* \(fork #\d+\)", re.DOTALL)
_SILENT = ("step-start", "snapshot", "patch", "retry", "agent", "subtask")


def _units_of(file: DropFile) -> Iterator[Unit | Rejection]:
    """Each export; the consecutive events of a session."""
    return units_in(read_records(file), _why_not, _begins, _is_export)


def _why_not(data: Any) -> str | None:
    return "an export or an event with a sessionID" if first_text(data, "sessionID") is None else None


def _begins(unit: Unit, data: Any) -> bool:
    return first_text(unit[0].data, "sessionID") != first_text(data, "sessionID")


def _link_of(records: Sequence[Any]) -> Link:
    info = at(records[0], "info")
    holders = (*records, *objects_in(at(records[0], "messages")))
    parts = [part for holder in holders for part in (*objects_in(at(holder, "parts")), at(holder, "part"))]
    started: dict[str, str] = {}
    for part in parts:
        child, call = first_text(at(at(part, "state"), "metadata"), "sessionId"), first_text(part, "callID")
        if child is not None and call is not None:
            started.setdefault(child, call)
    history = _history_of(records)
    forked = _is_fork(records)
    return Link(
        id=first_text(info, "id") or first_text(records[0], "sessionID"),
        parent=first_text(info, "parentID"),
        started=started,
        forked_from=history if forked else None,
        history=None if forked else history,
    )


def _session_of(unmapped: UnmappedFields, records: Sequence[Any], copies: int) -> CodingSession:
    reading = _Reading(unmapped)
    if _is_export(records[0]):
        with unmapped.reading(records[0]) as fields:
            reading.export(fields, copies)
    else:
        for record in records:
            with unmapped.reading(record) as fields:
                reading.event(fields)
    reading.finish()
    return reading.session


class _Reading:
    """Reads the messages or events of a session."""

    def __init__(self, unmapped: UnmappedFields) -> None:
        self.session = CodingSession(Agent(id=MAIN, name="opencode"))
        self._unmapped = unmapped
        self._reply = Parts()

    def export(self, fields: Fields, copies: int) -> None:
        """Read an exported session but for its first messages, which were _copied."""
        info = fields.object("info")
        self.session.id = info.name("id")
        parent = info.name("parentID")
        self.session.know(cwd=info.text("directory"), title=info.text("title"), parent_id=parent)
        name = info.text("agent")
        if parent is not None:
            self.session.agent = Agent(id=name or SUB_AGENT, role=SUB_AGENT)
        self.session.agent = replace(self.session.agent, version=info.name("version"))
        undone = info.object("revert")
        messages = [(message.object("info"), message.objects("parts")) for message in fields.objects("messages")]
        for about, parts in messages[:copies]:
            ignore_rest(about, *parts)
        messages = messages[copies:]
        if (first := undone.name("messageID")) is not None:
            messages = self._without_undone(messages, first, undone.name("partID"))
        ignore_rest(undone, info)
        for about, parts in messages:
            self._message(about, parts)

    def _without_undone(
        self, messages: list[tuple[Fields, list[Fields]]], first: str, part: str | None
    ) -> list[tuple[Fields, list[Fields]]]:
        """What is before the first message that the user undid, or the first part of it; the rest was paid for."""
        names = [info.name("id") for info, _ in messages]
        if first not in names:
            return messages
        kept, undone = messages[: names.index(first)], messages[names.index(first) :]
        if part is not None:
            (info, parts), *undone = undone
            ids = [each.name("id") for each in parts]
            cut = ids.index(part) if part in ids else len(parts)
            kept.append((info, [*parts[:cut], *(each for each in parts[cut:] if each.text("type") == "step-finish")]))
            self._undo([each for each in parts[cut:] if each.text("type") != "step-finish"])
        for info, parts in undone:
            self.session.used(_usage(info.object("tokens"), info.amount("cost")) if "tokens" in info else None)
            self._undo(parts)
            ignore_rest(info.object("tokens"), info)
        self._unmapped.note("rewound", "branch")
        return kept

    def _undo(self, parts: list[Fields]) -> None:
        self._unmapped.note("rewound", "call", sum(part.text("type") == "tool" for part in parts))
        ignore_rest(*parts)

    def event(self, fields: Fields) -> None:
        """Read a printed event. The stream has no prompts."""
        kind = fields.text("type")
        self.session.at_milliseconds(fields.number("timestamp"))
        self.session.id = fields.name("sessionID")
        if kind == "error":
            self._flush(None)
            self._failed(fields)
        elif kind in _EVENTS:
            self._part(fields.object("part"))
        else:
            fields.ignore_unknown(kind)

    def finish(self) -> None:
        """Add the reply that is complete."""
        self._flush(None)

    def _message(self, info: Fields, parts: list[Fields]) -> None:
        role, time = info.text("role"), info.object("time")
        self.session.at_milliseconds(time.number("created"))
        self.session.at_milliseconds(time.number("completed"))
        time.rest()
        if role == "assistant":
            self.session.ran_on(info.text("modelID"))
            self.session.compactions += info.flag("summary") is True
            used = _usage(info.object("tokens"), info.amount("cost"))
            for part in parts:
                self._part(part)
            self._flush(used)
            if info.is_object("error"):
                self._failed(info)
            info.rest()
            return
        info.rest()
        texts = []
        for part in parts:
            kind, text = part.text("type"), part.text("text")
            added = part.flag("synthetic") or part.flag("ignored")
            part.set_aside(*_PART)
            if kind == "text" and text is not None and not added:
                texts.append(text)
            elif kind != "text" or added:
                part.rest()
                self._unmapped.count(f"messages[].parts[] ({'added by the client' if added else kind})")
        self.session.asked("\n".join(texts))

    def _part(self, part: Fields) -> None:
        kind = part.text("type") or "unknown"
        part.set_aside(*_PART)
        if kind in ("text", "reasoning"):
            if self._reply.calls:  # a server that has no steps writes what follows the tools into the same message
                self._flush(None)
            text = part.text("text")
            (self._reply.texts if kind == "text" else self._reply.thoughts).extend([] if text is None else [text])
        elif kind == "tool":
            self._tool(part)
        elif kind == "step-finish":
            part.set_aside("reason")
            used = _usage(part.object("tokens"), part.amount("cost"))
            if not self._flush(used):
                self.session.used(used)
        elif kind == "compaction":
            self.session.compactions += 1
            part.rest()
        elif kind in _SILENT or kind == "file":
            part.rest()
            if kind not in ("step-start", "snapshot"):
                self._unmapped.count(f"messages[].parts[] ({kind})")
        else:
            part.ignore_unknown(kind)

    def _tool(self, part: Fields) -> None:
        identity, state = part.name("callID"), part.object("state")
        self._reply.calls.append(Call(name=part.text("tool") or "tool", id=identity, arguments=state.value("input")))
        status, about, time = state.text("status"), state.object("metadata"), state.object("time")
        begun, ended = time.number("start"), time.number("end")
        output, problem, code = state.value("output"), state.text("error"), about.whole("exit")
        ignore_rest(about, time, state)
        if status not in ("completed", "error"):
            return
        error = one_line(problem) or "error" if status == "error" else f"exit code {code}" if code else None
        latency = None if begun is None or ended is None or ended < begun else ended - begun
        self._reply.results.append(
            Result(
                content=as_text(problem if output is None else output),
                call_id=identity,
                error=error,
                latency_ms=latency,
                succeeded=error is None,
                exit_code=code,
            )
        )

    def _flush(self, used: Usage | None) -> bool:
        """Add the reply that is complete, with its usage; whether there is one."""
        reply, self._reply = self._reply, Parts()
        is_said = self.session.spoke("\n\n".join(reply.thoughts), "\n\n".join(reply.texts), reply.calls, used)
        for result in reply.results:
            self.session.answered(result)
        return is_said

    def _failed(self, fields: Fields) -> None:
        """Note an error of the session; a request that the user aborted is an interruption."""
        problem = fields.object("error")
        name, data = problem.text("name") or "error", problem.object("data")
        message = as_text(data.value("message"))
        ignore_rest(data, problem)
        if name == "MessageAbortedError":
            self.session.interruptions += 1
        else:
            self.session.error = one_line(message) or name


def _usage(tokens: Fields, cost: float | None) -> Usage | None:
    """Token counts of a request; the input is counted without what the cache had, the output without reasoning."""
    cache = tokens.object("cache")
    read, written = cache.whole("read") or 0, cache.whole("write") or 0
    inputs, outputs, reasoning = tokens.whole("input"), tokens.whole("output"), tokens.whole("reasoning") or 0
    tokens.set_aside("total")
    return usage(
        None if inputs is None else inputs + read + written,
        None if outputs is None else outputs + reasoning,
        cost,
        read,
        written,
    )


def _is_export(record: Any) -> bool:
    first = next(iter(list_in(at(record, "messages"))), None)
    return (
        isinstance(at(record, "info"), dict)
        and isinstance(at(first, "info"), dict)
        and isinstance(at(first, "parts"), list)
    )


def _is_event(record: Any) -> bool:
    return (
        isinstance(at(record, "part"), dict)
        and first_text(record, "sessionID") is not None
        and at(record, "type") in _EVENTS
    )


def _is_fork(records: Sequence[Any]) -> bool:
    """Whether an export says that its session was forked.

    A fork begins with copies of messages, which have IDs of their own, but the times and the parts of the others. Only
    its title tells that it is one, and nothing where it comes from: that is the session with the same first message.
    """
    return _FORK_TITLE.fullmatch(first_text(at(records[0], "info"), "title") or "") is not None


def _history_of(records: Sequence[Any]) -> str | None:
    """A name for the history that the messages of an export begin with."""
    return next((_digest(message) for message in _messages(records)), None)


def _digests_of(records: Sequence[Any]) -> frozenset[str]:
    """Digests of the messages of an export."""
    return frozenset(map(_digest, _messages(records)))


def _copied(records: Sequence[Any], origin: frozenset[str]) -> int:
    """How many of the first messages were copied, by the digests of the session that they come from."""
    messages = _messages(records)
    return next((place for place, one in enumerate(messages) if _digest(one) not in origin), len(messages))


def _messages(records: Sequence[Any]) -> list[JsonObject]:
    return list(objects_in(at(records[0], "messages")))


def _digest(message: JsonObject) -> str:
    info = at(message, "info")
    parts = [[at(part, name) for name in ("type", "callID", "text")] for part in objects_in(message.get("parts"))]
    return digest(orjson.dumps([at(info, "role"), at(at(info, "time"), "created"), parts]).decode())


_FORMAT = LinkedFormat(
    name=NAME,
    is_own=lambda record: _is_export(record) or _is_event(record),
    units_of=_units_of,
    link_of=_link_of,
    session_of=_session_of,
    digests_of=_digests_of,
    copied=_copied,
)
detect, read = _FORMAT.detects, _FORMAT.read
