"""Where a trajectory comes from: the file in the drop, the bytes of its record, and their hashes."""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from evaluation_assets.core.intake.drops import Drop
from evaluation_assets.core.traces.formats.base import UnreadableDrop
from evaluation_assets.core.traces.trajectories.model import Source

Extent = Literal["record", "file"]

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{},:]', re.DOTALL)
_BLANK = b" \t\r\n"
_ITEM = b'"item"'
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LARGEST_SEARCHED = 256 << 20
"""Bytes of a JSON document in which a record is searched."""


@dataclass(frozen=True, slots=True)
class Place:
    """The bytes that a trajectory comes from: `[start, end)` of a file.

    `extent` is `record` if these bytes are the record and no more, else `file`: the record is somewhere in it, at
    number `line`. `is_unchanged` says whether the drop still has the content that was read.
    """

    file: str
    line: int
    extent: Extent
    start: int
    end: int
    sha256: str
    file_sha256: str
    is_unchanged: bool


def place_of(drop: Drop, source: Source, content: str) -> Place:
    """Find the bytes of a trajectory. `content` is the hash of the drop's content as it was read.

    Raises:
        UnreadableDrop: the drop has no such file any more.
    """
    file = next((file for file in drop.sources if file.source == source.file), None)
    if file is None:
        raise UnreadableDrop(f"{source.file} is not in the drop any more")
    with file.path.open("rb") as stream:
        size = stream.seek(0, 2)
        stream.seek(0)
        whole = hashlib.sha256()
        while block := stream.read(1 << 20):
            whole.update(block)
        digest = file_hash = whole.hexdigest()
        place = (source.start, source.end)
        if source.is_whole and source.start is None and size <= _LARGEST_SEARCHED:
            stream.seek(0)
            place = item_range(stream.read(), source.line, source.within)
        extent: Extent = "file" if place[0] is None or place[1] is None else "record"
        start, end = place[0] or 0, size if place[1] is None else place[1]
        if extent == "record":
            stream.seek(start)
            digest = hashlib.sha256(stream.read(end - start)).hexdigest()
    unchanged = drop.content_hash() == content
    return Place(source.file, source.line, extent, start, end, digest, file_hash, unchanged)


def item_range(content: bytes, number: int, within: str = "") -> tuple[int, int] | tuple[None, None]:
    """The range of an item of a list, counted from 1; nothing if there is no such list or item.

    `within` is the path of the list, such as `data.simulations`; by default the content itself is the list.
    """
    start = len(_BYTE_ORDER_MARK) if content.startswith(_BYTE_ORDER_MARK) else 0
    if not within and content[start:].lstrip(_BLANK)[:1] != b"[":
        return None, None
    keys: list[bytes] = []  # of the containers that are open: the key that stands there last
    text, count, begin, depth = b"", 0, 0, 0
    deepest = within.count(".") + bool(within)
    for token in _TOKEN.finditer(content, start):
        mark = token[0]
        if mark in (b"[", b"{"):
            if not depth and mark == b"[" and len(keys) <= deepest and _path(keys) == within:
                depth, begin = len(keys) + 1, token.end()
            keys.append(_ITEM if mark == b"[" else b'""')
            continue
        if depth and len(keys) == depth and mark in (b",", b"]"):
            span = _without_blanks(content, begin, token.start())
            count += span[0] is not None  # an empty list has no item
            if count == number:
                return span
            begin, depth = token.end(), 0 if mark == b"]" else depth
        if mark in (b"]", b"}"):
            del keys[-1:]
        elif mark == b":" and keys:
            keys[-1] = text
        else:
            text = mark
    return None, None


def _path(keys: Sequence[bytes]) -> str:
    """The path of a container, as readers name it."""
    return ".".join(json.loads(key) for key in keys)


def _without_blanks(content: bytes, start: int, end: int) -> tuple[int, int] | tuple[None, None]:
    """A range without the blanks around it; nothing if nothing is left."""
    while start < end and content[start] in _BLANK:
        start += 1
    while end > start and content[end - 1] in _BLANK:
        end -= 1
    return (start, end) if end > start else (None, None)
