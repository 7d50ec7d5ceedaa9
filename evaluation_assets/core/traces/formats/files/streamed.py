"""Answers of models that were streamed, as the answer that their events are pieces of.

Pieces are events of OpenAI's Chat Completions and Responses, of Anthropic's Messages, of Bedrock's ConverseStream, of
Cohere, of Ollama and of the Vercel AI SDK: as lines, as items of a list, or as server-sent events (`data: {...}`), also
in a record that has a request beside them. Each answer has the form of one that was not streamed.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from evaluation_assets.core.traces.formats.base import Record, Rejection
from evaluation_assets.core.traces.formats.files.json_values import as_line, loaded
from evaluation_assets.core.traces.formats.files.stream_pieces import (
    anthropic_message,
    cohere_answer,
    completions,
    converse_answer,
    ollama_answer,
    response,
    ui_message,
)
from evaluation_assets.core.traces.formats.untyped import at, object_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

T = TypeVar("T")

_FRAMED = re.compile(rb"\s*(?:(?:event|id|retry)?: ?[^\n]*\n\s*)*data: ?[\[{]")
"""The beginning of server-sent events with JSON."""
_FIELD = re.compile(rb"\s*(?:event|id|retry)?:")
_DATA, _END = b"data:", b"[DONE]"
_DEEPEST = 3
_PICKLED = {"__type__", "__data__"}
"""Fields around an object in recordings of Llama Stack."""
_ANTHROPIC = frozenset(
    ("message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta",
     "message_stop", "ping")
)  # fmt: skip
_COHERE = frozenset(
    ("message-start", "content-start", "content-delta", "content-end", "tool-plan-delta", "tool-call-start",
     "tool-call-delta", "tool-call-end", "citation-start", "citation-end", "message-end")
)  # fmt: skip
_UI = re.compile(
    "start|start-step|finish|finish-step|abort|error|message-metadata|source-url|source-document|file|data-.*"
    "|(?:text|reasoning)-(?:start|delta|end)|tool-input-(?:start|delta|available|error)|tool-output-(?:available|error|denied)|tool-approval-request"
)
_CONVERSE = ("messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop")


@dataclass(frozen=True, slots=True)
class _Stream:
    """How the events of an API are known, which one begins an answer after another, and the answers that they are."""

    holds: Callable[[JsonObject], bool]
    begins: Callable[[JsonObject, JsonObject], bool]
    joined: Callable[[Sequence[JsonObject]], Sequence[JsonObject | None]]


def _one(join: Callable[[Sequence[JsonObject]], JsonObject | None]) -> Callable[[Sequence[JsonObject]], list[Any]]:
    return lambda pieces: [join(pieces)]


def _is_completion(event: JsonObject) -> bool:
    """Whether an event is a chunk of a chat completion, or what Azure says of its filters around one."""
    kind, choices = event.get("object"), event.get("choices")
    is_of_filters = kind == "" and isinstance(choices, list) and not any(at(each, "message") for each in choices)
    return kind == "chat.completion.chunk" or is_of_filters


def _is_ollama(event: JsonObject) -> bool:
    said = isinstance(event.get("message"), dict) or isinstance(event.get("response"), str)
    return said and isinstance(event.get("done"), bool) and {"model", "created_at"} <= event.keys()


def _is_response(event: JsonObject) -> bool:
    return str(event.get("type")).startswith("response.") and "event_id" not in event


def _is_converse(event: JsonObject) -> bool:
    is_used = event.keys() == {"metadata"} and "usage" in object_in(event["metadata"])
    return is_used or (len(event) == 1 and any(isinstance(event.get(name), dict) for name in _CONVERSE))


def _is_ui(event: JsonObject) -> bool:
    return isinstance(kind := event.get("type"), str) and _UI.fullmatch(kind) is not None


def _is_any(kinds: frozenset[str]) -> Callable[[JsonObject], bool]:
    return lambda event: isinstance(kind := event.get("type"), str) and kind in kinds


_STREAMS = (
    _Stream(_is_completion, lambda _, __: False, completions),
    _Stream(_is_response, lambda _, new: new.get("type") == "response.created", _one(response)),
    _Stream(_is_any(_ANTHROPIC), lambda _, new: new["type"] == "message_start", _one(anthropic_message)),
    _Stream(_is_any(_COHERE), lambda _, new: new["type"] == "message-start", _one(cohere_answer)),
    _Stream(_is_ui, lambda last, new: new["type"] == "start" or last["type"] == "finish", _one(ui_message)),
    _Stream(_is_ollama, lambda last, _: last["done"] is True, _one(ollama_answer)),
    _Stream(_is_converse, lambda _, new: "messageStart" in new, _one(converse_answer)),
)


def _stream_of(data: Any) -> _Stream | None:
    return next((each for each in _STREAMS if each.holds(data)), None) if isinstance(data, dict) else None


def is_framed(beginning: bytes) -> bool:
    """Whether a text is server-sent events with JSON."""
    return _FRAMED.match(beginning) is not None


def unframed(line: bytes) -> bytes:
    """The data of a line of server-sent events; empty where it has none."""
    data = line.strip()
    if data.startswith(_DATA):
        data = data[len(_DATA) :].strip()
        return b"" if data == _END else data
    return b"" if _FIELD.match(data) else line


def whole_answers(values: Iterable[Any]) -> list[Any]:
    """The values, in which events that are pieces of an answer are that answer."""
    return [each for pieces in _in_groups(values, lambda value: value) for each in _joined(pieces) or pieces]


def whole_records(records: Iterable[Record | Rejection]) -> Iterator[Record | Rejection]:
    """The records, in which events that are pieces of an answer are one record, and answers in a record are whole."""
    for group in _in_groups(records, lambda each: each.data if isinstance(each, Record) else None):
        first = group[0]
        whole = _joined([each.data for each in group if isinstance(each, Record)])
        if isinstance(first, Record) and whole:
            yield from (Record(first.source, first.line, each, as_line(each)) for each in whole)
            continue
        for each in group:
            yield each if isinstance(each, Rejection) else _with_answers_in(each)


def _in_groups(items: Iterable[T], data_of: Callable[[T], Any]) -> Iterator[list[T]]:
    """The items, with those together that are pieces of one answer."""
    group: list[T] = []
    current: _Stream | None = None
    for item in items:
        data = data_of(item)
        stream = _stream_of(data)
        if group and (stream is None or stream is not current or stream.begins(data_of(group[-1]), data)):
            yield group
            group = []
        current = stream
        if stream is None:
            yield [item]  # without a look at the next record, which may be too large
        else:
            group.append(item)
    if group:
        yield group


def _joined(pieces: Sequence[Any]) -> list[JsonObject]:
    """The answers that pieces are; nothing if they are none."""
    stream = _stream_of(pieces[0]) if pieces else None
    return [] if stream is None else [whole for whole in stream.joined(pieces) if whole is not None]


def _with_answers_in(record: Record) -> Record:
    data = within(record.data)
    return record if data is record.data else Record(record.source, record.line, data, as_line(data))


def within(data: Any, depth: int = _DEEPEST) -> Any:
    """A record with whole answers where it has their pieces in a list or a text; the same object if it has none."""
    if not isinstance(data, dict) or not depth:
        return data
    if data.keys() == _PICKLED:
        return within(data["__data__"], depth)
    changed = {key: whole for key, value in data.items() if (whole := _answer_in(value, depth)) is not value}
    return {**data, **changed} if changed else data


def _answer_in(value: Any, depth: int) -> Any:
    if isinstance(value, dict):
        return within(value, depth - 1)
    if isinstance(value, str) and value[:8].lstrip().startswith(("data:", "event:", "id:", ":")):
        pieces: list[Any] = list(_values_in(value)) if is_framed(value.encode("utf-8", "replace")) else []
    else:
        first = within(value[0], 1) if isinstance(value, list) and value else None
        pieces = [within(each, 1) for each in value] if isinstance(value, list) and _stream_of(first) else []
    if not pieces or _stream_of(pieces[0]) is None or any(_stream_of(each) is None for each in pieces):
        return value
    answers = whole_answers(pieces)
    return value if answers == pieces else answers[0] if len(answers) == 1 else answers


def _values_in(text: str) -> Iterator[Any]:
    for line in text.encode("utf-8", "replace").split(b"\n"):
        if data := unframed(line).strip():
            try:
                yield loaded(data)
            except ValueError:
                yield None
