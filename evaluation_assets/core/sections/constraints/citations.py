"""Whether an answer cites a result: a text of the result occurs in it as whole words."""

import re
from collections.abc import Iterator, Sequence

from evaluation_assets.core.sections.constraints.json_paths import selected
from evaluation_assets.core.sections.constraints.seen_calls import SeenCall, texts_in

_LONGEST = 200_000
"""Characters of a result that are looked at; no answer cites more."""

_HAS_DIGIT = re.compile(r"[^\s,;()\[\]{}\"']*\d[^\s,;()\[\]{}\"']*")


def is_cited(answer: str, calls: Sequence[SeenCall], values: str | None, min_length: int) -> bool:
    """Whether a text of the result of any of the calls occurs in an answer; case and white space do not matter.

    Texts of a result are its values if it is JSON, else its lines and its words with a digit. `values` is a JSONPath
    of those that count.

    Raises:
        NotChecked: the JSONPath selects too much.
    """
    said = _plain(answer)
    for call in calls:
        for text in _texts(call, values):
            wanted = _plain(text).strip(".,;:!?")
            if len(wanted) >= min_length and _occurs(wanted, said):
                return True
    return False


def _texts(call: SeenCall, values: str | None) -> Iterator[str]:
    if values is not None:
        for value in selected(values, call.result_value):
            yield from texts_in(value)
    elif call.result_value is not None:
        yield from texts_in(call.result_value)
    else:
        text = (call.result or "")[:_LONGEST]
        yield from text.splitlines()
        yield from _HAS_DIGIT.findall(text)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _occurs(wanted: str, said: str) -> bool:
    """Whether a text occurs in another, not as a part of a longer word or number."""
    start = said.find(wanted)
    while start >= 0:
        end = start + len(wanted)
        before, after = said[start - 1 : start], said[end : end + 1]
        if not (before.isalnum() and wanted[0].isalnum()) and not (after.isalnum() and wanted[-1].isalnum()):
            return True
        start = said.find(wanted, start + 1)
    return False
