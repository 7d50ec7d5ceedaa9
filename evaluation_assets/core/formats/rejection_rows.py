"""Codec from rejections to rows of `unreadable_records`."""

from typing import Any

from evaluation_assets.core.formats.base import Rejection
from evaluation_assets.core.well_formed import well_formed

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
