"""How many claims of a drop are supported, by who checked them: the detectors, and judges that are asked for claims."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.lake.stored import Stored
from evaluation_assets.core.sections.findings.claim import VERDICTS, ClaimVerdict
from evaluation_assets.core.system.frozen import Frozen
from evaluation_assets.core.text.counted import counted

CLAIMS = "claims"
"""Column of a judge's verdicts with the claims of the final answer."""

DETECTORS = "detectors"
"""Who has checked the claims of the table `claims`."""

_WORDS: Mapping[ClaimVerdict, str] = {"not_found": "not found"}


class ClaimCounts(Frozen):
    """The claims in `runs` runs that were checked by `checked_by`, the detectors or a judge, by verdict."""

    checked_by: str
    runs: int
    counts: dict[ClaimVerdict, int]

    @property
    def text(self) -> str:
        """The counts as text: `Claims checked by detectors in 3 runs: 41 supported, 2 not found, 1 contradicted`."""
        counts = ", ".join(f"{self.counts[verdict]:,} {_WORDS.get(verdict, verdict)}" for verdict in VERDICTS)
        return f"Claims checked by {self.checked_by} in {counted(self.runs, 'run')}: {counts}"


def claim_counts(claims: Stored, verdicts: Mapping[str, Stored]) -> list[ClaimCounts]:
    """Count the claims of a drop, those of the detectors and of each judge in `verdicts`; who found none has no entry.

    A judge that is asked several times counts with its first verdict on each run.
    """
    by_judge = {judge: judged_claims(table) for judge, table in verdicts.items()}
    return list(_counted({DETECTORS: claims.rows(["trajectory_id", "verdict"]), **by_judge}))


def judged_claims(verdicts: Stored) -> Iterator[Row]:
    """The claims that one judge checked, from its verdicts on whole runs: each with its `trajectory_id`."""
    for row in verdicts.rows(["trajectory_id", "sample", CLAIMS]):
        yield from ({"trajectory_id": row["trajectory_id"], **claim} for claim in claims_of(row))


def claims_of(verdict: Mapping[str, Any]) -> Sequence[Row]:
    """The claims in a row of verdicts: those of a judge's first verdict. Tables of earlier versions have none."""
    return (verdict.get(CLAIMS) or ()) if verdict["sample"] == 0 else ()


def _counted(checked: Mapping[str, Iterable[Row]]) -> Iterable[ClaimCounts]:
    for checked_by, rows in checked.items():
        counts: Counter[ClaimVerdict] = Counter()
        runs: set[str] = set()
        for row in rows:
            counts[row["verdict"]] += 1
            runs.add(row["trajectory_id"])
        if runs:
            yield ClaimCounts(
                checked_by=checked_by, runs=len(runs), counts={verdict: counts[verdict] for verdict in VERDICTS}
            )
