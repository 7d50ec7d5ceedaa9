"""Test reports of patches, stored beside the runs that produced the patches.

Supported SWE-bench layouts: a report of one patch in a folder named after its task; reports keyed by task; and the
summary of an evaluation with lists of ids.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from evaluation_assets.core.traces.formats.base import DropFile, Record, Rejection, Sample
from evaluation_assets.core.traces.formats.files.records import read_records
from evaluation_assets.core.traces.formats.files.samples import sample_of
from evaluation_assets.core.traces.formats.isolation import each_own_record
from evaluation_assets.core.traces.trajectories.model import JsonObject, Trajectory

_LISTS = (("resolved_ids", True), ("unresolved_ids", False), ("empty_patch_ids", False))
"""The lists of a summary that state an outcome. No patch solves nothing; of those in `error_ids` nothing is known."""


@dataclass(frozen=True, slots=True)
class PatchReport:
    """Test outcome of one patch; `labels` holds the number of passed and failed tests by kind."""

    resolved: bool
    labels: JsonObject


def each_tested_run(
    files: Sequence[DropFile],
    detect: Callable[[Sample], bool],
    name: str,
    trajectory_of: Callable[[Record, Mapping[str, PatchReport]], Trajectory],
) -> Iterator[Trajectory | Rejection]:
    """Like `each_own_record`, for the files that are not test reports; the reports are passed with every record."""
    tested = [file for file in files if len(files) > 1 and is_report(sample_of(file))]
    reports = reports_of(tested)
    runs = [file for file in files if file not in tested]
    return each_own_record(runs, detect, name, lambda record: trajectory_of(record, reports))


def is_report(sample: Sample) -> bool:
    """Whether a file contains test reports."""
    return any(True for record in sample.records for _ in _reports_in(record, ""))


def reports_of(files: Sequence[DropFile]) -> Mapping[str, PatchReport]:
    """Reports by task id."""
    found: dict[str, PatchReport] = {}
    for file in files:
        folder = file.path.parent.name
        for record in islice(read_records(file), 1):
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
