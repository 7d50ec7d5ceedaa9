"""Plain-text logs in which lines name the speakers; the fallback for logs that no other reader supports.

A record is a text file, or a JSON record with such a text in it. The text is kept unchanged; the reader detects who
said what and, for logs of known frameworks, which tools were called. Some records contain a JSON document as text, with
the log in one of its fields; recorded outcomes and annotations become labels.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from evaluation_assets.core.traces.formats.base import DropFile, Record, Rejection, Sample, UnusableRecord
from evaluation_assets.core.traces.formats.files.samples import own_files, text_record
from evaluation_assets.core.traces.formats.final_answers import final_message
from evaluation_assets.core.traces.formats.isolation import each_record, usable
from evaluation_assets.core.traces.formats.messages.realtime_events import event_in
from evaluation_assets.core.traces.formats.speakers import Marker, is_user, markers_in
from evaluation_assets.core.traces.formats.transcript import Asked, Said, flags_of, written
from evaluation_assets.core.traces.formats.turns import Turns
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields
from evaluation_assets.core.traces.formats.untyped import at
from evaluation_assets.core.traces.formats.usage import usage
from evaluation_assets.core.traces.trajectories.failures import failure_in
from evaluation_assets.core.traces.trajectories.identity import task_id_of
from evaluation_assets.core.traces.trajectories.model import (
    Agent,
    JsonObject,
    Span,
    Step,
    ToolCall,
    ToolResult,
    Trajectory,
    Turn,
    json_object,
)

NAME = "dialogue"
DESCRIPTION = "Plain-text logs in which lines name the speakers, in files or in records (fallback)"
DETECTION = "records with a trace_text, transcript or dialogue, or a text in which lines name at least two speakers"

_TEXT = ("trace_text", "transcript", "dialogue", "dialog", "messages_display")
_CHAT = ("conversation", "chat", "chat_history", "chat_log", "conversation_history", "history", "messages", "log")
"""Fields with a text, or a list of lines, that may have other things: lines in it have to name speakers."""
_TASK = ("task", "task_description", "question", "problem_statement", "prompt")
_ID = ("task_id", "instance_id", "trace_id", "conversation_id", "dialogue_id", "id")
_TASK_IN_TEXT = re.compile(
    r"^\*\*task_prompt\*\*: (.+?)(?=\n\n\*\*)|^\*{5,} Task [^\n]*\*{5,} *\n(.+?)(?=\nResponse from )",
    re.MULTILINE | re.DOTALL,
)
_EVALUATION = re.compile(r"\nEvaluation\n(?=\{\n)")
"""Where a framework appends its test results."""

_FINAL_ANSWER = re.compile(r"^FINAL ANSWER:[ \t]*(.+)$", re.MULTILINE)
_HEAD = 20_000
_LOG = ("trajectory", "content", "log", "messages", "history")
_EXTRA = ("mas_name", "benchmark_name", "round", "index", "run_id", "log_file", "project_name")
_LABELS = ("human_labels", "human_label_summary", "human_annotations", "annotations", "labels", "note", "other_data")
_FILLED = ("task", "task_id", "success", "reference_answer", "started_at", "cost_usd")
"""What a record within another one takes from that if it has none of its own."""
_ANSWER = ("reference_answer", "ground_truth")
_DUPLICATED = 3
"""Different messages that a log repeats in place where its logger prints everything several times. One message that an
agent repeats is what the agent did."""


def detect(sample: Sample) -> bool:
    """Whether a sample is a text or holds records in this format."""
    if any(_text_field(record) is not None and not event_in(record) for record in sample.records):
        return True
    return sample.is_plain_text and _names_speakers(sample.text)


def read(files: Sequence[DropFile], unmapped: UnmappedFields) -> Iterator[Trajectory | Rejection]:
    """Yield one trajectory or rejection per text file or record."""
    for file in own_files(files, detect, NAME):
        if isinstance(file, Rejection):
            yield file
        elif (whole := text_record(file)) is not None:
            yield usable(whole, lambda record: _of_text(record.data, unmapped))
        else:
            yield from each_record([file], lambda found: _of_record(found, unmapped))


def _of_text(text: str, unmapped: UnmappedFields) -> Trajectory:
    return _trajectory(text, _Told(), unmapped)


def _of_record(record: Record, unmapped: UnmappedFields) -> Trajectory:
    """Build the trajectory of one record.

    Raises:
        UnusableRecord: the record is not an object or has no text.
    """
    data = record.json_object()
    name = _text_field(data)
    if name is None:
        raise UnusableRecord("no_trajectory_text", f"the record has no text in any of: {', '.join(_TEXT)}")
    text = _joined(data[name]) or ""
    document = json_object(text)
    with unmapped.reading(data) as fields:
        fields.set_aside(name, "trace_char_len")
        told = _told(fields)
        if document is None:
            return _trajectory(text, told, unmapped)
        with unmapped.reading(document, f"{name}.") as inner:
            told = _told(inner).within(told)
            return _of_document(inner, told, unmapped)


def _of_document(fields: Fields, told: "_Told", unmapped: UnmappedFields) -> Trajectory:
    """The log inside a JSON document: lines of text, or messages with their speakers."""
    for name in _LOG:
        if fields.is_list(name) and (messages := _messages(fields, name)):
            return _conversation(messages, told)
        if (log := _joined(fields.value(name))) is not None:
            return _trajectory(log, told, unmapped)
    raise UnusableRecord("no_trajectory_text", f"the document has no log in any of: {', '.join(_LOG)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    """Metadata of a record beside its text: task, outcome, annotations."""

    task: str | None = None
    task_id: str | None = None
    success: bool | None = None
    disputed: bool = False
    reference_answer: str | None = None
    started_at: str | None = None
    cost_usd: float | None = None
    labels: JsonObject = field(default_factory=dict)
    extra: JsonObject = field(default_factory=dict)

    def within(self, outer: "_Told") -> "_Told":
        """Fill missing values from the enclosing record."""
        missing = {name: getattr(outer, name) for name in _FILLED if getattr(self, name) is None}
        labels, extra = {**self.labels, **outer.labels}, {**self.extra, **outer.extra}
        return replace(self, **missing, disputed=self.disputed or outer.disputed, labels=labels, extra=extra)


def _told(fields: Fields) -> _Told:
    labels = {name: value for name in _LABELS if (value := fields.value(name))}
    outcome = at(labels.get("other_data"), "correct")
    success = fields.outcome("success", "is_correct", "resolved")
    return _Told(
        task=next((task for name in _TASK if (task := _joined(fields.value(name))) is not None), None),
        task_id=fields.recorded_id(*_ID),
        success=outcome if success is None and isinstance(outcome, bool) else success,
        disputed=fields.stated.disputed_outcomes > 0,
        reference_answer=fields.text(*_ANSWER),
        started_at=fields.text("timestamp"),
        cost_usd=fields.number("cost"),
        labels=labels,
        extra={name: value for name in _EXTRA if isinstance(value := fields.value(name), str | int | float)},
    )


def _trajectory(text: str, told: _Told, unmapped: UnmappedFields) -> Trajectory:
    """Build the trajectory of a log; an outcome that its framework appended is removed from the text.

    Raises:
        UnusableRecord: the text is blank.
    """
    appended = _EVALUATION.search(text)
    evaluation = None if appended is None else json_object(text[appended.end() :])
    if appended is not None and evaluation is not None:
        text = text[: appended.start() + 1]
        outcome = evaluation.get("success")
        stated = _Told(success=outcome if isinstance(outcome, bool) else None, labels={"evaluation": evaluation})
        told = told.within(stated)
    if not text.strip():
        raise UnusableRecord("no_trajectory_text", "the text is blank")
    markers = markers_in(text)
    for name in sorted({marker.speaker for marker in markers if marker.guessed}):
        unmapped.note("guessed_speaker", name)
    if not any(marker.kind in ("message", "thought") for marker in markers):
        unmapped.note("guessed_speaker", "the text names none")
    turns = _Tree(text, markers).turns()
    return _built(text, turns, told)


def _conversation(messages: Sequence[tuple[str, str]], told: _Told) -> Trajectory:
    """Build the trajectory of a document with a list of messages."""
    events = [
        Asked(text=content) if is_user(speaker) else Said(agent_id=speaker, message=content)
        for speaker, content in messages
    ]
    text, turns = written(
        [*([Asked(text=told.task)] if told.task and not isinstance(events[0], Asked) else []), *events]
    )
    return _built(text, turns, told)


def _built(text: str, turns: tuple[Turn, ...], told: _Told) -> Trajectory:
    asked = next((turn.user_message for turn in turns if turn.user_message), None)
    in_text = _TASK_IN_TEXT.search(text[:_HEAD])
    task = told.task or asked or ("" if in_text is None else (in_text[1] or in_text[2]).strip())
    last = final_message(turns)
    named = _FINAL_ANSWER.findall(last or "")
    answer = named[-1].strip() if named else None if asked is None else last
    task_id = task_id_of(told.task_id, task, text)
    spoke = dict.fromkeys(interaction.agent_id for turn in turns for interaction in turn.interactions)
    return Trajectory(
        id=task_id,
        task_id=task_id,
        format=NAME,
        task=task,
        text=text,
        agents=tuple(Agent(id=name, name=name) for name in spoke),
        turns=turns,
        final_answer=answer,
        reference_answer=told.reference_answer,
        success=told.success,
        started_at=told.started_at,
        usage=usage(cost_usd=told.cost_usd),
        flags=flags_of(
            cut_off=False,
            unanswered=not answer and asked is not None and len(turns) == 1,
            disputed=told.disputed,
        ),
        labels=told.labels,
        extra=told.extra,
    )


class _Tree:
    """Writes turns, interactions and steps over a text; each step ends where the next begins."""

    def __init__(self, text: str, markers: Sequence[Marker]) -> None:
        self._text = text
        self._markers = markers or [Marker(0, 0, "message", "agent")]
        self._turns = Turns()
        self._turns.agent = "agent"
        self._arguments: Span | None = None

    def turns(self) -> tuple[Turn, ...]:
        """The turns of the whole text. A text without markers is one step of an unnamed agent."""
        for marker, said, end in self._once():
            self._add(marker, said, end)
        return self._turns.finished(len(self._text))

    def _once(self) -> Iterator[tuple[Marker, Span, int]]:
        """Each marker with what follows it, and the end of that. What a log repeats in place belongs to the first."""
        ends = [marker.start for marker in self._markers[1:]] + [len(self._text)]
        spans = [self._trimmed(marker.inner, end) for marker, end in zip(self._markers, ends, strict=True)]
        texts = [
            (one.kind, one.speaker, self._text[slice(*span)]) for one, span in zip(self._markers, spans, strict=True)
        ]
        again = [index > 0 and texts[index - 1] == text and text[2] != "" for index, text in enumerate(texts)]
        is_duplicated = len({text for text, is_again in zip(texts, again, strict=True) if is_again}) >= _DUPLICATED
        first = [index for index, is_again in enumerate(again) if not (is_again and is_duplicated)]
        for index, following in zip(first, [*first[1:], len(texts)], strict=True):
            yield self._markers[index], spans[index], ends[following - 1]

    def _trimmed(self, start: int, end: int) -> Span:
        while start < end and self._text[start].isspace():
            start += 1
        while end > start and self._text[end - 1].isspace():
            end -= 1
        return start, end

    def _add(self, marker: Marker, said: Span, end: int) -> None:
        start, last = said
        if marker.kind == "arguments":
            self._arguments = said
        elif marker.kind == "result":
            self._result(marker, said, end)
        elif is_user(marker.speaker) and start < last:
            self._turns.ask(self._text[start:last])
        elif marker.kind != "nobody":
            self._turns.speak(marker.speaker)
            if start == last:
                return
            thought, message = (said, None) if marker.kind == "thought" else (None, said)
            self._turns.response = self._turns.response if message is None else self._text[start:last]
            self._turns.add(Step(start=self._turns.position, end=end, thought=thought, message=message))

    def _result(self, marker: Marker, said: Span, end: int) -> None:
        call = None
        if self._arguments is not None and marker.speaker:
            call = ToolCall(name=marker.speaker, raw=self._arguments)
        self._arguments = None
        result = ToolResult(content=said, error=failure_in(self._text, said))
        self._turns.add(Step(start=self._turns.position, end=end, call=call, result=result))


def _messages(fields: Fields, name: str) -> list[tuple[str, str]]:
    """Messages with their speakers; other items are skipped."""
    if not all(isinstance(item, dict) for item in fields.items(name)):
        return []
    messages = []
    for item in fields.objects(name):
        speaker, content = item.text("name"), _joined(item.value("content", "text"))
        speaker = speaker or item.text("role", "speaker", "sender") or "agent"
        item.set_aside("role")
        if content is not None:
            messages.append((speaker, content))
    return messages


def _joined(value: Any) -> str | None:
    """A text, or lines joined into one; `None` if blank."""
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        value = "\n".join(value)
    return value if isinstance(value, str) and value.strip() else None


def _text_field(record: Any) -> str | None:
    """The key of the field with the text."""
    texts = {name: text for name in (*_TEXT, *_CHAT) if (text := _joined(at(record, name))) is not None}
    return next((name for name, text in texts.items() if name in _TEXT or _names_speakers(text)), None)


def _names_speakers(text: str) -> bool:
    return any(marker.kind in ("message", "thought") for marker in markers_in(text))
