"""Index of the ATIF documents in a drop: location, references, and which documents are referenced by others."""

import posixpath
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evaluation_assets.core.traces.formats.base import DropFile, Record
from evaluation_assets.core.traces.formats.files.records import read_records
from evaluation_assets.core.traces.formats.untyped import at, list_in, listed, object_in, objects_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

DEEPEST = 50
"""Maximum nesting of sub-agents; agents do not write deeper trees."""


class Documents:
    """Locations of the documents of a drop, and which of them are part of another document."""

    def __init__(self, files: Sequence[DropFile]) -> None:
        self._files = {file.source: file for file in files}
        self._places: list[tuple[str, int]] = []
        self._by_id: dict[str, list[int]] = defaultdict(list)
        self._by_session: dict[str, list[int]] = defaultdict(list)
        self._by_source: dict[str, list[int]] = defaultdict(list)
        references: list[list[JsonObject]] = []
        for file in files:
            for record in read_records(file.unwatched):
                if isinstance(record, Record) and is_document(record.data):
                    self._add(record)
                    references.append(list(_references(record.data)))
        self.sources = {source for source, _ in self._places}
        self._parts = self._joined(references)

    @property
    def roots(self) -> list[str]:
        """The files of the documents that no other document references, one for each document."""
        return [source for source, line in self._places if (source, line) not in self._parts]

    def is_part(self, record: Record) -> bool:
        """Whether another document references this one."""
        return (record.source, record.line) in self._parts

    def find(self, reference: Mapping[str, Any], source: str) -> tuple[str, int] | None:
        """Resolve a reference found in `source`; `None` if the document is not in the drop."""
        document = self._find(reference, source)
        return None if document is None else self._places[document]

    def load(self, place: tuple[str, int]) -> JsonObject:
        """Read a document from its file."""
        source, line = place
        file = self._files[source]
        return next(record.data for record in read_records(file) if isinstance(record, Record) and record.line == line)

    def _add(self, record: Record) -> None:
        number = len(self._places)
        self._places.append((record.source, record.line))
        self._by_source[record.source].append(number)
        for key, names in (("trajectory_id", self._by_id), ("session_id", self._by_session)):
            if isinstance(name := record.data.get(key), str):
                names[name].append(number)

    def _find(self, reference: Mapping[str, Any], source: str) -> int | None:
        path, name, session = (reference.get(key) for key in ("trajectory_path", "trajectory_id", "session_id"))
        candidates: list[int] = []
        beside = ""
        if isinstance(path, str):
            beside = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
            near = [one for one in self._by_source if _same_file(one, path) and _is_below(one, source)]
            known = [beside] if beside in self._by_source else near or self._with_prefix_of(source, path)
            candidates = [number for one in known for number in self._by_source[one]]
        if isinstance(name, str) and len(candidates) != 1:
            candidates = [number for number in self._by_id.get(name, ()) if number in candidates or not candidates]
        if isinstance(session, str) and not candidates:
            candidates = self._by_session.get(session, [])
        if isinstance(path, str):  # runs in separate folders reuse file names, ids and sessions
            own = (beside, *(one for one in self._by_source if _is_below(one, source)))
            candidates = [number for number in candidates if self._places[number][0] in own]
        return candidates[0] if len(candidates) == 1 else None

    def _with_prefix_of(self, source: str, path: str) -> list[str]:
        """Files beside `source` of that name and the prefix of its name: runs in one folder get one each."""
        folder, own = posixpath.split(source)
        wanted = posixpath.basename(path)
        beside = (posixpath.basename(one) for one in self._by_source if posixpath.dirname(one) == folder)
        prefixes = [name.removesuffix(wanted) for name in beside if name.endswith(wanted)]
        longest = max((prefix for prefix in prefixes if own.startswith(prefix)), key=len, default=None)
        return [] if longest is None else [posixpath.join(folder, longest + wanted)]

    def _joined(self, references: list[list[JsonObject]]) -> set[tuple[str, int]]:
        """Documents that are read as part of the document that references them; the first of a cycle stays a root."""
        edges = [
            [document for reference in own if (document := self._find(reference, place[0])) not in (None, number)]
            for number, (place, own) in enumerate(zip(self._places, references, strict=True))
        ]
        pointed_at = {target for own in edges for target in own}
        parts: set[int] = set()
        roots = [number for number in range(len(edges)) if number not in pointed_at]
        for root in (*roots, *sorted(pointed_at)):
            if root in parts:
                continue
            waiting = [root]
            while waiting:
                for target in edges[waiting.pop()]:
                    if target is not None and target != root and target not in parts:
                        parts.add(target)
                        waiting.append(target)
        return {self._places[number] for number in parts}


def is_document(data: Any) -> bool:
    """Whether a value is an ATIF document."""
    version = at(data, "schema_version")
    if isinstance(version, str) and version.upper().startswith("ATIF"):
        return True
    first = next(iter(list_in(at(data, "steps"))), None)
    return isinstance(at(data, "agent"), dict) and {"step_id", "source"} <= object_in(first).keys()


def _references(data: JsonObject, depth: int = 0) -> Iterator[JsonObject]:
    """All references in a document and in the documents embedded in it."""
    continued = data.get("continued_trajectory_ref")
    if isinstance(continued, str):
        yield {"trajectory_path": continued}
        yield {"trajectory_id": continued}
    for step in objects_in(data.get("steps")):
        for result in objects_in(at(step.get("observation"), "results")):
            references = result.get("subagent_trajectory_ref")
            yield from objects_in(listed(references))
    for child in objects_in(data.get("subagent_trajectories") if depth < DEEPEST else None):
        yield from _references(child, depth + 1)


def _is_below(source: str, other: str) -> bool:
    """Whether a file is in the folder of another file or below it."""
    folder = posixpath.dirname(other)
    return source.startswith(f"{folder}/" if folder else "")


def _same_file(source: str, path: str) -> bool:
    return posixpath.basename(source) == posixpath.basename(path)
