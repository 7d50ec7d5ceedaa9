"""What the results of tools hold, where they are JSON or printed by Python, whatever is put around them."""

import json
import re
from typing import Any

from evaluation_assets.core.traces.formats.untyped import printed_value
from evaluation_assets.core.traces.trajectories.model import JsonObject, json_document
from evaluation_assets.core.traces.trajectories.wrapped_results import value_inside

_BEGINS = re.compile(r"[{\[]")
_PRINTED = re.compile(r"[\[\s]*(?:\{\s*)?'")
_HEADING = 80
"""Characters before a value, such as `Result:`."""

_LONGEST = 200_000
_DEEPEST = 3
_JSON = json.JSONDecoder()


def document_of(result: str) -> JsonObject | list[Any] | None:
    """The object or list that a result is, or is put around; `None` if it is none."""
    document = json_document(result)
    if document is None and len(result) <= _LONGEST:
        document = _printed(result)
    for _ in range(_DEEPEST):
        inner = value_inside(document)
        if isinstance(inner, str):
            inner = json_document(inner)
        if inner is None:
            break
        document = inner
    return document


def _printed(result: str) -> JsonObject | list[Any] | None:
    """A value below a heading or above a remark, or as Python prints it."""
    begins = _BEGINS.search(result, 0, _HEADING)
    if begins is None:
        return None
    try:
        value, _ = _JSON.raw_decode(result, begins.start())
    except (ValueError, RecursionError):
        is_printed = _PRINTED.match(result, begins.start()) is not None
        value = printed_value(result[begins.start() :].strip()) if is_printed else None
    is_record = isinstance(value, dict) or (isinstance(value, list) and value and isinstance(value[0], dict | list))
    return value if is_record else None
