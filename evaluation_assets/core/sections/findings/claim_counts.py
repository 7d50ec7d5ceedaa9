"""How many claims of a drop are supported, by who checked them: the detectors, and judges that are asked for claims."""

from collections import Counter
from collections.abc import Iterable, Mapping

from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.lake.stored import Stored
from evaluation_assets.core.sections.findings.claim import VERDICTS, ClaimVerdict
from evaluation_assets.core.system.frozen import Frozen
from evaluation_assets.core.text.counted import counted

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
        found = ", ".join(f"{self.counts[verdict]:,} {_WORDS.get(verdict, verdict)}" for verdict in VERDICTS)
        return f"Claims checked by {self.checked_by} in {counted(self.runs, 'run')}: {found}"


def claim_counts(claims: Stored) -> list[ClaimCounts]:
    """Count the claims of a drop; without claims there is no entry."""
    return list(_counted({DETECTORS: claims.rows(["trajectory_id", "verdict"])}))


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
