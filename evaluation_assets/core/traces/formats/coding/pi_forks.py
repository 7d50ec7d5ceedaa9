"""Entries of a Pi session that were copied from the session that it was forked from, with their IDs and times."""

import posixpath
from collections.abc import Iterator, Sequence
from typing import Any

from evaluation_assets.core.traces.formats.base import DropFile, Record, Rejection
from evaluation_assets.core.traces.formats.files.records import read_records
from evaluation_assets.core.traces.formats.times import chronological
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.formats.untyped import first_text

_Entry = tuple[str | None, str | None]


def own_records(files: Sequence[DropFile], file: DropFile, unmapped: UnmappedFields) -> Iterator[Record | Rejection]:
    """The records of a session without those that it has of the session it was forked from, if that is in the drop."""
    header = next((one.data for one in read_records(file.unwatched) if isinstance(one, Record)), None)
    parent = first_text(header, "parentSession", "branchedFrom")
    name = None if parent is None else parent.replace("\\", "/").rpartition("/")[2]
    origin = next((one for one in files if one != file and posixpath.basename(one.source) == name), None)
    copies = _entries(origin) if origin is not None else frozenset[_Entry]()
    if name is not None and origin is None and _has_older(file, first_text(header, "timestamp")):
        unmapped.note("copied_history", name)
    own = (one for one in read_records(file.unwatched) if isinstance(one, Rejection) or _entry(one.data) not in copies)
    return file.watch.over(own) if copies else read_records(file)


def _entries(file: DropFile) -> frozenset[_Entry]:
    found = (_entry(one.data) for one in read_records(file.unwatched) if isinstance(one, Record))
    return frozenset(entry for entry in found if None not in entry)


def _entry(line: Any) -> _Entry:
    return first_text(line, "id"), first_text(line, "timestamp")


def _has_older(file: DropFile, begun: str | None) -> bool:
    """Whether entries are older than their session."""
    times = (first_text(one.data, "timestamp") for one in read_records(file.unwatched) if isinstance(one, Record))
    return any(chronological(time) < chronological(begun) for time in times if time is not None and begun is not None)
