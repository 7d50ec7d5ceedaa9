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

_BEGINNINGS = (b"iVBORw0KGgo", b"/9j/", b"_9j_", b"R0lGOD", b"UklGR")
"""The signatures in base64, also that for addresses, which Google's SDK writes."""

_ADDRESS = r"(?i:data:[a-z0-9/+.;=-]{1,100};base64,)"
_SIGNATURE = r"(?:iVBORw0KGgo|[/_]9j[/_]|R0lGOD|UklGR)"
_DATA = re.compile(rf"(?:{_ADDRESS}|(?<![\w+/-]))({_SIGNATURE}[A-Za-z0-9+/_-]{{24,}}={{0,2}})", re.ASCII)
_BEGINS = re.compile(rf"\s*(?:{_ADDRESS}\s*)?{_SIGNATURE}")
_LINES = (64, 76)
"""Characters of the lines that data is broken into, by PEM and by MIME."""

_STANDARD = str.maketrans("-_", "+/")


def set_images_aside(data: Any, raw: bytes, images: Images) -> None:
    """Replace image data in the texts of a record, in place, and keep the images. `raw` is the record as bytes."""
    if not any(beginning in raw for beginning in _BEGINNINGS):
        return
    waiting = [data]
    while waiting:
        holder = waiting.pop()
        places = holder.items() if isinstance(holder, dict) else enumerate(holder if isinstance(holder, list) else ())
        for place, value in list(places):
            if isinstance(value, str):
                holder[place] = _DATA.sub(lambda found: _mark(found, images), _joined(value))
            elif isinstance(value, dict | list):
                waiting.append(value)


def _joined(text: str) -> str:
    """A text that is nothing but data in lines as one line; any other text as it is."""
    if "\n" not in text or not _BEGINS.match(text):
        return text
    *lines, last = (line for line in text.split() if not line.endswith("base64,"))
    is_data = {len(line) for line in lines} < {*_LINES} and bool(lines) and len(last) <= len(lines[0])
    return "".join(text.split()) if is_data else text


def _mark(found: re.Match[str], images: Images) -> str:
    data = found[1].translate(_STANDARD)
    if not data.endswith("="):
        data += "=" * (-len(data) % 4)
    kind = kind_of(data)
    image = None if kind is None or len(data) * 3 // 4 > LARGEST else _whole(kind, data)
    if image is None:
        return found[0]
    images.add(image)
    return mark(kind, data, image)


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
