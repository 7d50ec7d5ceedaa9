"""Set the images of a record aside: in place of their data stand marks, before a reader sees the record."""

import re
from base64 import b64decode
from binascii import Error
from typing import Any

from evaluation_assets.core.traces.formats.image_sizes import pixels
from evaluation_assets.core.traces.trajectories.identity import digest
from evaluation_assets.core.traces.trajectories.images import LARGEST, Image, Images

_KINDS = {
    "image/png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "image/jpeg": re.compile(rb"\xff\xd8\xff"),
    "image/gif": re.compile(rb"GIF8[79]a"),
    "image/webp": re.compile(rb"RIFF....WEBP", re.DOTALL),
}
HEAD = 24
"""Characters of base64 that are decoded: 18 bytes, of which the longest signature needs 12."""

_BEGINNINGS = re.compile(rb"iVBORw0KGgo|(?:\\?/|_)9j(?:\\?/|_)|R0lGOD|UklGR")
"""The signatures in base64, in JSON."""

_BREAK = r"(?:\r?\n|\\r\\n|\\n)"
"""The end of a line, in JSON in a text too."""

_DATA = re.compile(
    r"(?:(?i:data:[a-z0-9/+.;=-]{1,100};base64,)|(?<![A-Za-z0-9+/]))"
    r"((?:iVBORw0KGgo|[/_]9j[/_]|R0lGOD|UklGR)[A-Za-z0-9+/_-]{24,}"
    rf"(?:{_BREAK}[A-Za-z0-9+/_-]++(?![ ,.:;!?]))*={{0,2}})"
)
_LINES = re.compile(rf"({_BREAK})")
_WIDTHS = range(60, 77)
"""Characters of a line where programs break data into lines; most write 64 or 76."""

_STANDARD = str.maketrans("-_", "+/")


def set_images_aside(data: Any, raw: bytes, images: Images) -> None:
    """Replace image data in the texts of a record, in place, and keep the images. `raw` is the record as bytes."""
    if _BEGINNINGS.search(raw) is None:
        return
    waiting = [data]
    while waiting:
        holder = waiting.pop()
        places = holder.items() if isinstance(holder, dict) else enumerate(holder if isinstance(holder, list) else ())
        for place, value in list(places):
            if isinstance(value, str):
                holder[place] = _DATA.sub(lambda match: _mark(match, images), value)
            elif isinstance(value, dict | list):
                waiting.append(value)


def _mark(match: re.Match[str], images: Images) -> str:
    data, rest = _in_one_line(match[1])
    data = _plain(data)
    kind = kind_of(data)
    image = None if kind is None or len(data) * 3 // 4 > LARGEST else _whole(kind, data)
    if image is None:
        return match[0]
    images.add(image)
    return mark(kind, data, image) + rest


def _in_one_line(lines: str) -> tuple[str, str]:
    """Data without the ends of its lines, and the text behind it: all lines of data but the last are equally long."""
    first, *others = _LINES.split(lines)
    data, used, width = [first], len(first), len(first)
    for end, line in zip(others[::2], others[1::2], strict=True):
        if width not in _WIDTHS or len(line.rstrip("=")) > width or len(data[-1]) < width:
            break
        data.append(line)
        used += len(end) + len(line)
    return "".join(data), lines[used:]


def _plain(data: str) -> str:
    """Data in the usual alphabet of base64, with padding."""
    data = data.translate(_STANDARD)
    return data if "=" in data else data + "=" * (-len(data) % 4)


def kind_of(data: str) -> str | None:
    """The kind of image that data in base64 begins like; `None` if it is something else."""
    try:
        head = b64decode(data[:HEAD], validate=True)
    except (Error, ValueError):
        return None
    return next((kind for kind, signature in _KINDS.items() if signature.match(head)), None)


def mark(kind: str | None, data: str, image: Image | None = None) -> str:
    """The text that stands for data in base64: kind, size, and the digest of an image that is kept."""
    size = len(data) * 3 // 4 - data[-2:].count("=")
    shown = f"{size} bytes" if size < 1000 else f"{size / 1000:,.0f} kB" if size < 1e6 else f"{size / 1e6:,.1f} MB"
    name = "" if image is None else f", {image.digest}"
    return f"[image: {kind or 'not PNG, JPEG, GIF or WebP'}, {shown}{name}]"


def _whole(kind: str, data: str) -> Image | None:
    """The image, if all of its data is base64 and its header states its size."""
    try:
        size = pixels(kind, b64decode(data, validate=True))
    except (Error, ValueError):
        return None
    return None if size is None else Image(digest(data), kind, *size, data)
