"""Keep the records of sub-agents' sessions in a temporary file until the session that started them is read."""

import tempfile
from collections.abc import Iterator
from typing import IO

from evaluation_assets.core.traces.formats.base import Record, Rejection
from evaluation_assets.core.traces.formats.files.records import record_of

_SPOOL_BYTES = 8 << 20

Unit = list[Record]
"""The records of one session."""
Place = tuple[str, int]
"""File and line of the first record of a session."""


def place_of(unit: Unit) -> Place:
    """Where a session begins."""
    return unit[0].source, unit[0].line


class SessionSpool:
    """Spools sessions, in memory while they are small, then in a temporary file, so that each file is read once."""

    def __init__(self) -> None:
        self._file: IO[bytes] = tempfile.SpooledTemporaryFile(_SPOOL_BYTES)  # noqa: SIM115
        self._records: dict[Place, list[tuple[int, int, int]]] = {}
        self._end = 0

    def close(self) -> None:
        """Delete the temporary file."""
        self._file.close()

    def add(self, unit: Unit) -> None:
        """Add a session."""
        kept = self._records.setdefault(place_of(unit), [])
        for record in unit:
            self._file.write(record.raw)
            kept.append((record.line, self._end, len(record.raw)))
            self._end += len(record.raw)

    def unit(self, place: Place) -> Unit:
        """The session that begins at a place."""
        return list(self._read(place))

    def _read(self, place: Place) -> Iterator[Record]:
        for line, start, length in self._records[place]:
            self._file.seek(start)
            record = record_of(self._file.read(length), place[0], line)
            if not isinstance(record, Rejection):  # it was parsed before
                yield record
        self._file.seek(self._end)
