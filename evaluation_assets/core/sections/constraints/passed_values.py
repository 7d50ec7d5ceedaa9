"""Values of results that are passed into the arguments of later calls."""

from collections.abc import Iterator, Sequence
from typing import Any

from evaluation_assets.core.sections.constraints.conditions import is_meant
from evaluation_assets.core.sections.constraints.json_paths import selected
from evaluation_assets.core.sections.constraints.patterns import all_in, found_in
from evaluation_assets.core.sections.constraints.seen_calls import SeenCall, texts_in
from evaluation_assets.core.sections.constraints.settings import PassedValues
from evaluation_assets.core.sections.constraints.value_index import ValueIndex

_MOST_VALUES = 1_000
"""Values that are taken from one result."""


def passed(rule: PassedValues, calls: Sequence[SeenCall]) -> Iterator[tuple[SeenCall, SeenCall]]:
    """Calls whose arguments contain a value of an earlier result, each with the call that the value came from.

    Raises:
        NotChecked: a regular expression takes too long, or a JSONPath selects too much.
    """
    values = ValueIndex(rule.min_length)
    for call in calls:
        if values and is_meant(rule.to, call):
            given = call.arguments_text if call.arguments is None else "\n".join(texts_in(call.arguments))
            origin = values.origin_in(given)
            if origin is not None:
                yield call, origin
        if call.result is not None and is_meant(rule.source, call):
            for value in _values(rule, call)[:_MOST_VALUES]:
                values.add(value, call)


def _values(rule: PassedValues, call: SeenCall) -> list[str]:
    if rule.values is not None:
        return [text for value in selected(rule.values, call.result_value) for text in texts_in(value)]
    pattern = rule.matches or ""
    if call.result_value is None:
        return list(_in_text(pattern, call.result or ""))
    return list(_in_json(pattern, call.result_value))


def _in_text(pattern: str, text: str) -> Iterator[str]:
    for match in all_in(pattern, text, _MOST_VALUES):
        if match.re.groups:
            yield match[1] or ""
            continue
        end = text.find("\n", match.end())
        rest = text[match.end() : None if end < 0 else end].strip(" \t\r:=\"'`,;")
        yield rest
        yield from rest.split()[:1]


def _in_json(pattern: str, document: Any) -> Iterator[str]:
    pending = [document]
    while pending:
        match pending.pop():
            case dict() as members:
                for key, value in members.items():
                    if found_in(pattern, key) is None:
                        pending.append(value)
                    else:
                        yield from texts_in(value)
            case list() as items:
                pending.extend(items)
            case str() as text if (match := found_in(pattern, text)) is not None:
                yield (match[1] or "") if match.re.groups else text
            case _:
                pass
