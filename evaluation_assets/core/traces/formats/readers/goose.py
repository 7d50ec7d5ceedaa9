"""Goose sessions: JSON lines, exports of `goose session export --format json`, and `--output-format stream-json`."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from evaluation_assets.core.traces.formats.coding.session import CodingSession, Parts
from evaluation_assets.core.traces.formats.coding.session_logs import SessionLog
from evaluation_assets.core.traces.formats.images import image_text
from evaluation_assets.core.traces.formats.pieces import in_a_row
from evaluation_assets.core.traces.formats.transcript import Call, Result, as_text, one_line
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields, ignore_rest
from evaluation_assets.core.traces.formats.untyped import at, list_in, object_in, objects_in
from evaluation_assets.core.traces.formats.usage import Count, settled, usage
from evaluation_assets.core.traces.trajectories.model import Agent, JsonObject, Usage

NAME = "goose"
DESCRIPTION = "Goose sessions: JSON lines, exports, and stream-json output"
DETECTION = "messages with toolRequest or toolResponse content; a header with a working_dir and message_count; exports"

_CALLS = ("toolRequest", "frontendToolRequest")
_IN_PIECES = ("text", "thinking")
_PARTS = (*_CALLS, "toolResponse")
_SILENT = (
    "redactedThinking", "systemNotification", "actionRequired", "toolConfirmationRequest", "conversationCompacted",
    "contextLengthExceeded", "summarizationRequested",
)  # fmt: skip


class _Session:
    """Reads the header and the messages of a session."""

    def __init__(self, records: Sequence[Any], unmapped: UnmappedFields) -> None:
        self.session = CodingSession(Agent(id="goose", name="Goose"))
        self._unmapped = unmapped
        self._refused: list[tuple[str | None, str]] = []
        for record in _joined(records):
            with unmapped.reading(record) as fields:
                self._record(fields)

    def _record(self, fields: Fields) -> None:
        kind = fields.text("type")
        if "role" in fields:
            self._message(fields)
        elif kind == "message":
            self._message(fields.object("message"))
        elif kind == "error":
            self.session.error = one_line(fields.text("error")) or "error"
        elif kind is None:
            self._header(fields)
        else:
            self._unmapped.count(f"lines[] ({kind})")
            fields.rest()

    def _header(self, fields: Fields) -> None:
        self.session.id = fields.name("id")
        self.session.know(cwd=fields.text("working_dir"), title=fields.text("name", "description"))
        config = fields.object("model_config")
        self.session.agent = replace(self.session.agent, model=config.text("model_name"))
        self.session.spent = _spent(fields)
        messages = fields.objects("conversation")
        for message in messages:
            self._message(message)
        if fields.is_list("conversation"):  # the header of a log is written before its messages
            self._unmapped.stated.compare("message", fields.whole("message_count"), len(messages))
        ignore_rest(config, fields)

    def _message(self, fields: Fields) -> None:
        role, shown = fields.text("role"), fields.object("metadata")
        seen_by_user, seen_by_agent = shown.flag("userVisible"), shown.flag("agentVisible")
        shown.rest()
        fields.set_aside("id")
        self.session.at_seconds(fields.number("created"))
        told = Parts()
        for part in fields.parts("content"):
            self._part(part, told)
        if seen_by_user is False and seen_by_agent is not False and not told.calls and not told.results:
            self.session.compactions += role == "assistant"  # a summary, and the note that announces it
            self._unmapped.count("messages[] (for the model only)")
            return
        for result in told.results:
            self.session.answered(result)
        if role == "user":
            self.session.asked("\n".join(told.texts))
        else:
            self.session.spoke("\n\n".join(told.thoughts), "\n".join(told.texts), told.calls)
            for call, problem in self._refused:
                self.session.answered(Result(content=problem, call_id=call, error=one_line(problem) or "error"))
        self._refused.clear()

    def _part(self, part: str | Fields, told: Parts) -> None:
        if isinstance(part, str):
            told.texts.append(part)
            return
        kind = part.text("type") or "unknown"
        part.set_aside("annotations", "_meta", "metadata", "signature", "thoughtSignature", "thought_signature")
        if kind == "text":
            told.texts.append(part.text("text") or "")
        elif kind == "thinking":
            told.thoughts.append(part.text("thinking") or "")
        elif kind in _CALLS:
            told.calls.append(self._call(part))
        elif kind == "toolResponse":
            told.results.append(_result(part))
        elif kind == "image":
            told.texts.append(image_text(part))
            part.rest()
        elif kind in _SILENT:
            part.rest()
            self._unmapped.count(f"messages[].content[] ({kind})")
        else:
            part.ignore_unknown(kind)

    def _call(self, part: Fields) -> Call:
        """A call; one that the model wrote wrongly has an error in its place."""
        identity, outcome = part.name("id"), part.object("toolCall")
        asked = outcome.object("value") if outcome.is_object("value") else outcome
        if (problem := outcome.text("error")) is not None:
            self._refused.append((identity, problem))
        name, arguments = asked.text("name") or "unknown", asked.value("arguments")
        outcome.set_aside("status")
        return Call(name=name, id=identity, arguments=arguments)


def _spent(header: Fields) -> Usage | None:
    """What the session took in all; later versions count it in an object, with the part of its input in a cache."""
    counts = header.object("accumulated_usage")
    cached, written = counts.whole("cache_read_input_tokens"), counts.whole("cache_write_input_tokens")
    inputs = counts.whole("input_tokens") if "input_tokens" in counts else header.whole("accumulated_input_tokens")
    outputs = counts.whole("output_tokens") if "output_tokens" in counts else header.whole("accumulated_output_tokens")
    of_cache = (cached or 0) + (written or 0)
    spent = settled(
        header.stated,
        counts.whole("total_tokens"),
        Count(inputs, of_cache, of_cache > (inputs or 0)),
        Count(outputs),
    )
    return usage(*spent, header.amount("accumulated_cost"), cached, written)


def _joined(records: Sequence[Any]) -> Iterator[Any]:
    """The records, of which those in a row with the ID of one message, as a stream has its pieces, are one."""
    for pieces in in_a_row(records, _name_of):
        first = pieces[0]
        if len(pieces) == 1:
            yield first
            continue
        contents = [list_in(_message_in(record).get("content")) for record in pieces]
        message = {**_message_in(first), "content": _with_pieces(contents)}
        yield {**first, "message": message} if at(first, "type") == "message" else message


def _name_of(record: Any) -> str | None:
    name = _message_in(record).get("id")
    return name if isinstance(name, str) else None


def _message_in(record: Any) -> JsonObject:
    return object_in(at(record, "message") if at(record, "type") == "message" else record)


def _with_pieces(contents: Sequence[Sequence[Any]]) -> list[Any]:
    """One content: a piece of a text or thought belongs to the one before it."""
    parts: list[list[Any]] = []
    for content in contents:
        kind = at(content[0], "type") if len(content) == 1 else None
        if parts and kind in _IN_PIECES and at(parts[-1][-1], "type") == kind:
            parts[-1].append(content[0])
        else:
            parts += [[part] for part in content]
    return [_whole(pieces) if len(pieces) > 1 else pieces[0] for pieces in parts]


def _whole(pieces: Sequence[JsonObject]) -> JsonObject:
    kind = pieces[0]["type"]
    return {**pieces[0], **pieces[-1], kind: "".join(as_text(piece.get(kind)) for piece in pieces)}


def _result(part: Fields) -> Result:
    """A result: an error of the protocol, or MCP content, which older versions kept without its flag."""
    identity, outcome = part.name("id"), part.object("toolResult")
    outcome.set_aside("status")
    if (problem := outcome.text("error")) is not None:
        return Result(content=problem, call_id=identity, error=one_line(problem) or "error")
    value = outcome.object("value") if outcome.is_object("value") else outcome
    contents = value.parts("content", "value")
    content = "\n".join(one if isinstance(one, str) else _text_of(one) for one in contents)
    failed = value.flag("isError") is True
    structured = value.object("structuredContent")
    exit_code = structured.whole("exit_code")
    structured.rest()
    value.set_aside("_meta")
    error = (one_line(content) or "error") if failed else None
    return Result(content=content, call_id=identity, error=error, exit_code=exit_code)


def _text_of(part: Fields) -> str:
    kind, text = part.text("type"), part.text("text")
    rest = part.rest()
    if text is not None:
        return text
    return image_text(part) if kind == "image" else f"[{kind}]" if kind == "audio" else as_text(rest)


def _is_header(record: Any) -> bool:
    if not isinstance(record, dict) or "working_dir" not in record:
        return False
    return isinstance(record.get("message_count"), int) or isinstance(record.get("conversation"), list)


def has_tools(record: Any) -> bool:
    """Whether a record is a message of Goose with a call or a result."""
    message = at(record, "message") if at(record, "type") == "message" else record
    return at(message, "role") in ("user", "assistant") and any(
        part.get("type") in _PARTS for part in objects_in(at(message, "content"))
    )


_LOG = SessionLog(
    name=NAME,
    is_line=lambda record: _is_header(record) or has_tools(record),
    session=lambda lines, unmapped: _Session(lines, unmapped).session,
    is_session=lambda record: isinstance(at(record, "conversation"), list),
)
detect, read = _LOG.detects, _LOG.read
