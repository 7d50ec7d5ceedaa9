"""The records of a drop in its report: what was kept, removed, unreadable and repaired."""

from collections import Counter
from itertools import islice

from evaluation_assets.core.intake.preprocessing.repair import changes_text
from evaluation_assets.core.lake.stored import Stored
from evaluation_assets.core.report.drop_tables import DropTables
from evaluation_assets.core.report.report import Records, RejectedRecord, RepairedTag
from evaluation_assets.core.report.scores.clip_summaries import excerpt


def records_summary(tables: DropTables, listed: int) -> tuple[Records, list[RepairedTag], int]:
    """Counts of all records, the first repairs, and the number of all repairs."""
    reasons: dict[str, Counter[str]] = {"read": Counter(), "preprocess": Counter()}
    for row in tables.rejected.rows(["stage", "reason"]):
        reasons[row["stage"]][row["reason"]] += 1
    kept = repaired = repairs_total = 0
    flags: Counter[str] = Counter()
    repairs: list[RepairedTag] = []
    for row in tables.preprocessed.rows(["trajectory_id", "repairs", "flags"]):
        kept += 1
        flags.update(row["flags"])
        repaired += changes_text(repair["action"] for repair in row["repairs"])
        repairs_total += len(row["repairs"])
        repairs += [
            RepairedTag(trajectory_id=row["trajectory_id"], **repair)
            for repair in row["repairs"][: listed - len(repairs)]
        ]
    total = kept + reasons["read"].total() + reasons["preprocess"].total()
    records = Records(
        total=total,
        kept=kept,
        removed=dict(sorted(reasons["preprocess"].items())),
        unreadable=dict(sorted(reasons["read"].items())),
        repaired=repaired,
        flags=dict(sorted(flags.items())),
        kept_share=kept / total if total else None,
    )
    return records, repairs, repairs_total


def rejected_records(rejected: Stored, listed: int) -> list[RejectedRecord]:
    """The first records that were not judged."""
    return [
        RejectedRecord(
            source=row["source"],
            line=row["line"],
            stage=row["stage"],
            reason=row["reason"],
            detail=row["detail"],
            excerpt=excerpt(row["raw"], 300),
        )
        for row in islice(rejected.rows(), listed)
    ]
