"""Days that people write in no notation of their own: `6/12`, `am 12.6.`, and `3` in `3 to 7 July`.

They support what is done with them, and claim nothing: `6/12` may be a fraction, too.
"""

import re
from collections.abc import Iterator

from evaluation_assets.core.sections.findings.evidence.values import values_in

_DAY = r"(?:0?[1-9]|[12]\d|3[01])(?!\d)"
_PAIR = re.compile(
    rf"(?<![\w.,/:+-])(?P<a>{_DAY})(?:/(?P<b>{_DAY})(?![\w/])|\.\s?(?P<c>{_DAY})\.(?!\d))"
    rf"|\b(?:am|ab|vom|zum|bis|den|dem|le|du|au|il|dal|al) (?P<a2>{_DAY})\.(?P<c2>{_DAY})(?![.\d])",
    re.IGNORECASE,
)
_JOINS = (
    r"(?:\s?[-–—~〜至到]\s?|\s?から\s?|\s?부터\s?"
    r"|\s(?:to|and|or|through|until|till|thru|bis|bis zum|und|oder|au|et|ou|al|y|o|e|a|до|по|и|đến)\s)"
    r"(?:(?:the|den|dem|le|el|il) )?"
)
_ORDINAL = r"(?:st|nd|rd|th|\.|er|º)?"
_BEFORE = re.compile(rf"(?<![\w.,/:])(?P<d>{_DAY}){_ORDINAL}{_JOINS}$", re.IGNORECASE)
_AFTER = re.compile(rf"{_JOINS}(?P<d>{_DAY})(?![:/]|[.,]\d|\s?(?:[ap]\.?m\b|uhr\b|h\b|[時时点點시]))", re.IGNORECASE)
_HAS_MONTH_NAME = re.compile(r"[^\W\d_]{3}|[月월]")
_LONGEST_JOIN = 20


def loose_days(text: str) -> Iterator[str]:
    """The days, as forms of values: `6-12`, or `2026-7-3` if the day beside it has its year.

    Two numbers without a year are read as day and month, and beside a slash as month and day, too.
    """
    for match in _PAIR.finditer(text):
        day, month = int(match["a"] or match["a2"]), int(match["b"] or match["c"] or match["c2"])
        readings = {(month, day), (day, month)} if match["b"] else {(month, day)}
        yield from (f"{month}-{day}" for month, day in readings if month <= 12)
    for value in values_in(text):
        if value.kind == "date" and _HAS_MONTH_NAME.search(text, value.start, value.end) is not None:
            joined = (
                _BEFORE.search(text, max(0, value.start - _LONGEST_JOIN), value.start),
                _AFTER.match(text, value.end),
            )
            for match in filter(None, joined):
                yield from (f"{form.rpartition('-')[0]}-{int(match['d'])}" for form in value.forms)
