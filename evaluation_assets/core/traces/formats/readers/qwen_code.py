"""Qwen Code sessions (.jsonl), as the CLI stores them and as `--output-format stream-json` prints them.

The work of a sub-agent stands in the session only as telemetry: which tools it called and whether they failed, without
their results. What is printed has the shape of Claude Code, whose reader reads it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import orjson

from evaluation_assets.core.traces.formats.base import (
    DropFile,
    Rejection,
    Sample,
    UnreadableDrop,
)
from evaluation_assets.core.traces.formats.branches import path_to
from evaluation_assets.core.traces.formats.coding.gemini_parts import parts_of, usage_in
from evaluation_assets.core.traces.formats.coding.linked_sessions import Link, LinkedFormat
from evaluation_assets.core.traces.formats.coding.session import SUB_AGENT, CodingSession, Parts
from evaluation_assets.core.traces.formats.coding.session_logs import units_in
from evaluation_assets.core.traces.formats.coding.session_spool import Unit
from evaluation_assets.core.traces.formats.files.records import read_records
from evaluation_assets.core.traces.formats.files.samples import sample_of
from evaluation_assets.core.traces.formats.readers import claude_code
from evaluation_assets.core.traces.formats.transcript import Call, Result, Said, one_line
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields, ignore_rest
from evaluation_assets.core.traces.formats.untyped import at, first_text, objects_in
from evaluation_assets.core.traces.trajectories.model import Agent, JsonObject, Trajectory

NAME = "qwen_code"
DESCRIPTION = "Qwen Code sessions (.jsonl), and stream-json output"
DETECTION = "lines with a sessionId and a type, whose message has a role and parts; or a line with a qwen_code_version"

MAIN = "qwen-code"
"""Id of the agent that talks to the user."""

_TOKENS = (
    "promptTokenCount",
    "candidatesTokenCount",
    "thoughtsTokenCount",
    "cachedContentTokenCount",
    "totalTokenCount",
)
_COUNTED = (
    "input_token_count",
    "output_token_count",
    "thoughts_token_count",
    "cached_content_token_count",
    "total_token_count",
)
_OF_HOOKS = ("<qwen:user-prompt-submit-context>", "<qwen:session-start-context>")
"""Begin a part of a prompt that a hook has added."""

_LINE = ("uuid", "parentUuid", "provenance", "promptId", "systemPayload", "displayText")


def _units_of(file: DropFile) -> Iterator[Unit | Rejection]:
    return units_in(read_records(file), _why_not, _begins)


def _why_not(data: Any) -> str | None:
    is_line = isinstance(data, dict) and (first_text(data, "sessionId") is not None or data.get("type"))
    return None if is_line else "an object with a type or a sessionId"


def _begins(unit: Unit, data: Any) -> bool:
    """Whether a line names another session than the last line before it that names one."""
    following = first_text(data, "sessionId")
    known = next(filter(None, (first_text(record.data, "sessionId") for record in reversed(unit))), None)
    return following is not None and known is not None and following != known


def _link_of(lines: Sequence[Any]) -> Link:
    return Link(id=next((session for line in lines if (session := first_text(line, "sessionId"))), None))


def _session_of(unmapped: UnmappedFields, lines: Sequence[Any], _: int) -> CodingSession:
    return _Session(lines, unmapped).session


class _Session:
    """Reads the lines of a session. A line that is repeated, as in a resumed session, counts once."""

    def __init__(self, lines: Sequence[Any], unmapped: UnmappedFields) -> None:
        self.session = CodingSession(Agent(id=MAIN, name="Qwen Code"))
        self._unmapped = unmapped
        self._children: dict[str, CodingSession] = {}
        self._waiting: list[str] = []
        told = list(_unrepeated(lines))
        current = _branch(told)
        for line in told:
            if id(line) not in current:
                self._left(line)
                continue
            with unmapped.reading(line) as fields:
                self._line(fields)

    def _left(self, line: JsonObject) -> None:
        """A line that the user took back. Its request was paid for."""
        self._unmapped.note("rewound", "branch", at(line, "type") == "user" and at(line, "subtype") is None)
        parts = objects_in(at(line.get("message"), "parts"))
        self._unmapped.note("rewound", "call", sum("functionCall" in part for part in parts))
        with self._unmapped.peeking(line) as fields:
            self.session.used(usage_in(fields.object("usageMetadata"), _TOKENS))

    def _line(self, fields: Fields) -> None:
        kind, subtype, time = fields.text("type"), fields.text("subtype"), fields.text("timestamp")
        self.session.id = fields.name("sessionId") or self.session.id
        if kind != "system":
            self.session.at(time)
        if (folder := fields.text("cwd")) is not None:
            self.session.about.setdefault("cwd", folder)
        self.session.know(git_branch=fields.text("gitBranch"))
        self.session.ran_on(fields.text("model"))
        version = fields.name("version")
        self.session.agent = replace(self.session.agent, version=self.session.agent.version or version)
        message = fields.object("message")
        message.set_aside("role")
        if kind == "system":
            self._system(subtype or "unknown", fields.object("systemPayload"))
        elif kind in ("user", "assistant", "tool_result"):
            self._message(kind, subtype, parts_of(message.parts("parts")), fields)
        else:
            ignore_rest(message, fields)
            self._unmapped.count(f"lines[] ({kind or 'unknown'})")
        fields.set_aside(*_LINE)

    def _message(self, kind: str, subtype: str | None, parts: Parts, fields: Fields) -> None:
        if kind == "assistant":
            usage = usage_in(fields.object("usageMetadata"), _TOKENS)
            fields.set_aside("contextWindowSize")
            thought, text = "\n\n".join(parts.thoughts) or None, "\n".join(parts.texts) or None
            self.session.said(Said(thought=thought, message=text, calls=tuple(parts.calls), usage=usage))
            self._waiting = [call.id for call in parts.calls if call.id is not None and call.name in ("agent", "task")]
            return
        outcome = fields.object("toolCallResult")
        status, kind_of_error = outcome.text("status"), outcome.text("errorType")
        outcome.rest()
        for result in parts.results:
            error = result.error
            if status in ("error", "cancelled"):
                error = "cancelled" if status == "cancelled" else error or kind_of_error or "error"
            self.session.interruptions += status == "cancelled"
            passed = result.succeeded or (status == "success" and error is None)
            self.session.answered(
                Result(content=result.content, call_id=result.call_id, error=one_line(error), succeeded=passed)
            )
        if kind == "user" and (subtype is None or subtype == "mid_turn_user_message"):
            self.session.asked("\n".join(text for text in parts.texts if not text.startswith(_OF_HOOKS)))
        elif parts.texts and not parts.results:
            self._unmapped.count(f"lines[] ({kind} {subtype})")

    def _system(self, subtype: str, payload: Fields) -> None:
        event = payload.object("uiEvent")
        agent = _sub_agent_of(event.text("prompt_id"), event.text("subagent_name"))
        event.set_aside("event.timestamp")
        if subtype == "chat_compression":
            self.session.compactions += 1
        elif subtype == "ui_telemetry" and agent is not None:
            self._delegated(agent, event)
        elif subtype != "ui_telemetry":
            self._unmapped.count(f"lines[] (system {subtype})")
        ignore_rest(event, payload)

    def _delegated(self, agent: str, event: Fields) -> None:
        """What a sub-agent did, as far as telemetry tells."""
        kind = event.text("event.name") or ""
        if agent not in self._children:
            name = agent.rpartition("-")[0] or SUB_AGENT
            child = CodingSession(Agent(id=name, role=SUB_AGENT, model=event.text("model")))
            self._children[agent] = child
            self.session.join(child, self._waiting.pop(0) if self._waiting else None)
        child = self._children[agent]
        if kind.endswith(".tool_call"):
            name, identity = event.text("function_name") or "tool", f"{agent}:{len(child.events)}"
            child.spoke(calls=[Call(name=name, id=identity, arguments=event.value("function_args"))])
            if event.flag("success") is False:
                problem = event.text("error") or "error"
                child.answered(Result(content=problem, call_id=identity, error=one_line(problem)))
        elif kind.endswith(".api_response"):
            child.spoke(message=event.text("response_text"))
            child.used(usage_in(event, _COUNTED))


def _unrepeated(lines: Sequence[JsonObject]) -> Iterator[JsonObject]:
    """The lines without those that stand twice. Lines with the same UUID may be parts of one message."""
    seen: set[bytes] = set()
    for line in lines:
        written = orjson.dumps(line)
        if "uuid" not in line or written not in seen:
            yield line
        seen.add(written)


def _branch(lines: Sequence[JsonObject]) -> set[int]:
    """The lines that are still shown, by identity: if the user rewound, those on the way to the last one."""
    if not any(line.get("subtype") == "rewind" for line in lines):
        return {id(line) for line in lines}
    named: dict[str, list[JsonObject]] = {}
    for line in lines:
        named.setdefault(first_text(line, "uuid") or "", []).append(line)
    unnamed = named.pop("", [])
    parents = {name: first_text(same[0], "parentUuid") for name, same in named.items()}
    path = path_to(first_text(lines[-1], "uuid"), parents)
    return {id(line) for same in (unnamed, *map(named.__getitem__, path)) for line in same}


def _sub_agent_of(prompt_id: str | None, name: str | None) -> str | None:
    """The sub-agent of a telemetry event: prompts of sub-agents are numbered as `session#agent#number`."""
    parts = (prompt_id or "").split("#")
    if len(parts) == 3:
        return parts[1]
    return None if name is None else f"{name}-1"


def _is_line(record: Any) -> bool:
    message = at(record, "message")
    return (
        first_text(record, "sessionId") is not None
        and at(record, "type") in ("user", "assistant", "tool_result")
        and isinstance(at(message, "parts"), list)
        and isinstance(at(message, "role"), str)
    )


_FORMAT = LinkedFormat(
    name=NAME,
    is_own=_is_line,
    units_of=_units_of,
    link_of=_link_of,
    session_of=_session_of,
)


def detect(sample: Sample) -> bool:
    """Whether a sample of records is in this format."""
    return _FORMAT.detects(sample) or _is_printed(sample)


def read(files: Sequence[DropFile], unmapped: UnmappedFields) -> Iterator[Trajectory | Rejection]:
    """Yield one trajectory per session, of those that are stored and then of those that were printed."""
    printed = [file for file in files if _is(file, _is_printed)]
    stored = [file for file in files if _is(file, _FORMAT.detects)] if printed else files
    yield from _FORMAT.read(stored, unmapped)
    yield from claude_code.read([file for file in files if file not in stored], unmapped)


def _is(file: DropFile, detects: Callable[[Sample], bool]) -> bool:
    try:
        return detects(sample_of(file))
    except UnreadableDrop:
        return False


def _is_printed(sample: Sample) -> bool:
    return sample.has("qwen_code_version")
