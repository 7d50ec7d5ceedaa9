"""The text that stands for an image in a message: the mark of one that is kept, else what its data is."""

import re
from typing import Any

from evaluation_assets.core.traces.formats.image_data import HEAD, kind_of, mark
from evaluation_assets.core.traces.formats.unmapped_fields import Fields
from evaluation_assets.core.traces.trajectories.images import is_mark

_HOLDERS = (
    "image_url", "image_urls", "source", "image", "inlineData", "inline_data", "data", "bytes", "url", "result",
    "output", "base64", "base64_image", "base64Data", "data_uri", "value",
)  # fmt: skip
"""Fields in which formats hold the data of an image, or an object with it."""

_MEDIA_TYPES = ("mediaType", "mimeType", "media_type", "mime_type")
_DEEPEST = 4
_DATA_URL = re.compile(r"data:[^,]{0,200}?(;base64)?,", re.IGNORECASE)
_BASE64 = re.compile(rf"[A-Za-z0-9+/]{{{HEAD}}}")


def image_text(holder: Fields) -> str:
    """The text that stands for an image, of the object that holds it: `[image: image/png, 34 kB, 0f3c5e7a9b1d2468]`.

    The text of one that is not kept ends with its size; it is `[image]` if the object has no data, but an address or an
    ID of a file. These are counted as unmapped. The kind that the source states is not believed.
    """
    for key in _HOLDERS:
        text = _described(holder.peek(key))
        if text is not None:
            holder.set_aside(*[key] if is_mark(text) else [])
            return text
    return "[image]"


def states_image(part: Fields) -> bool:
    """Whether a part of any kind of media says that it is an image."""
    return any(str(part.peek(key)).startswith("image/") for key in _MEDIA_TYPES)


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
    """The description of data in base64, or in a data URL, and a mark as it is; `None` for other texts."""
    if is_mark(text):
        return text
    url = _DATA_URL.match(text)
    if url is not None and url[1] is None:
        return f"[image: not PNG, JPEG, GIF or WebP, {len(text) - url.end()} bytes]"  # percent-encoded, as SVG often is
    if url is None and _BASE64.match(text) is None:
        return None
    data = text if url is None else text[url.end() :]
    return mark(kind_of(data), data)
