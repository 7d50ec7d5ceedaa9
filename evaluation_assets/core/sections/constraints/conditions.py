"""Whether values and calls fulfil what constraints say about them."""

import posixpath
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from evaluation_assets.core.sections.constraints.json_paths import selected
from evaluation_assets.core.sections.constraints.patterns import found_in, has_name
from evaluation_assets.core.sections.constraints.seen_calls import SeenCall
from evaluation_assets.core.sections.constraints.settings import CallPattern, Condition
from evaluation_assets.core.text.exact_json import is_number


def is_meant(pattern: CallPattern, call: SeenCall) -> bool:
    """Whether a pattern means a call.

    Raises:
        NotChecked: it cannot be told within the limits.
    """
    if not has_name(pattern.tool, call.tool) or (pattern.agent is not None and not has_name(pattern.agent, call.agent)):
        return False
    if pattern.fails is not None and (call.result is None or call.failed is not pattern.fails):
        return False
    if pattern.arguments_text is not None and not fulfils(pattern.arguments_text, [call.arguments_text]):
        return False
    if pattern.result is not None and not fulfils(pattern.result, [] if call.result is None else [call.result]):
        return False
    return _all_fulfilled(pattern.arguments, call.arguments) and _all_fulfilled(
        pattern.result_values, call.result_value
    )


def values_at(place: str, document: Any) -> list[Any]:
    """The values at the name of a member, or at a JSONPath that begins with `$`.

    Raises:
        NotChecked: they are too many.
    """
    if place.startswith("$"):
        return selected(place, document)
    return [document[place]] if isinstance(document, dict) and place in document else []


def fulfils(condition: Condition, values: Sequence[Any]) -> bool:
    """Whether any of the values fulfils a condition. Without values only `exists: false` is fulfilled.

    Raises:
        NotChecked: a regular expression takes too long.
    """
    if not values:
        return condition.exists is False
    return condition.exists is not False and any(_fulfils(condition, value) for value in values)


def _all_fulfilled(conditions: Mapping[str, Condition], document: Any) -> bool:
    return all(fulfils(condition, values_at(place, document)) for place, condition in conditions.items())


def _fulfils(condition: Condition, value: Any) -> bool:
    return _compares(condition, value) and _is_within(condition, value) and _matches(condition, value)


def _compares(condition: Condition, value: Any) -> bool:
    if condition.equals is not None and not _same(condition.equals, value):
        return False
    if condition.not_equals is not None and _same(condition.not_equals, value):
        return False
    if condition.one_of is not None and not any(_same(each, value) for each in condition.one_of):
        return False
    return condition.not_one_of is None or not any(_same(each, value) for each in condition.not_one_of)


def _is_within(condition: Condition, value: Any) -> bool:
    if condition.inside is not None and not (isinstance(value, str) and is_below(condition.inside, value)):
        return False
    if condition.outside is not None and (not isinstance(value, str) or is_below(condition.outside, value)):
        return False
    limits = (condition.above, condition.below, condition.at_least, condition.at_most)
    if limits == (None,) * 4:
        return True
    if not is_number(value):
        return False
    above, below, at_least, at_most = limits
    return (
        (above is None or value > above)
        and (below is None or value < below)
        and (at_least is None or value >= at_least)
        and (at_most is None or value <= at_most)
    )


def _matches(condition: Condition, value: Any) -> bool:
    if condition.matches is None and condition.not_matches is None:
        return True
    text = value if isinstance(value, str) else orjson.dumps(value, default=str).decode()
    if condition.matches is not None and found_in(condition.matches, text) is None:
        return False
    return condition.not_matches is None or found_in(condition.not_matches, text) is None


def is_below(folder: str, path: str) -> bool:
    """Whether a path is a folder or in it. `..` is resolved; relative paths are relative to the folder."""
    root = posixpath.normpath(folder)
    whole = posixpath.normpath(posixpath.join(root, path.removeprefix("file://")))
    return whole == root or whole.startswith(root.rstrip("/") + "/")


def _same(expected: Any, value: Any) -> bool:
    """Equality of JSON values: `true` is not a number."""
    return isinstance(expected, bool) is isinstance(value, bool) and expected == value
