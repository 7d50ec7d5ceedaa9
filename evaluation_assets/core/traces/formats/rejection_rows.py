"""Codec from rejections to rows of `unreadable_records`."""

from typing import Any

from evaluation_assets.core.text.well_formed import well_formed
from evaluation_assets.core.traces.formats.base import Rejection

Row = dict[str, Any]


def unreadable_row(drop: str, rejection: Rejection) -> Row:
    """A row of `unreadable_records`."""
    return {
        "drop": drop,
        "source": rejection.source,
        "line": rejection.line,
        "stage": "read",
        "reason": rejection.reason,
        "detail": well_formed(rejection.detail),
        "raw": well_formed(rejection.raw),
    }
