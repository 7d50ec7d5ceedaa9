"""Texts for comparison: two that read the same are equal, however their characters are written."""

from bisect import bisect_right
from unicodedata import normalize


def folded(text: str) -> str:
    """The text in Unicode's form NFKC, without case: `ＦＵＬＬ` is `full`, and an accent is a part of its letter."""
    return normalize("NFKC", normalize("NFKC", text).casefold())


def place_in(text: str, at: int) -> int:
    """The offset in a text of a place in `folded(text)`."""
    if text.isascii():
        return at
    return bisect_right(range(len(text)), at, key=lambda end: len(folded(text[: end + 1])))
