"""What the overview says of all drops that no table of its own has: their panels, and their kinds of findings."""

from collections.abc import Iterator
from itertools import groupby

from evaluation_assets.core.intake.facts import DropFacts
from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.sections.findings.summary import SEVERITIES, earlier_findings
from evaluation_assets.core.system.installation import Installation


def panel_rows(home: Installation) -> Iterator[Row]:
    """One row per drop, level and criterion that several judges scored, from the stored `panel_reliability`.

    `effective_judges` is a lower bound, from the correlation of verdicts; missing in tables of earlier versions.
    """
    for drop in home.drops_with("panel_reliability"):
        rows = home.table(drop, "panel_reliability").rows()
        for (level, criterion), of_criterion in groupby(rows, key=lambda row: (row["level"], row["criterion"])):
            judges = list(of_criterion)
            if len(judges) > 1:
                yield {
                    "drop": drop,
                    "level": level,
                    "criterion": criterion,
                    "n_judges": len(judges),
                    "effective_judges": judges[0].get("effective_judges"),
                    "alpha": judges[0]["alpha"],
                    "n_subjects": judges[0]["n_subjects"],
                }


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
