"""Whether the trajectories of a drop keep to the constraints of checks.yaml."""

from collections import Counter

from evaluation_assets.core.lake.stored import Stored
from evaluation_assets.core.pipeline.checks.finding import Finding
from evaluation_assets.core.sections.constraints.settings import Severity
from evaluation_assets.core.text.counted import counted

_NAMED = 20
"""Violations that are named in the metadata."""


def constraints_hold(results: Stored, severity: Severity) -> Finding:
    """Whether all constraints of a severity hold. One that could not be checked in a trajectory does not hold."""
    failed: Counter[str] = Counter()
    unchecked: Counter[str] = Counter()
    trajectories: set[str] = set()
    named: list[str] = []
    columns = ["trajectory_id", "constraint", "severity", "status", "clip_index", "message"]
    for row in results.rows(columns):
        if row["severity"] != severity or row["status"] not in ("failed", "not_checked"):
            continue
        (failed if row["status"] == "failed" else unchecked)[row["constraint"]] += 1
        trajectories.add(row["trajectory_id"])
        if len(named) < _NAMED:
            place = "" if row["clip_index"] is None else f", clip {row['clip_index']}"
            named.append(f"{row['trajectory_id']}{place}: {row['constraint']}: {row['message']}")
    said = [f"{name} in {counted(count, 'run')}" for name, count in failed.most_common()]
    said += [f"{name} could not be checked in {counted(count, 'run')}" for name, count in unchecked.items()]
    return Finding(
        not said,
        f"Violated: {'; '.join(said)}." if said else f"All constraints with severity {severity} hold.",
        {
            "violating_trajectories": len(trajectories),
            "constraints": len(failed),
            **({"first": named} if named else {}),
        },
        severity,
    )
