"""Logs of coding agents in records of an own form: as a list of events, in a text, or one event in each record.

{"task_id": "fix-7", "passed": true, "stdout": "<the lines of `codex exec --json`>"}
{"at": "2026-05-04T10:00:00Z", "event": {"type": "thread.started", "thread_id": "t"}}
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from upath import UPath

from evaluation_assets.core.traces.formats.base import DropFile, Format, Record, RecordWatch, Rejection, Sample
from evaluation_assets.core.traces.formats.envelopes.asked import asked_in
from evaluation_assets.core.traces.formats.files.json_values import as_line
from evaluation_assets.core.traces.formats.mixed_records import Aside
from evaluation_assets.core.traces.formats.run_folders import with_known
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.formats.untyped import at, decoded, list_in, parsed
from evaluation_assets.core.traces.trajectories.model import JsonObject, Trajectory

_LOGS = ("claude_code", "codex", "gemini_cli", "qwen_code", "cursor", "opencode", "goose", "droid", "copilot_cli", "pi")
_TYPE = '"type"'
_LOOKED_AT = 40
"""Events after which it is known whose they are."""


class NestedStreams:
    """Finds logs of coding agents inside records, and reads each as a file of its own."""

    def __init__(self, formats: Mapping[str, Format]) -> None:
        self._formats = {name: formats[name] for name in _LOGS}

    def found_in(self, value: Any) -> tuple[str, list[JsonObject]] | None:
        """The format of a log, and its events: those of a list, of a text of lines, or in the items of a list."""
        items = _lines_of(value) if isinstance(value, str) else list_in(value)
        own = self._kind_of(items)
        return self.wrapped_in(items) if own is None else (own, items)

    def wrapped_in(self, records: Sequence[Any]) -> tuple[str, list[JsonObject]] | None:
        """The format of a log whose events each stand in a record, under one name, and the events."""
        first = records[:_LOOKED_AT]
        for name in dict.fromkeys(name for record in first if isinstance(record, dict) for name in record):
            kind = self._kind_of(inner) if len(inner := _inside(first, name)) * 2 > len(first) else None
            if kind is not None:
                return kind, _inside(records, name)
        return None

    def read(
        self, kind: str, record: Record, events: Sequence[JsonObject], known: JsonObject, unmapped: UnmappedFields
    ) -> Iterator[Trajectory | Rejection]:
        """The runs of a log that stands in a record, with what is `known` of them beside it."""
        asked = asked_in(known)
        if asked is not None:
            known = {**{name: value for name, value in known.items() if name != asked[0]}, "task": asked[1]}
        with TemporaryDirectory() as folder:
            aside = Aside(Path(folder) / f"{kind}.jsonl")
            for event in events:
                aside.add_from(record, as_line(event), is_whole=True)
            file = DropFile(UPath(aside.path), record.source, RecordWatch(images=unmapped.images))
            for item in map(aside.placed, self._formats[kind].read([file], unmapped)):
                yield item if isinstance(item, Rejection) else with_known(item, [("", known)], unmapped)

    def _kind_of(self, events: Sequence[Any]) -> str | None:
        """The format of a log with these events."""
        if len(events) < 2 or not all(isinstance(event, dict) for event in events):
            return None
        sample = Sample(tuple(events[:_LOOKED_AT]))
        return next((name for name, known in self._formats.items() if known.detect(sample)), None)


def _inside(records: Sequence[Any], name: str) -> list[JsonObject]:
    """The objects, also as JSON texts, that records have in a field."""
    return [event for record in records if isinstance(event := decoded(at(record, name)), dict)]


def _lines_of(text: str) -> list[Any]:
    """The objects in the lines of a text, if most of its lines are objects, as each event of a log has a type."""
    if _TYPE not in text:
        return []
    lines = [line for line in text.splitlines() if line.strip()]
    objects = [value for line in lines if line.lstrip().startswith("{") and isinstance(value := parsed(line), dict)]
    return objects if len(objects) * 2 > len(lines) else []
