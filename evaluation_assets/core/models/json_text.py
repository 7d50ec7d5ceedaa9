"""JSON with integers of any length, which end for orjson at 64 bits, and with lone surrogates, which it refuses.

Models and servers write both.
"""

import json
import re
from dataclasses import asdict, is_dataclass
from typing import Any

import orjson

from evaluation_assets.core.text.well_formed import well_formed_json

_LONG, _LONG_BYTES = re.compile(r"\d{19}"), re.compile(rb"\d{19}")


def dumped(value: Any, *, sort_keys: bool = False) -> bytes:
    """A value or dataclass as JSON. Lone surrogates become `?`."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS if sort_keys else None)
    except orjson.JSONEncodeError:
        return json.dumps(
            value, ensure_ascii=False, separators=(",", ":"), sort_keys=sort_keys, default=_fields
        ).encode(errors="replace")


def loads(text: str | bytes) -> Any:
    """The value of a JSON text, with well-formed texts.

    Raises:
        orjson.JSONDecodeError: it is none, or nested too deeply.
    """
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as problem:
        try:
            return well_formed_json(json.loads(text, parse_constant=_refused))
        except (ValueError, RecursionError):
            raise problem from None
    long = _LONG.search(text) if isinstance(text, str) else _LONG_BYTES.search(text)
    return json.loads(text) if long else value  # orjson makes floats of longer integers


def _refused(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _fields(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    raise TypeError(f"{type(value).__name__} is not JSON")
