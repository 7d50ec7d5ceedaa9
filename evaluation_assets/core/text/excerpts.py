"""Long texts cut at the end, or in the middle: how they begin and how they end says most about them."""


def beginning(text: str, limit: int) -> str:
    """The text, cut to `limit` characters, of which the last is an ellipsis."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


_END = 60
"""Characters of the end of a text that is cut in its middle."""


def in_short(text: str, limit: int) -> str:
    """The text, cut in its middle to `limit` characters, of which one is an ellipsis: how it ends says much, too."""
    return text if len(text) <= limit else f"{text[: limit - _END - 1]}…{text[-_END:]}"


def without_middle(text: str, head: int, tail: int, mark: str) -> str:
    """The first `head` and the last `tail` characters, and between them `mark` with the number of those left out."""
    end = len(text) - tail
    return f"{text[:head]}\n{mark.format(end - head)}\n{text[end:]}"
