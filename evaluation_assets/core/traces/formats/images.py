"""Images of a trace as text: their kind, by their first bytes, and their size. Their data stays in the source."""

import re
from base64 import b64decode
from binascii import Error
from typing import Any

from evaluation_assets.core.traces.formats.unmapped_fields import Fields

_KINDS = {
    "image/png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "image/jpeg": re.compile(rb"\xff\xd8\xff"),
    "image/gif": re.compile(rb"GIF8[79]a"),
    "image/webp": re.compile(rb"RIFF....WEBP", re.DOTALL),
}
_HOLDERS = (
    "image_url", "image_urls", "source", "image", "inlineData", "inline_data", "data", "bytes", "url", "result",
    "output", "base64",
)  # fmt: skip
"""Fields in which formats hold the data of an image, or an object with it."""

_DEEPEST = 4
_HEAD = 24
"""Characters of base64 that are decoded: 18 bytes, of which the longest signature needs 12."""

_DATA_URL = re.compile(r"data:[^,]{0,200}?(;base64)?,", re.IGNORECASE)
_BASE64 = re.compile(rf"[A-Za-z0-9+/]{{{_HEAD}}}")


def image_text(holder: Fields) -> str:
    """The text that stands for an image, e.g. `[image: image/png, 34 kB]`, of the object that holds it.

    `[image]` if the object has no data, but an address or an ID of a file. The kind that the source states is not
    believed. The fields are not taken, so that the image is counted as unmapped.
    """
    return next((text for key in _HOLDERS if (text := _described(holder.peek(key))) is not None), "[image]")


def _described(value: Any, depth: int = 0) -> str | None:
    if isinstance(value, str):
        return _of_text(value)
    if depth == _DEEPEST:
        return None
    inner = value[:1] if isinstance(value, list) else []
    if isinstance(value, dict):
        inner = [value[key] for key in _HOLDERS if key in value]
    return next((text for each in inner if (text := _described(each, depth + 1)) is not None), None)


def _of_text(text: str) -> str | None:
    """The description of data in base64, or in a data URL; `None` for other texts. Only the beginning is decoded."""
    url = _DATA_URL.match(text)
    start = 0 if url is None else url.end()
    size = len(text) - start
    if url is not None and url[1] is None:
        return _stated("other", size)  # percent-encoded, as SVG often is
    if url is None and _BASE64.match(text) is None:
        return None
    try:
        head = b64decode(text[start : start + _HEAD], validate=True)
    except (Error, ValueError):
        head = b""
    kind = next((kind for kind, signature in _KINDS.items() if signature.match(head)), "other")
    return _stated(kind, size * 3 // 4 - text[-2:].count("="))


def _stated(kind: str, size: int) -> str:
    shown = f"{size} bytes" if size < 1000 else f"{size / 1000:,.0f} kB" if size < 1e6 else f"{size / 1e6:,.1f} MB"
    return f"[image: {'not PNG, JPEG, GIF or WebP' if kind == 'other' else kind}, {shown}]"
