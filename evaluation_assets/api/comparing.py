"""`compare`: two evaluated drops, task by task."""

from pathlib import Path

from evaluation_assets.api.comparison import Comparison, EvaluatedDrop, compared
from evaluation_assets.api.home import StoredResult, load_home
from evaluation_assets.core.gating.version_of_drop import drop_and_version


def compare(baseline: StoredResult | str, current: StoredResult | str, *, home: str | Path | None = None) -> Comparison:
    """Compare two evaluated drops: paired differences per task with intervals, and a verdict, as the gate does.

    Args:
        baseline: a result, or the key of an evaluated drop; of a drop whose runs are of several agent versions, one of
            them is `DROP@VERSION`.
        current: the same, for the drop that is compared with it.
        home: the home folder of drops given by key (default: `EVALUATION_HOME`, else `.evaluation`).

    Raises:
        UnknownName: a drop has not been evaluated.
        UnusableInput: a drop has no such version.
    """
    before, after = (_evaluated(each, home) for each in (baseline, current))
    return compared(*after, before)


def _evaluated(given: StoredResult | str, home: str | Path | None) -> EvaluatedDrop:
    if isinstance(given, StoredResult):
        return given.home.installation, given.drop
    known = load_home(home)
    known.check_evaluated(drop_and_version(known.installation, given)[0])
    return known.installation, given
