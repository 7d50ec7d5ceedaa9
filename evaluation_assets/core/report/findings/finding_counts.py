"""The kinds of findings of all drops, for the overview."""

from collections.abc import Iterator

from evaluation_assets.core.intake.facts import DropFacts
from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.sections.findings.summary import SEVERITIES, earlier_findings
from evaluation_assets.core.system.installation import Installation


def finding_counts(home: Installation) -> Iterator[Row]:
    """One row per drop and kind: the `runs` that have it, of `n_runs`, and the gravest severity; gravest first."""
    for drop in home.drops_with("findings"):
        stored, raw = home.table(drop, "findings"), home.table(drop, "raw_trajectories")
        earlier = earlier_findings(drop, stored, raw)
        gravest: dict[str, int] = {}
        for row in stored.rows(["kind", "severity"]):
            rank = SEVERITIES.index(row["severity"])
            gravest[row["kind"]] = min(rank, gravest.get(row["kind"], rank))
        runs = {} if earlier is None else earlier.runs
        for kind in sorted(runs, key=lambda kind: (gravest[kind], -runs[kind])):
            yield {
                "drop": drop,
                "suite": DropFacts.of(raw).sidecar.suite,
                "kind": kind,
                "severity": SEVERITIES[gravest[kind]],
                "runs": runs[kind],
                "n_runs": raw.count,
            }
