"""Whether a drop has changed since its report."""

from collections.abc import Mapping
from typing import Any

from evaluation_assets.core.intake.drops import Drop


def has_changed(drop: Drop, report: Mapping[str, Any], read: Mapping[str, Any]) -> bool:
    """Whether a drop is no longer what its report was made from.

    Args:
        drop: as it lies in the drops folder.
        report: metadata of its last report.
        read: metadata of its last reading.
    """
    content = read.get("content") if read.get("stamp") == drop.stamp() else drop.content_hash()
    return content != report.get("content")
