"""Records of lists in results, and which of them people speak of."""

import re
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from typing import Any

from evaluation_assets.core.sections.findings.evidence.resolved import weekdays_named
from evaluation_assets.core.sections.findings.evidence.results import document_of, table_of
from evaluation_assets.core.sections.findings.evidence.values import date_of, values_in
from evaluation_assets.core.traces.trajectories.calls import inner

_MOST_LISTS = 20
_MOST_RECORDS = 50
_MOST_FIELDS = 30
_LONGEST_READ = 100_000
_DEEPEST = 6
_LONGEST_FIELD = 80
_ID = re.compile(r"(?=\D*\d)[\w.#/-]{2,40}")
_WORD = re.compile(r"[^\W\d_]{4,}|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")
_ENOUGH = 2
"""Facts about a record that need not be said again after the call."""

Facts = AbstractSet[str]


class _List:
    """The records of one list: their IDs, and the facts that tell each from the others."""

    def __init__(self, records: Sequence[Mapping[str, str]]) -> None:
        self.records = records
        own = [{(name, value) for name, value in record.items()} for record in records]
        facts = [{fact for _, value in fields for fact in facts_of(value)} for fields in own]
        self.facts = [
            facts[at] - {fact for other, each in enumerate(facts) if other != at for fact in each}
            for at in range(len(records))
        ]

    def with_id(self, value: str) -> int | None:
        """The only record that has an ID, if others have another one in its field."""
        having = [
            at
            for at, record in enumerate(self.records)
            if any(value == each and self._tells_apart(name) for name, each in record.items())
        ]
        return having[0] if len(having) == 1 else None

    def _tells_apart(self, name: str) -> bool:
        values = [record.get(name, "") for record in self.records]
        return len(set(values)) == len(values)


class ListedRecords:
    """The lists of records in the last results."""

    def __init__(self) -> None:
        self._lists: deque[_List] = deque(maxlen=_MOST_LISTS)

    def add(self, result: str) -> None:
        """Read the next result."""
        if len(result) > _LONGEST_READ:
            return
        document = document_of(result)
        lists = [table_of(result) or []] if document is None else _lists_in(document, _DEEPEST)
        for records in lists:
            plain = [_plain(record) for record in records]
            if 1 < len(plain) <= _MOST_RECORDS:
                self._lists.append(_List(plain))

    def other_record(
        self, values: Sequence[str], elsewhere: Collection[str], said: Sequence[str], after: str
    ) -> str | None:
        """The ID of a record that a call takes while another one of its list is spoken of before and after it.

        `said` are the texts before it, of which one may list all records. `elsewhere` are the values of other calls.
        """
        spoken = [_said(text) for text in said], _said(after)
        for value in values:
            if _ID.fullmatch(value) is None:
                continue
            for records in self._lists:
                at = records.with_id(value)
                if at is not None and self._is_other(records, at, {*values, *elsewhere}, *spoken):
                    return value
        return None

    @staticmethod
    def _is_other(records: _List, at: int, taken: Collection[str], before: Sequence[Facts], after: Facts) -> bool:
        """Whether nobody says the facts of the record last before the call and after it, but those of another."""
        own, said = records.facts[at], frozenset().union(*before)
        if not own.isdisjoint(before[-1] | after):
            return False
        is_listed = not own.isdisjoint(said)
        spoken = [
            other
            for other, facts in enumerate(records.facts)
            if (facts & before[-1] and facts & after)
            or (facts & said and len(facts & after) >= _ENOUGH)
            or (not is_listed and facts & said and (facts & after or len(facts & said) >= _ENOUGH))
        ]
        return len(spoken) == 1 and not any(
            records.with_id(value) == spoken[0] for value in taken if _ID.fullmatch(value) is not None
        )


def _lists_in(value: Any, depth: int) -> Iterator[Sequence[Mapping[str, Any]]]:
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        yield value
    for item in inner(value) if depth else ():
        yield from _lists_in(item, depth - 1)


def _plain(record: Mapping[str, Any]) -> dict[str, str]:
    """The fields of a record that are short texts and numbers."""
    fields = ((name, str(value).strip()) for name, value in record.items() if isinstance(value, str | int | float))
    return dict([(name, value) for name, value in fields if len(value) <= _LONGEST_FIELD][:_MOST_FIELDS])


def facts_of(text: str) -> Iterator[str]:
    """The words, days, times, numbers and codes of a text, in any notation."""
    for word in _WORD.findall(text):
        yield word.casefold()
    for value in values_in(text):
        for form in value.forms:
            if value.kind == "date":
                yield _day_of(form)
                with suppress(ValueError):
                    if form.count("-") == 2:
                        yield f"weekday {date_of(form).weekday()}"
            elif value.kind == "code" or len(form) > 1:
                yield f"{value.kind} {form}"


def _day_of(form: str) -> str:
    return f"day {form.split('-', 1)[1] if form.count('-') == 2 else form}"


def _said(text: str) -> set[str]:
    facts = {fact for fact in facts_of(text) if not fact.startswith("weekday")}
    return facts | {f"weekday {weekday}" for weekday in weekdays_named(text)}
