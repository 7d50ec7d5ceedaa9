"""Whether records add up, whether too many are rejected, and whether they were read well."""

from pathlib import Path

import pytest

from evaluation_assets.core.lake.tables import (
    PREPROCESSED_TRAJECTORIES,
    RAW_TRAJECTORIES,
    REJECTED_RECORDS,
    UNREADABLE_RECORDS,
)
from evaluation_assets.core.pipeline.checks.finding import Finding
from evaluation_assets.core.pipeline.checks.records import MAX_REJECTED, records_add_up, reject_rate, well_read
from evaluation_assets.core.traces.formats.import_report import ImportSummary
from evaluation_assets_tests.core.stored_rows import stored


def added_up(
    folder: Path, raw: list[str], kept: list[str], removed: list[str], unreadable: int = 0, rejected: int | None = None
) -> Finding:
    unread = [{"source": "d.jsonl", "stage": "read"}] * unreadable
    out = [{"source": "d.jsonl", "stage": "read"}] * (unreadable if rejected is None else rejected)
    return records_add_up(
        stored(folder, RAW_TRAJECTORIES, ({"trajectory_id": each} for each in raw)),
        stored(folder, UNREADABLE_RECORDS, unread),
        stored(folder, PREPROCESSED_TRAJECTORIES, ({"trajectory_id": each} for each in kept)),
        stored(folder, REJECTED_RECORDS, [*({"source": each, "stage": "preprocess"} for each in removed), *out]),
    )


def test_every_record_is_kept_removed_or_unreadable(tmp_path: Path) -> None:
    found = added_up(tmp_path, ["a", "b", "c"], ["c", "a"], ["b"], unreadable=2)
    assert found.passed
    assert found.description == "Of 5 records, 2 are kept, 1 removed and 2 unreadable."
    assert found.metadata == {"records": 5, "kept": 2, "removed": 1, "unreadable": 2}


@pytest.mark.parametrize(
    ("raw", "kept", "removed"),
    [
        (["a", "b"], ["a", "c"], []),  # as many, but not the same
        (["a", "b"], ["a"], ["c"]),
        (["a", "b"], ["a", "a"], []),
        (["a", "a"], ["a", "a"], []),  # an ID that is not unique
        (["a", "b"], ["a"], []),
        (["a"], ["a"], ["b"]),
    ],
)
def test_trajectories_that_are_others_or_missing_are_found(
    tmp_path: Path, raw: list[str], kept: list[str], removed: list[str]
) -> None:
    found = added_up(tmp_path, raw, kept, removed)
    assert not found.passed and found.severity == "error"


def test_an_unreadable_record_that_is_not_rejected_is_missing(tmp_path: Path) -> None:
    assert not added_up(tmp_path, ["a"], ["a"], [], unreadable=2, rejected=1).passed


@pytest.mark.parametrize(("kept", "rejected", "passed"), [(8, 2, True), (7, 2, False), (1, 0, True), (0, 0, False)])
def test_too_many_rejected_records_are_a_warning(tmp_path: Path, kept: int, rejected: int, passed: bool) -> None:
    reasons = ["bad_json", "no_text", "no_text"]
    found = reject_rate(
        stored(tmp_path, PREPROCESSED_TRAJECTORIES, ({"trajectory_id": str(each)} for each in range(kept))),
        stored(tmp_path, REJECTED_RECORDS, ({"reason": reasons[each]} for each in range(rejected))),
    )
    assert (found.passed, found.severity) == (passed, "warn")
    assert MAX_REJECTED == 0.2
    if rejected:
        assert "1 bad_json, 1 no_text" in str(found.description)
        assert found.metadata["rejected_share"] == rejected / (kept + rejected)
    elif not kept:
        assert found.description == "The drop has no records."


def test_a_doubtful_reading_is_a_warning() -> None:
    sure, doubtful = (
        ImportSummary(calls=2, calls_in_source=2),
        ImportSummary(calls=1, calls_in_source=2),
    )
    for summary in (sure, doubtful):
        found = well_read(summary)
        assert found.passed == (not summary.doubts)
        assert found.metadata == {
            "calls": summary.calls,
            "calls_in_source": summary.calls_in_source,
            "calls_not_read": summary.calls_not_read,
        }
    assert well_read(sure).passed and not well_read(doubtful).passed
