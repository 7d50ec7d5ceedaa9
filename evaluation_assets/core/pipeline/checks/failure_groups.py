"""Whether failures that were resolved stay so."""

from collections.abc import Mapping, Sequence
from typing import Any

from evaluation_assets.core.pipeline.checks.finding import Finding
from evaluation_assets.core.text.counted import counted, first_of

_NAMED = 3


def no_reopened_failures(groups: Sequence[Mapping[str, Any]]) -> Finding:
    """Whether no group was seen again after a person had resolved it."""
    again = [f"{row['group_id']} ({row['name']}) in {row['last_drop']}" for row in groups if row["state"] == "reopened"]
    resolved = sum(row["state"] == "resolved" for row in groups)
    return Finding(
        not again,
        f"Seen again after they were resolved: {first_of(again, _NAMED)}."
        if again
        else f"No resolved failure was seen again; {counted(resolved, 'failure group')} resolved.",
        {"resolved": resolved, "reopened": len(again)},
    )
