"""How many runs have a finding of each kind, among those that succeeded and those that failed.

    python -m benchmarks.findings [DATA]

DATA is a folder with the data sets of `benchmarks.outcomes`; default: the folder that the tests use.
"""

import sys
from collections import Counter
from pathlib import Path

from benchmarks.outcomes import DATA_SETS, runs
from evaluation_assets.core.sections.findings.detecting import detected


def main() -> None:
    """Print the figures of each data set."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[2] / "shared" / "data"
    for name in DATA_SETS:
        totals: Counter[bool] = Counter()
        having: Counter[tuple[str, bool]] = Counter()
        for run in runs(folder, name):
            outcome = run.success is True
            totals[outcome] += 1
            having.update((kind, outcome) for kind in {finding.kind for finding in detected(run)})
        print(f"{name}: {totals[True]} runs succeeded, {totals[False]} failed")
        for kind in sorted({kind for kind, _ in having}):
            print(f"  {kind:22} succeeded {having[kind, True]:3}   failed {having[kind, False]:3}")


if __name__ == "__main__":
    main()
