"""Which drops would be evaluated differently now."""

from collections.abc import Mapping
from typing import Any

from evaluation_assets.core.intake.drops import Drop


def is_stale(drop: Drop, report: Mapping[str, Any] | None, read: Mapping[str, Any] | None, evaluation_key: str) -> bool:
    """Whether a drop was never reported, has changed, or would be evaluated differently now.

    Args:
        drop: as it lies in the drops folder.
        report: metadata of its last report, with the evaluation key that it was made with.
        read: metadata of its last reading.
        evaluation_key: stands for judges, rubrics, settings and code as they are now.
    """
    if report is None or read is None or report.get("evaluation_key") != evaluation_key:
        return True
    content = read.get("content") if read.get("stamp") == drop.stamp() else drop.content_hash()
    return content != report.get("content")
