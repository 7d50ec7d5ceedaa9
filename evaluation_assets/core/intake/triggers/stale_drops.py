"""Whether a drop has changed since its report, or what its report was made from."""

from collections.abc import Mapping
from functools import cache, cached_property
from typing import Any

from evaluation_assets.core.intake.drops import Drop, InvalidDrop
from evaluation_assets.core.lake.tables import TABLES, TASK_METRICS
from evaluation_assets.core.suites.formats.registry import find_suite, load_suite
from evaluation_assets.core.suites.suite import InvalidSuite
from evaluation_assets.core.system.installation import Installation

_OF_DROPS = tuple(table.name for table in TABLES.values() if not (table.per_judge or table.per_sink or table.whole))
"""Every evaluation of a drop writes these tables."""


def has_changed(drop: Drop, report: Mapping[str, Any], read: Mapping[str, Any]) -> bool:
    """Whether a drop is no longer what its report was made from.

    Args:
        drop: as it lies in the drops folder.
        report: metadata of its last report.
        read: metadata of its last reading.
    """
    content = read.get("content") if read.get("stamp") == drop.stamp() else drop.content_hash()
    return content != report.get("content")


class Results:
    """What lies in an installation of the results of drops, and the suites that they are measured by."""

    def __init__(self, home: Installation) -> None:
        self._home = home
        self._version = cache(self._version_of)

    def are_complete(self, drop: Drop) -> bool:
        """Whether a drop has its report and its metrics, and no kind of table was removed as a whole."""
        is_reported = (self._home.reports(drop.key) / "report.json").exists()
        return is_reported and self._home.table(drop.key, TASK_METRICS.name).exists and self._has_tables

    @cached_property
    def _has_tables(self) -> bool:
        return all((self._home.lake / name).exists() for name in _OF_DROPS)

    def has_suite(self, drop: Drop, measured: Mapping[str, Any]) -> bool:
        """Whether a drop would be measured by the suite that it was: `measured` is the metadata of its results."""
        try:
            name = drop.sidecar().suite
        except InvalidDrop:
            return True  # it says so when it is evaluated
        return (None if name is None else self._version(name)) == measured.get("suite_version")

    def _version_of(self, suite: str) -> str | None:
        """`None` where the suite cannot be used, by which no drop is measured."""
        try:
            path = find_suite(self._home.suites, suite)
            return None if path is None else load_suite(path).version
        except InvalidSuite:
            return None
