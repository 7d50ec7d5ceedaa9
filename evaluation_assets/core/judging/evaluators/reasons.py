"""The reasons of scores, in the words of metrics, and why there is none."""

from collections.abc import Mapping
from typing import Any

import orjson

MISSING: Mapping[str, str] = {
    "output": "there is no final answer",
    "expected": "there is no reference answer",
    "context": "no tool returned anything",
    "calls": "there is no tool call",
}
"""Why a metric cannot judge a case, by what the case lacks."""


class NoScore(Exception):
    """A metric that has ended without a score, because of what its model replied. The message says why."""


_LONGEST_DETAIL = 2000


def told(reason: object, details: Mapping[str, Any]) -> str | None:
    """The reasoning of a metric with what else it says about its score; `None` where it says nothing."""
    more = ", ".join(f"{name}: {_value(value)}" for name, value in details.items())[:_LONGEST_DETAIL]
    text = reason if isinstance(reason, str) else ""
    return "\n".join(part for part in (text.strip(), more) if part) or None


def _value(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value, default=str).decode()
