"""JSON with integers of any length: orjson stops at 64 bits, and models write longer ones."""

import json
import re
from dataclasses import asdict, is_dataclass
from typing import Any

import orjson

_LONG, _LONG_BYTES = re.compile(r"\d{19}"), re.compile(rb"\d{19}")


def dumped(value: Any, *, sort_keys: bool = False) -> bytes:
    """A value or dataclass as JSON."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS if sort_keys else None)
    except orjson.JSONEncodeError:
        return json.dumps(
            value, ensure_ascii=False, separators=(",", ":"), sort_keys=sort_keys, default=_fields
        ).encode()


def loads(text: str | bytes) -> Any:
    """The value of a JSON text.

    Raises:
        orjson.JSONDecodeError: it is none.
    """
    value = orjson.loads(text)
    long = _LONG.search(text) if isinstance(text, str) else _LONG_BYTES.search(text)
    return json.loads(text) if long else value  # orjson makes floats of longer integers


def _fields(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    raise TypeError(f"{type(value).__name__} is no JSON")
