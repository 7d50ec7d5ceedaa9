"""The sentences of the gate: why a verdict is what it is."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from evaluation_assets.core.gating.outcome import Difference
from evaluation_assets.core.gating.paired_tests import Evidence, tasks_needed
from evaluation_assets.core.gating.pairs import Pairs
from evaluation_assets.core.gating.settings import GateSettings, GateVerdict

NOTHING_GATES = "no metric gates: record outcomes, add a suite or a model judge, or name metrics in gate.yaml"

_NAMED = 20
"""Most tasks that a reason names; the lists hold all of them."""


def too_little_known(metric: str, tasks: int) -> str:
    """A metric with fewer than two tasks that have it on both sides."""
    return f"{metric} is not known on both sides" if tasks == 0 else f"{metric} is known for one task only"


def unpaired(pairs: Pairs) -> str:
    """A metric that too many tasks have on one side only."""
    return f"{pairs.metric} is known on both sides for {len(pairs.tasks)} of {pairs.known} tasks"


def too_few_tasks(pairs: Pairs, effect: float, least: int) -> str:
    """A metric with fewer tasks than the settings ask for."""
    return f"{_change(pairs, effect)}; at least {least} are needed"


def unchanged(pairs: Pairs) -> str:
    """A metric that no task changed."""
    return f"{pairs.metric} is the same on each of {len(pairs.tasks)} tasks"


def with_tolerance(pairs: Pairs, limit: float) -> str:
    """The means of both sides, and the limit."""
    return f"{pairs.metric} {fmean(pairs.current):.3f}, baseline {fmean(pairs.baseline):.3f}, limit {limit:.3f}"


def tested(
    verdict: GateVerdict, pairs: Pairs, evidence: Evidence, p_adjusted: float, spread: float, settings: GateSettings
) -> str:
    """What the tests say of a metric. `spread` is the standard deviation of a task's difference."""
    change, n = _change(pairs, float(evidence.effect)), len(pairs.tasks)
    if verdict == "fail":
        return f"{change} (p {p_adjusted:.2g})"
    if verdict == "warn":
        limit = f"{settings.relative_delta:.0%}" if pairs.is_relative else f"{settings.delta:g}"
        return f"{change} is a regression (p {p_adjusted:.2g}) within the margin of {limit}"
    detectable = _size(pairs, float(evidence.detectable))
    shows = f"{detectable} would have been found ({settings.power:.0%} power)"
    if verdict == "pass":
        return f"{change}: no regression found; {shows}"
    undetected = pairs.max_undetected(settings)
    needed = tasks_needed(spread, undetected, settings.alpha, settings.power)
    return (
        f"{change} is not significant, but only {shows}; "
        f"about {max(needed, n + 1)} tasks are needed to find {_size(pairs, undetected)}"
    )


def _change(pairs: Pairs, effect: float) -> str:
    change = pairs.as_change(effect)
    return f"{pairs.metric} {f'{change:+.1%}' if pairs.is_relative else f'{change:+.3f}'} on {len(pairs.tasks)} tasks"


def _size(pairs: Pairs, decrease: float) -> str:
    shown = pairs.as_size(decrease)
    return f"an increase of {shown:.0%}" if pairs.is_relative else f"a decrease of {shown:.3f}"


def unknown_limit(metric: str, limit: float, *, at_most: bool) -> str:
    """A limit of a metric that has no value."""
    return f"{metric} is unknown; it has to be at {'most' if at_most else 'least'} {limit:g}"


def beyond_limit(metric: str, mean: float, tasks: int, limit: float, *, at_most: bool) -> str:
    """A limit that is not kept."""
    words = "above its limit" if at_most else "below its floor"
    return f"{metric} {mean:.4g} over {tasks} tasks is {words} of {limit:g}"


def missing(tasks: Sequence[str], total: int) -> str:
    """Tasks of the baseline that the run has not, out of all of the baseline's."""
    more = f" and {len(tasks) - _NAMED} more" if len(tasks) > _NAMED else ""
    return f"{len(tasks)} of {total} tasks are missing: {', '.join(tasks[:_NAMED])}{more}"


def fallen(tasks: int, drop: float) -> str:
    """So many single tasks that fell further than noise goes."""
    return f"{_counted(tasks)} fell by {drop:g} or more, beyond noise"


def new_tasks(tasks: int) -> str:
    """So many tasks that the baseline has not."""
    return f"{_counted(tasks)} not compared: not in the baseline"


def reworded(tasks: int) -> str:
    """So many tasks that are asked in other words."""
    return f"{_counted(tasks)} with the same ID and another prompt than in the baseline"


def kept_out(judges: Mapping[str, str]) -> list[str]:
    """The judges whose scores do not count."""
    return [f"judge {judge} is kept out: {why}" for judge, why in judges.items()]


def differs(part: str, difference: Difference) -> str:
    """A part of the comparability key that is not the same."""
    if difference.current is None:
        return f"{part} was in the baseline and is not now"
    if difference.baseline is None:
        return f"{part} is new since the baseline"
    return f"{part} differs: {difference.baseline} in the baseline, {difference.current} now"


def _counted(tasks: int) -> str:
    return f"{tasks} task" if tasks == 1 else f"{tasks} tasks"
