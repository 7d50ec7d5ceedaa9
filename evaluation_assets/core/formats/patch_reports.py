"""Test reports of patches, which stand beside the runs that made them: did the tests pass?

Shapes that occur, all of SWE-bench: a report of one patch, alone in a folder named after its task; reports by task; and
the summary of a whole evaluation, with lists of ids.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from evaluation_assets.core.formats.base import DropFile, Rejection, Sample
from evaluation_assets.core.formats.records import read_records
from evaluation_assets.core.trajectories.model import JsonObject

_LISTS = (("resolved_ids", True), ("unresolved_ids", False))


@dataclass(frozen=True, slots=True)
class PatchReport:
    """What the tests said of one patch; `labels` holds how many of them passed and failed, by kind."""

    resolved: bool
    labels: JsonObject


def is_report(sample: Sample) -> bool:
    """Whether a file holds test reports."""
    return any(True for record in sample.records for _ in _reports_in(record, ""))


def reports_of(files: Sequence[DropFile]) -> Mapping[str, PatchReport]:
    """The reports in some files, by the id of the task they belong to."""
    found: dict[str, PatchReport] = {}
    for file in files:
        folder = file.path.parent.name
        for record in islice(read_records(file.path, file.source), 1):
            if not isinstance(record, Rejection):
                found.update(_reports_in(record.data, folder))
    return found


def _reports_in(data: Any, folder: str) -> list[tuple[str, PatchReport]]:
    if not isinstance(data, dict):
        return []
    if isinstance(resolved := data.get("resolved"), bool):
        return [(folder, PatchReport(resolved, _labels(data)))]
    found = [
        (task, PatchReport(report["resolved"], _labels(report)))
        for task, report in data.items()
        if isinstance(report, dict) and isinstance(report.get("resolved"), bool)
    ]
    for name, resolved in _LISTS:
        ids = data.get(name)
        found += [
            (task, PatchReport(resolved, {}))
            for task in (ids if isinstance(ids, list) else [])
            if isinstance(task, str)
        ]
    return found


def _labels(report: JsonObject) -> JsonObject:
    labels: JsonObject = {}
    if isinstance(applied := report.get("patch_successfully_applied"), bool):
        labels["patch_applied"] = applied
    tests = report.get("tests_status")
    counts = {kind: _counts(status) for kind, status in tests.items()} if isinstance(tests, dict) else {}
    counted = {kind: count for kind, count in counts.items() if count}
    return {**labels, "tests": counted} if counted else labels


def _counts(status: Any) -> dict[str, int]:
    if not isinstance(status, dict):
        return {}
    lengths = {outcome: len(tests) for outcome, tests in status.items() if isinstance(tests, list)}
    return lengths if any(lengths.values()) else {}
