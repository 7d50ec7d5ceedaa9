"""Coerce JSON values of unknown type, for data that is not read field by field (see `unmapped_fields`)."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import orjson

from evaluation_assets.core.text.exact_json import loads
from evaluation_assets.core.text.python_source import literal
from evaluation_assets.core.traces.formats.files.json_values import as_json
from evaluation_assets.core.traces.trajectories.model import JsonObject, json_object


def in_both_cases(*names: str) -> tuple[str, ...]:
    """Names of fields in snake case, each with the same name in camel case behind it."""
    words = (name.split("_") for name in names)
    return tuple(
        dict.fromkeys(
            form
            for first, *more in words
            for form in ("_".join((first, *more)), first + "".join(word.title() for word in more))
        )
    )


@lru_cache(maxsize=4096)  # of each message of a log
def bare(name: str) -> str:
    """A name in lower case, without blanks and punctuation."""
    return re.sub(r"[\W_]+", "", name).lower()


def object_in(value: Any) -> JsonObject:
    """The value if it is an object, or an empty one."""
    return value if isinstance(value, dict) else {}


def list_in(value: Any) -> list[Any]:
    """The value if it is a list, or an empty one."""
    return value if isinstance(value, list) else []


def listed(value: Any) -> list[Any]:
    """The value if it is a list, or a list of it."""
    return value if isinstance(value, list) else [value]


def objects_in(value: Any) -> Iterator[JsonObject]:
    """The objects in a list; empty for any other value."""
    yield from (item for item in list_in(value) if isinstance(item, dict))


def at(value: Any, key: str) -> Any:
    """The value of a key, if the value is an object."""
    return object_in(value).get(key)


def without_none(data: Mapping[str, Any]) -> JsonObject:
    """An object without the fields that are null."""
    return {key: value for key, value in data.items() if value is not None}


def first_text(value: Any, *keys: str) -> str | None:
    """The first of these fields that is a non-empty text."""
    return next((text for key in keys if isinstance(text := at(value, key), str) and text), None)


def as_number(value: Any) -> float | None:
    """A number; `None` for anything else, texts of numbers among them."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def number_in(value: Any) -> float | None:
    """A finite number, or a text that is one; `None` for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if number - number == 0 else None


def with_numbers(data: Mapping[str, Any]) -> JsonObject:
    """An object with the numbers that it has as texts."""
    values = {key: parsed(value) if isinstance(value, str) else value for key, value in data.items()}
    return {key: data[key] if as_number(value) is None else value for key, value in values.items()}


def as_object(value: Any) -> JsonObject | None:
    """An object, given as such or as JSON text, since arguments and settings can be either."""
    return json_object(value) if isinstance(value, str) else value if isinstance(value, dict) else None


def printed_value(text: str) -> Any:
    """A value as Python prints it; the text if it is something else. Only literals are parsed, nothing is executed."""
    try:
        return as_json(literal(text))
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):  # TypeError: a list as a key, a set
        return text


def decoded(value: Any) -> Any:
    """Parse JSON text of an object or a list; other values are returned unchanged."""
    return parsed(value) if isinstance(value, str) and value.lstrip().startswith(("{", "[")) else value


def parsed(text: str) -> Any:
    """The JSON value that a text is; the text if it is none."""
    try:
        return loads(text)
    except orjson.JSONDecodeError:
        return text
