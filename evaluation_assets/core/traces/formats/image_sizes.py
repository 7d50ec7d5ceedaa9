"""Width and height of an image, from its header."""

import re

_MARKER = re.compile(rb"\xff+([^\xff])", re.DOTALL)
_MOST_SEGMENTS = 1000

_START_OF_FRAME = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
"""Markers of JPEG after which the size stands; the others of this range hold tables."""

_WITHOUT_LENGTH = frozenset({0x01, *range(0xD0, 0xDA)})


def pixels(media_type: str, content: bytes) -> tuple[int, int] | None:
    """Width and height of a PNG, JPEG, GIF or WebP; `None` if its header does not state both."""
    if media_type == "image/png":
        size = (_big(content[16:20]), _big(content[20:24])) if content[12:16] == b"IHDR" else None
    elif media_type == "image/gif":
        size = _little(content[6:8]), _little(content[8:10])
    elif media_type == "image/jpeg":
        size = _of_jpeg(content)
    else:
        size = _of_webp(content)
    return size if size is not None and min(size) > 0 else None


def _of_jpeg(content: bytes) -> tuple[int, int] | None:
    place = 2
    for _ in range(_MOST_SEGMENTS):
        marker = _MARKER.match(content, place)
        if marker is None:
            return None
        kind, place = marker[1][0], marker.end()
        if kind in _START_OF_FRAME:
            return _big(content[place + 5 : place + 7]), _big(content[place + 3 : place + 5])
        if kind not in _WITHOUT_LENGTH:
            place += max(_big(content[place : place + 2]), 2)
    return None


def _of_webp(content: bytes) -> tuple[int, int] | None:
    kind = content[12:16]
    if kind == b"VP8X":
        return _little(content[24:27]) + 1, _little(content[27:30]) + 1
    if kind == b"VP8L":
        bits = _little(content[21:25])
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 ":
        return _little(content[26:28]) & 0x3FFF, _little(content[28:30]) & 0x3FFF
    return None


def _big(data: bytes) -> int:
    return int.from_bytes(data, "big")


def _little(data: bytes) -> int:
    return int.from_bytes(data, "little")
