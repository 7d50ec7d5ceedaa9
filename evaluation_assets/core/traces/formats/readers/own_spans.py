"""Spans that programs of one's own write: with a parent, or inside each other, and a kind, an input and an output.

    {"id": "2", "parent_id": "1", "type": "tool", "name": "look_up", "input": {"order": 17}, "output": "paid"}
    {"type": "agent", "name": "clerk", "children": [{"type": "llm", "input": "...", "output": "..."}]}

Spans without a trace are one with the others of their record, or of their file if each is a record of its own. Of the
prompts that are texts, only the first below each span is read: the others repeat what was said.
"""

import re
from collections.abc import Iterator
from itertools import count
from typing import Any

from evaluation_assets.core.traces.formats.context import context_of
from evaluation_assets.core.traces.formats.run_usage import usage_of_answer
from evaluation_assets.core.traces.formats.spans.flat_spans import time_in
from evaluation_assets.core.traces.formats.spans.store_export import StoredSpan, StoreExport
from evaluation_assets.core.traces.formats.spans.stored import attributes_of_usage
from evaluation_assets.core.traces.formats.unmapped_fields import Fields
from evaluation_assets.core.traces.formats.untyped import first_text, object_in, objects_in, parsed
from evaluation_assets.core.traces.trajectories.identity import recorded_id
from evaluation_assets.core.traces.trajectories.model import JsonObject

_KINDS = {
    **dict.fromkeys("llm model generation chat completion llm_call model_call chat_model llm_request".split(), "LLM"),
    **dict.fromkeys("tool tool_call tool_use tool_execution function function_call mcp".split(), "TOOL"),
    **dict.fromkeys("agent agent_run invoke_agent sub_agent subagent".split(), "AGENT"),
    **dict.fromkeys("retriever retrieval".split(), "RETRIEVER"),
    **dict.fromkeys("guardrail guard evaluator evaluation grader scorer".split(), "EVALUATOR"),
    **dict.fromkeys("chain workflow span run trace turn root task step session".split(), "CHAIN"),
}
_WORK = ("LLM", "TOOL", "RETRIEVER")
_KIND_NAMES = (
    "kind",
    "type",
    "span_type",
    "span_kind",
    "run_type",
    "spanType",
    "spanKind",
    "node_type",
    "category",
    "event_type",
)
_IDS = ("id", "span_id", "spanId", "uuid", "node_id", "event_id")
_PARENTS = ("parent_id", "parent_span_id", "parentId", "parentSpanId", "parent_run_id", "parent_uuid", "parent")
_TRACES = ("trace_id", "traceId", "session_id", "sessionId", "run_id", "runId", "conversation_id", "thread_id")
_CHILDREN = ("children", "child_spans", "childSpans", "sub_spans", "subspans", "child_runs", "nested")
_INSIDE = "spans"
"""Children of a span that has a kind, and else the list of the spans of a record."""
_LISTS = (_INSIDE, "trace", "traces", "nodes", "events", "steps", *_CHILDREN)
_ROOTS = ("root", "root_span", "rootSpan", "trace", "tree")
_GIVEN = ("input", "inputs", "arguments", "args", "parameters", "prompt", "messages", "request")
_SAID = ("output", "outputs", "result", "response", "completion", "observation")
_ERRORS = ("error", "error_message", "exception")
_MODELS = ("model", "model_name", "modelName", "model_id")
_STARTS = ("start_time", "startTime", "started_at", "startedAt", "start", "timestamp")
_ENDS = ("end_time", "endTime", "ended_at", "endedAt", "end")
_WRAPPERS = ("payload", "data", "span")
_NAMED = re.compile(r"([a-z_]+)[.:/] ?(.+)", re.IGNORECASE | re.DOTALL)
"""A name that begins with the kind: `tool.look_up`."""
_ID, _PARENT, _RECORD = "id of an own span", "parent of an own span", "record"
_DEEPEST = 100


def _spans(data: Any) -> list[JsonObject]:
    """The spans of a record, if a model or a tool has worked in one: a tree of them, a list, or one alone."""
    record = _unwrapped(object_in(data))
    for one in (record, *(object_in(record.get(name)) for name in _ROOTS)):
        listed = list(objects_in(one.get(_INSIDE)))
        if _children_of(one) and not (listed and all(map(_is_linked, listed))):
            return _walked([one], record)
        for name in _LISTS:
            items = list(objects_in(one.get(name)))
            if items and (all(map(_is_linked, items)) or any(map(_children_of, items))):
                return _walked(items, {key: value for key, value in record.items() if key != name})
    return (
        [{**record, _ID: _first_id(record, _IDS), _PARENT: _first_id(record, _PARENTS)}] if is_own_span(record) else []
    )


def _unwrapped(record: JsonObject) -> JsonObject:
    """A span that stands in an event of a log, or has all that it says in its attributes, with these as its own."""
    inner = next((span for name in _WRAPPERS if is_own_span(span := object_in(record.get(name)))), None)
    if inner is not None:
        return inner
    said = object_in(record.get("attributes"))
    if first_text(record, *_KIND_NAMES) or not first_text(said, *_KIND_NAMES):
        return record
    others = {key: value for key, value in record.items() if key != "attributes"}
    texts = {key: parsed(said[key]) for key in (*_GIVEN, *_SAID) if isinstance(said.get(key), str)}
    return {**others, **said, **texts}


