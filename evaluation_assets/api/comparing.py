"""`compare`: two evaluated drops, task by task."""

from pathlib import Path

from evaluation_assets.api.comparison import Comparison
from evaluation_assets.api.home import StoredResult, load_home


def compare(baseline: StoredResult | str, current: StoredResult | str, *, home: str | Path | None = None) -> Comparison:
    """Compare two evaluated drops: paired differences per task with intervals, and a verdict, as the gate does.

    Args:
        baseline: a result, or the key of an evaluated drop.
        current: the same, for the drop that is compared with it.
        home: the home folder of drops given by key (default: `EVALUATION_HOME`, else `.evaluation`).

    Raises:
        UnknownName: a drop has not been evaluated.
    """
    before, after = (load_home(home).result(each) if isinstance(each, str) else each for each in (baseline, current))
    return after.gate(before)
