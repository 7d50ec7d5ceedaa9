"""Long texts cut at the end, or in the middle: how they begin and how they end says most about them."""


def beginning(text: str, limit: int) -> str:
    """The text, cut to `limit` characters, of which the last is an ellipsis."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def without_middle(text: str, head: int, tail: int, mark: str) -> str:
    """The first `head` and the last `tail` characters, and between them `mark` with the number of those left out."""
    end = len(text) - tail
    return f"{text[:head]}\n{mark.format(end - head)}\n{text[end:]}"
