"""JSON values of unknown type as the type that is needed, for data not read field by field (see `unmapped_fields`)."""

from collections.abc import Iterator
from typing import Any

import orjson

from evaluation_assets.core.trajectories.model import JsonObject, json_object


def object_in(value: Any) -> JsonObject:
    """An object; everything else is an empty one."""
    return value if isinstance(value, dict) else {}


def list_in(value: Any) -> list[Any]:
    """A list; everything else is an empty one."""
    return value if isinstance(value, list) else []


def objects_in(value: Any) -> Iterator[JsonObject]:
    """The objects in a list; nothing else has any."""
    yield from (item for item in list_in(value) if isinstance(item, dict))


def at(value: Any, key: str) -> Any:
    """What an object has under this key."""
    return object_in(value).get(key)


def first_text(value: Any, *keys: str) -> str | None:
    """The first of these fields of an object that is a text and not empty."""
    return next((found for key in keys if isinstance(found := at(value, key), str) and found), None)


def as_object(value: Any) -> JsonObject | None:
    """An object, or the one that a JSON text is: arguments and settings are written both ways."""
    return json_object(value) if isinstance(value, str) else value if isinstance(value, dict) else None


def decoded(value: Any) -> Any:
    """What a JSON text of an object or a list says; everything else as it is."""
    if not isinstance(value, str) or not value.lstrip().startswith(("{", "[")):
        return value
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError:
        return value
