"""Secrets taken out of texts, in every form in which they may stand there."""

import base64
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from urllib.parse import quote, quote_plus

from evaluation_assets.core.text.plain_text import Visible, visible

MASKED = "[masked]"

_SHORTEST = 6
"""Shorter values (`1`, `true`, `info`) are no keys, and their removal would spoil results."""

_SHORTEST_WORD = 8
"""Of a value such as `Bearer KEY`, words of this length are masked by themselves."""


class Mask:
    """Replaces secrets in texts: as they are, and as JSON, URLs, base64 and hexadecimal digits write them.

    Characters that are not seen hide none.
    """

    def __init__(self, values: Iterable[str] = ()) -> None:
        secrets = {part for value in values for part in (value.strip(), *_words(value)) if len(part) >= _SHORTEST}
        forms = {form for secret in secrets for form in _forms(secret) if len(form) >= _SHORTEST}
        longest_first = sorted(map(visible, forms), key=lambda form: (-len(form), form))
        self._pattern = re.compile("|".join(map(re.escape, longest_first))) if forms else None

    def __call__(self, text: str) -> str:
        """The text without secrets."""
        if self._pattern is None:
            return text
        seen, pieces, kept = Visible(text), [], 0
        for found in self._pattern.finditer(seen.text):
            start, end = seen.span(*found.span())
            pieces += [text[kept:start], MASKED]
            kept = end
        return "".join([*pieces, text[kept:]])


def masked(value: Any, mask: Callable[[str], str]) -> Any:
    """A JSON value with every text masked.

    Raises:
        RecursionError: it is nested too deeply.
    """
    if isinstance(value, dict):
        return {name: masked(item, mask) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [masked(item, mask) for item in value]
    return mask(value) if isinstance(value, str) else value


_HOLDS_A_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)


def environment_mask(more: Iterable[str] = ()) -> Mask:
    """A mask of the variables whose names say that they hold a secret, and of `more` values."""
    return Mask([*more, *(value for name, value in os.environ.items() if _HOLDS_A_SECRET.search(name))])


def _words(value: str) -> list[str]:
    return [word for word in value.split() if len(word) >= _SHORTEST_WORD]


def _forms(secret: str) -> Iterator[str]:
    data = secret.encode("utf-8", "surrogateescape")
    yield secret
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret, ensure_ascii=False)[1:-1]
    yield repr(secret)[1:-1]
    yield quote(data, safe="")
    yield quote_plus(data)
    yield data.hex()
    yield data.hex().upper()
    yield base64.b64encode(data).decode()
    yield base64.urlsafe_b64encode(data).decode()
    # Inside a longer text, base64 has three forms, by where the secret begins; its ends depend on what is around it.
    for offset in range(3):
        encoded = base64.b64encode(b"\0" * offset + data).decode()
        whole = encoded[(offset * 8 + 5) // 6 : (offset + len(data)) * 8 // 6]
        yield whole
        yield whole.replace("+", "-").replace("/", "_")
