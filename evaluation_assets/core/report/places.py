"""Places in a report that a figure of its summary leads to: rows of the runs table, selected by a query."""

import re

from evaluation_assets.core.report.headline import Rate
from evaluation_assets.core.text.report_addresses import condition, runs_place

_NAME = re.compile(r"[a-z][A-Za-z0-9_-]*\.[A-Za-z0-9_.-]+")
"""Names of figures that a query can hold."""


def rows_where(*conditions: str | tuple[str, str]) -> str:
    """The place of the rows of the runs table that meet all conditions, each as text or as a field and its value."""
    return runs_place(" ".join(each if isinstance(each, str) else condition(*each) for each in conditions))


def rows_with(prefix: str, name: str) -> str:
    """The place of the runs that have a figure, such as `clip`, `clarity`; of all runs if a query cannot name it."""
    field = f"{prefix}.{name}"
    return rows_where(f"{field}>=0") if _NAME.fullmatch(field) else rows_where()


def rows_counted(rate: Rate) -> str:
    """The place of the runs that a rate of the headline counts as correct."""
    if rate.measure in ("success", "passed"):
        return rows_where("recorded:pass" if rate.measure == "success" else "suite:pass")
    field = f"trajectory.{rate.criterion}"
    return rows_where(f"{field}>={rate.threshold}") if _NAME.fullmatch(field) else rows_where()
