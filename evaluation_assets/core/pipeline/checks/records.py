"""Whether every record of a drop is accounted for, and its tables are in shape."""

from collections import Counter

from evaluation_assets.core.lake.stored import Stored
from evaluation_assets.core.pipeline.checks.finding import Finding
from evaluation_assets.core.text.counted import percent
from evaluation_assets.core.traces.formats.import_report import ImportSummary

MAX_REJECTED = 0.2
"""Maximum share of rejected records; above it, check the drop before trusting its scores."""


def well_read(reading: ImportSummary) -> Finding:
    """Whether nothing suggests that the reader got the drop wrong. Gaps of the source itself are not a failure."""
    return Finding(
        not reading.doubts,
        f"Reading {reading.sentence}.",
        {"calls": reading.calls, "calls_in_source": reading.calls_in_source, "calls_not_read": reading.calls_not_read},
        "warn",
    )


def records_add_up(raw: Stored, unreadable: Stored, preprocessed: Stored, rejected: Stored) -> Finding:
    """Compare counts and, for trajectories, the ids on both sides of preprocessing."""
    came = raw.count + unreadable.count
    left = preprocessed.count + rejected.count
    removed = [row["source"] for row in rejected.rows(["source", "stage"]) if row["stage"] == "preprocess"]
    kept = list(preprocessed.values("trajectory_id"))
    before = list(raw.values("trajectory_id"))
    passed = came == left and sorted(kept + removed) == sorted(before) and len(set(before)) == len(before)
    return Finding(
        passed,
        f"Of {came} records, {len(kept)} are kept, {len(removed)} removed and {unreadable.count} unreadable"
        + (
            "."
            if passed
            else f": {left} of {came} records add up, and {len(set(before))} of {len(before)} IDs are unique."
        ),
        {"records": came, "kept": len(kept), "removed": len(removed), "unreadable": unreadable.count},
    )


def reject_rate(preprocessed: Stored, rejected: Stored) -> Finding:
    """Whether the share of records that is not judged is small enough."""
    total = rejected.count + preprocessed.count
    share = rejected.count / total if total else None
    reasons = dict(sorted(Counter(rejected.values("reason")).items()))
    named = ", ".join(f"{count} {reason}" for reason, count in reasons.items())
    return Finding(
        share is not None and share <= MAX_REJECTED,
        "The drop has no records."
        if share is None
        else f"{rejected.count} of {total} records ({percent(share)}) are not judged (maximum {MAX_REJECTED:.0%})"
        f"{': ' if named else ''}{named}.",
        {"records": total, **({} if share is None else {"rejected_share": share}), **reasons},
        "warn",
    )
