"""Event streams of NVIDIA's NeMo Agent Toolkit (ATOF): the start and the end of each scope, as lines.

https://github.com/NVIDIA/NeMo-Agent-Toolkit, packages/nvidia_nat_atif/atof-event-format.md
"""

from collections.abc import Iterator
from typing import Any

from evaluation_assets.core.traces.formats.base import DropFile, Record, Rejection
from evaluation_assets.core.traces.formats.files.records import read_records
from evaluation_assets.core.traces.formats.spans.flat_spans import time_in
from evaluation_assets.core.traces.formats.spans.store_export import StoredSpan, StoreExport
from evaluation_assets.core.traces.formats.unmapped_fields import Fields
from evaluation_assets.core.traces.formats.untyped import at, first_text, object_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

_VERSION, _PHASE, _SCOPE = "atof_version", "scope_category", "scope"
_KINDS = {
    "agent": "AGENT", "llm": "LLM", "tool": "TOOL", "retriever": "RETRIEVER", "guardrail": "EVALUATOR",
    "evaluator": "EVALUATOR",
}  # fmt: skip
_END = "end of a scope"
_ROOT = "root of a scope"


def _paired(file: DropFile) -> Iterator[Record | Rejection]:
    """The scopes of a file, each as one record with its root; those without an end last. Marks tell of no run."""
    begun: dict[str, Record] = {}
    roots: dict[str, str] = {}
    for record in read_records(file):
        if isinstance(record, Rejection) or not _is_event(record.data):
            yield record
            continue
        event = record.data
        name, parent = first_text(event, "uuid") or "", first_text(event, "parent_uuid")
        if event.get("kind") != _SCOPE:
            continue
        if event.get(_PHASE) == "start":
            roots[name] = roots.get(parent or "", name)
            begun[name] = record
        else:
            start = begun.pop(name, record)
            yield _with(start, {_END: event, _ROOT: roots.get(name, name)})
    for name, record in begun.items():
        yield _with(record, {_ROOT: roots[name]})


def _with(record: Record, more: JsonObject) -> Record:
    return Record(record.source, record.line, {**record.data, **more}, record.raw)


def _is_event(data: Any) -> bool:
    return _VERSION in object_in(data) and "uuid" in data


def _spans(data: Any) -> list[JsonObject]:
    return [object_in(data)] if _is_event(data) else []


def _opened(fields: Fields) -> StoredSpan:
    kind = _KINDS.get(fields.text("category") or "", "CHAIN")
    profile, end = fields.object("category_profile"), fields.object(_END)
    said, call = end.value("data"), profile.text("tool_call_id")
    about = end.object("metadata")
    fields.set_aside("kind", _PHASE, _VERSION, "data_schema", "attributes", "metadata")
    error = at(said, "error") if kind == "TOOL" and object_in(said).keys() == {"error"} else about.value("error")
    ended = end.object("category_profile")
    models = [each.text("model_name") for each in (ended, profile)]
    ended.set_aside("tool_call_id")
    if kind == "LLM" and isinstance(said, dict) and not {"role", "choices"} & said.keys() and "content" in said:
        said = {"role": "assistant", **said}
    end.rest()
    return StoredSpan(
        id=fields.name("uuid"),
        trace_id=fields.name(_ROOT),
        parent_id=fields.name("parent_uuid"),
        kind=kind,
        name=fields.text("name") or "",
        given=fields.value("data"),
        said=said if call is None or said is None else {"tool_call_id": call, "content": said},
        start_s=time_in(fields, "timestamp"),
        end_s=time_in(end, "timestamp"),
        error=None if error is None else str(error),
        model=models[0] or models[1],
    )


ATOF = StoreExport(
    name="atof",
    description="event streams of NVIDIA's NeMo Agent Toolkit (ATOF)",
    detection="lines with an atof_version and a uuid",
    spans=_spans,
    opened=_opened,
    records=_paired,
)
