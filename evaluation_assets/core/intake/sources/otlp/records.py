"""The record of a trace, put together from the parts in which it arrived."""

from collections.abc import Iterable
from typing import Any

import orjson

from evaluation_assets.core.traces.formats.untyped import objects_in
from evaluation_assets.core.traces.trajectories.model import JsonObject


def record_of(contents: Iterable[bytes]) -> JsonObject:
    """One OTLP JSON document of all parts of a trace, in order of arrival.

    Items with the same resource and library are in one group. A span that arrived twice, because its sender did not get
    the response, is in the record once, as it arrived last; so are log records with the same content.
    """
    spans = _Groups("scopeSpans", "spans")
    logs = _Groups("scopeLogs", "logRecords")
    for content in contents:
        document = orjson.loads(content)
        spans.add(document.get("resourceSpans"))
        logs.add(document.get("resourceLogs"))
    record: JsonObject = {}
    if spans.resources:
        record["resourceSpans"] = spans.resources
    if logs.resources:
        record["resourceLogs"] = logs.resources
    return record


def trace_id_of(record: JsonObject) -> str | None:
    """The ID of the trace that a record of `record_of` holds."""
    for resources, scopes, items in (
        ("resourceSpans", "scopeSpans", "spans"),
        ("resourceLogs", "scopeLogs", "logRecords"),
    ):
        for resource in objects_in(record.get(resources)):
            for scope in objects_in(resource.get(scopes)):
                for item in objects_in(scope.get(items)):
                    if isinstance(trace_id := item.get("traceId"), str):
                        return trace_id
    return None


class _Groups:
    """Resources with their libraries and items, each once."""

    def __init__(self, scopes: str, items: str) -> None:
        self.resources: list[JsonObject] = []
        self._scopes, self._items = scopes, items
        self._known: dict[bytes, JsonObject] = {}
        self._places: dict[Any, tuple[list[JsonObject], int]] = {}

    def add(self, resources: Any) -> None:
        """Add the groups of a part."""
        for resource in objects_in(resources):
            own = self._once(b"", resource, self._scopes, self.resources)
            for scope in objects_in(resource.get(self._scopes)):
                place = b"%d/" % id(own)
                items = self._once(place, scope, self._items, own[self._scopes])[self._items]
                for item in objects_in(scope.get(self._items)):
                    self._put(item, items)

    def _once(self, place: bytes, group: JsonObject, below: str, groups: list[JsonObject]) -> JsonObject:
        """The group with the same description in the same place, added if it is new."""
        about = {name: value for name, value in group.items() if name != below}
        key = place + orjson.dumps(about, option=orjson.OPT_SORT_KEYS)
        if key not in self._known:
            self._known[key] = {**about, below: []}
            groups.append(self._known[key])
        return self._known[key]

    def _put(self, item: JsonObject, items: list[JsonObject]) -> None:
        key = item["spanId"] if self._items == "spans" else orjson.dumps(item, option=orjson.OPT_SORT_KEYS)
        if key in self._places:
            known, index = self._places[key]
            known[index] = item
        else:
            self._places[key] = items, len(items)
            items.append(item)
