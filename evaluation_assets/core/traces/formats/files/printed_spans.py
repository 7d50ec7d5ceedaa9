"""What a program prints, with the spans of a console exporter between its other lines.

The exporter of Python's SDK prints a span as an object over several lines, of which the first and the last are the
brackets.
"""

import io
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

_SPAN = re.compile(rb'^\{\r?\n +"name": [^\n]*\n +"context": \{\r?\n +"trace_id": ', re.MULTILINE)
_SEEN = 1 << 16
_LINES = 1000
_BEGINS, _ENDS = b"{", b"}"


def has_printed_spans(beginning: bytes) -> bool:
    """Whether the beginning of a file has such a span."""
    return _SPAN.search(beginning[:_SEEN]) is not None


class PrintedSpans(io.RawIOBase):
    """The objects that a program printed over several lines, without the lines around them."""

    def __init__(self, printed: io.BufferedReader) -> None:
        super().__init__()
        self._lines = _lines_of_objects(printed)
        self._waiting = b""

    def readable(self) -> bool:
        """True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read the next bytes of the objects, as many as there is room for: who peeks sees no more than one read."""
        while len(self._waiting) < len(buffer) and (lines := b"".join(islice(self._lines, _LINES))):
            self._waiting += lines
        given, self._waiting = self._waiting[: len(buffer)], self._waiting[len(buffer) :]
        buffer[: len(given)] = given
        return len(given)


def _lines_of_objects(printed: io.BufferedReader) -> Iterator[bytes]:
    is_inside = False
    for line in printed:
        bare = line.rstrip()
        is_inside = is_inside or bare == _BEGINS
        if is_inside:
            yield line
        is_inside = is_inside and bare != _ENDS
