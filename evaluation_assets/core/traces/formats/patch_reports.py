"""Test reports of patches, stored beside the runs that produced the patches.

Supported SWE-bench layouts: a report of one patch in a folder named after its task; reports keyed by task; the summary
of an evaluation with lists of ids; and the `results.json` of its leaderboard, in which patches that are in no list were
tested and solved nothing. The patches themselves (`preds.json`) are those of the runs.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

from evaluation_assets.core.traces.formats.base import DropFile, Record, Rejection, Sample
from evaluation_assets.core.traces.formats.files.records import read_records
from evaluation_assets.core.traces.formats.files.samples import sample_of
from evaluation_assets.core.traces.formats.isolation import each_own_record
from evaluation_assets.core.traces.formats.stated import Comparisons
from evaluation_assets.core.traces.formats.task_tests import labels_of_tests
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.formats.untyped import at, list_in, object_in
from evaluation_assets.core.traces.trajectories.model import JsonObject, Trajectory

_LISTS = (
    ("resolved_ids", True), ("unresolved_ids", False), ("empty_patch_ids", False), ("resolved", True),
    ("no_generation", False),
)  # fmt: skip
"""The lists of a summary that state an outcome. No patch solves nothing; of those in `error_ids` nothing is known."""


_RESOLVED, _EMPTY = "resolved", "no_generation"
_BROKEN = ("no_logs", "install_fail", "reset_failed", "test_errored", "test_timeout")
"""Lists of the leaderboard: of what the harness failed on nothing is known."""
_PREDICTED = {"instance_id", "model_patch"}
_MOST_FIELDS = 6
"""Fields of a patch that is handed in; a run has more."""


@dataclass(frozen=True, slots=True)
class PatchReport:
    """Test outcome of one patch; `labels` counts passed and failed tests by kind, and names those that failed."""

    resolved: bool
    labels: JsonObject


@dataclass(frozen=True, slots=True)
class PatchReports:
    """Reports by task; `unknown` are tasks without one, and `others` is that of any other task."""

    by_task: Mapping[str, PatchReport]
    unknown: frozenset[str] = frozenset()
    others: PatchReport | None = None

    def of(self, task: str) -> PatchReport | None:
        """The report of a task; `None` if its outcome is not known."""
        return self.by_task.get(task) or (None if task in self.unknown else self.others)


def each_tested_run(
    files: Sequence[DropFile],
    detect: Callable[[Sample], bool],
    name: str,
    trajectory_of: Callable[[PatchReports, UnmappedFields, Record], Trajectory],
    unmapped: UnmappedFields,
) -> Iterator[Trajectory | Rejection]:
    """Like `each_own_record`, for the files of runs; the test reports are passed with every record."""
    samples = [(file, sample_of(file)) for file in files] if len(files) > 1 else []
    tested = [file for file, sample in samples if is_report(sample)]
    reports = reports_of(tested, unmapped.stated)
    predicted = [file for file, sample in samples if any(map(_are_predictions, sample.records))]
    runs = [file for file in files if file not in (*tested, *predicted)]
    return each_own_record(runs, detect, name, partial(trajectory_of, reports, unmapped))


def is_report(sample: Sample) -> bool:
    """Whether a file contains test reports."""
    return any(_is_of_leaderboard(record) or _reports_in(record, "") for record in sample.records)


def _is_of_leaderboard(data: Any) -> bool:
    return all(isinstance(at(data, name), list) for name in (_RESOLVED, _EMPTY))


def _are_predictions(data: Any) -> bool:
    """Whether a record is a patch, or patches by their tasks, as they are handed in."""
    patches = [data] if at(data, "instance_id") is not None else list(object_in(data).values())
    return any(object_in(patch).keys() >= _PREDICTED and len(patch) <= _MOST_FIELDS for patch in patches)


def reports_of(files: Sequence[DropFile], stated: Comparisons) -> PatchReports:
    """Reports by task id, without those that contradict each other."""
    by_task: dict[str, list[PatchReport]] = {}
    unknown: set[str] = set()
    others: PatchReport | None = None
    for file in files:
        folder = file.path.parent.name
        for record in islice(read_records(file), 1):
            if not isinstance(record, Rejection):
                _confirm_counts(record.data, stated)
                if _is_of_leaderboard(record.data):
                    others = PatchReport(resolved=False, labels={})
                    unknown.update(str(task) for name in _BROKEN for task in list_in(record.data.get(name)))
                for task, report in _reports_in(record.data, folder):
                    by_task.setdefault(task, []).append(report)
    for reports in by_task.values():
        stated.agree("outcome of a patch", *(report.resolved for report in reports))
    known = {
        task: max(all_of, key=_detail) for task, all_of in by_task.items() if len({one.resolved for one in all_of}) == 1
    }
    return PatchReports(known, frozenset(unknown | (by_task.keys() - known.keys())), others)


def _detail(report: PatchReport) -> int:
    return len(report.labels)


def _confirm_counts(data: Any, stated: Comparisons) -> None:
    """Compare the counts of a summary with its lists."""
    for name, ids in object_in(data).items():
        count = data.get(f"{name.removesuffix('_ids')}_instances")
        if name.endswith("_ids") and isinstance(ids, list) and isinstance(count, int):
            stated.compare(f"{name.removesuffix('_ids').replace('_', ' ')} instance", count, len(ids))


def _reports_in(data: Any, folder: str) -> list[tuple[str, PatchReport]]:
    if not isinstance(data, dict):
        return []
    if isinstance(resolved := data.get("resolved"), bool):
        return [(folder, PatchReport(resolved, _labels(data)))]
    reports = [
        (task, PatchReport(report["resolved"], _labels(report)))
        for task, report in data.items()
        if isinstance(report, dict) and isinstance(report.get("resolved"), bool)
    ]
    for name, resolved in _LISTS:
        reports += [(task, PatchReport(resolved, {})) for task in list_in(data.get(name)) if isinstance(task, str)]
    return reports


def _labels(report: JsonObject) -> JsonObject:
    labels: JsonObject = {}
    if isinstance(applied := report.get("patch_successfully_applied"), bool):
        labels["patch_applied"] = applied
    by_kind = {kind: _tests(tests) for kind, tests in object_in(report.get("tests_status")).items()}
    return labels | labels_of_tests(by_kind)


def _tests(status: Any) -> dict[str, list[str]]:
    """Names of tests by outcome."""
    tests = object_in(status).items()
    return {outcome: [str(name) for name in names] for outcome, names in tests if isinstance(names, list)}