def is_own_span(record: Any) -> bool:
    """Whether a record is a span with a kind that is known."""
    span = object_in(record)
    return _is_linked(span) and _kind_of(span) is not None and any(key in span for key in (*_GIVEN, *_SAID))


def _children_of(span: JsonObject) -> list[JsonObject]:
    names = _CHILDREN if _kind_of(span) is None else (*_CHILDREN, _INSIDE)
    return [child for key in names for child in objects_in(span.get(key)) if first_text(child, *_KIND_NAMES)]


def _is_linked(span: JsonObject) -> bool:
    """Whether a span names itself, its parent if it has one, and its kind."""
    ids = any(recorded_id(span.get(key)) for key in _IDS)
    return ids and any(key in span for key in _PARENTS) and bool(first_text(span, *_KIND_NAMES) or _named(span))


def _named(span: JsonObject) -> tuple[str, str] | None:
    """The kind of a span and the rest of its name, where only the name says what it is."""
    match = None if first_text(span, *_KIND_NAMES) else _NAMED.fullmatch(first_text(span, "name") or "")
    kind = None if match is None else _KINDS.get(match[1].lower())
    return None if match is None or kind is None else (kind, match[2])


def _walked(trees: list[JsonObject], about: JsonObject) -> list[JsonObject]:
    """These spans and those inside them, each with its ID and that of its parent, the first with the record's fields.

    There are none if no model or tool has worked in them.
    """
    numbers = count(1)

    def walk(span: JsonObject, parent: str | None, depth: int) -> Iterator[JsonObject]:
        own = _first_id(span, _IDS) or f"span {next(numbers)}"
        others = {key: value for key, value in span.items() if key not in (*_CHILDREN, _INSIDE)}
        yield {**others, _ID: own, _PARENT: _first_id(span, _PARENTS) or parent}
        if depth < _DEEPEST:
            for child in _children_of(span):
                yield from walk(child, own, depth + 1)

    first, *rest = [span for tree in trees for span in walk(tree, None, 0)]
    beside = {
        key: value for key, value in about.items() if key not in (*_CHILDREN, _INSIDE, *_ROOTS) and key not in first
    }
    trace = _first_id(about, _TRACES)
    named = [{_TRACES[0]: trace, **span} if trace else span for span in ({**first, _RECORD: beside}, *rest)]
    return named if any(_kind_of(span) in _WORK and any(map(span.get, _SAID)) for span in named) else []


def _first_id(span: JsonObject, keys: tuple[str, ...]) -> str | None:
    return next((str(one) for key in keys if (one := recorded_id(span.get(key))) is not None), None)


def _kind_of(span: JsonObject) -> str | None:
    words = (first_text(span, name) for name in _KIND_NAMES)
    said = next((_KINDS[word.lower()] for word in words if word is not None and word.lower() in _KINDS), None)
    return said or (named[0] if (named := _named(span)) is not None else None)


def _opened(fields: Fields) -> StoredSpan:
    about_kind = {name: fields.peek(name) for name in (*_KIND_NAMES, "name")}
    kind, named = _kind_of(about_kind) or "CHAIN", _named(about_kind)
    name = fields.text("name", "tool_name", "tool", "agent", "title", "event_name") or ""
    fields.set_aside(*_KIND_NAMES, *_IDS, *_PARENTS, "level", "depth", "duration_ms", "latency_ms")
    about = fields.object("attributes", "metadata")
    used = next(filter(None, map(usage_of_answer, (fields, about, fields.object("metrics")))), None)
    return StoredSpan(
        id=fields.name(_ID),
        trace_id=fields.name(*_TRACES),
        parent_id=fields.name(_PARENT),
        kind=kind,
        name=name if named is None else named[1],
        given=fields.value(*_GIVEN),
        said=fields.value(*_SAID),
        start_s=time_in(fields, *_STARTS),
        end_s=time_in(fields, *_ENDS),
        error=_error_in(fields.value(*_ERRORS), fields.value("status")),
        model=fields.text(*_MODELS) or about.text(*_MODELS) or fields.object("config").text(*_MODELS),
        usage=attributes_of_usage(used) if kind == "LLM" else {},
        known=context_of(fields.object(_RECORD)) if _RECORD in fields else None,
    )


def _error_in(error: Any, status: Any) -> str | None:
    if error:
        return first_text(error, "message", "type") or (error if isinstance(error, str) else "error")
    return "error" if isinstance(status, str) and status.lower() in ("error", "failed", "failure") else None


OWN_SPANS = StoreExport(
    name="own_spans",
    description="spans of programs of one's own, with parents or inside each other",
    detection="spans with a kind (llm, tool, agent, ...), an id and a parent, or with children; one has an output",
    spans=_spans,
    opened=_opened,
    is_own=True,
)
