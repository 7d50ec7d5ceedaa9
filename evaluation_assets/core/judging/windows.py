"""Fit texts into a context window: sizes in bytes, cutting in the middle, fair shares."""

import math
from collections.abc import Sequence

from evaluation_assets.core.text.excerpts import without_middle

BYTES_PER_TOKEN = 3.0
"""A careful estimate: English has about 4, code and Chinese about 3. Used to stay inside a context window only."""

MARK_BYTES = 64
"""The mark of a cut is not longer."""


def size(text: str) -> int:
    """Bytes in UTF-8."""
    return len(text) if text.isascii() else len(text.encode())


def estimated_tokens(*texts: str) -> int:
    """About as many tokens as texts can have at most, in any language."""
    return math.ceil(sum(map(size, texts)) / BYTES_PER_TOKEN)


def cut_in_the_middle(text: str, limit: int) -> str:
    """The text, or so many bytes of its two ends with a mark that says how much is missing."""
    if size(text) <= limit:
        return text
    data, half = text.encode(), max(limit // 2, 1)
    head, tail = data[:half].decode(errors="ignore"), data[-half:].decode(errors="ignore")
    return without_middle(text, len(head), len(tail), "[... {} characters are left out here ...]")


def fair_limits(sizes: Sequence[int], room: int) -> list[int]:
    """How many bytes of each text are shown in a room: short ones whole, the others equal shares of what they leave.

    The marks of the cuts are in the room. Nothing is cut where all of it fits.
    """
    limits = list(sizes)
    left, waiting = room, len(sizes)
    for index in sorted(range(len(sizes)), key=sizes.__getitem__):
        share = max(left, 0) // waiting
        if sizes[index] > share:
            limits[index] = max(share - MARK_BYTES, 1)
        left -= min(sizes[index], share)
        waiting -= 1
    return limits
