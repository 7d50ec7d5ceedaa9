"""A fitted cascade in words: what was shown, what each stage accepts, and what it saves."""

from collections.abc import Iterator

from evaluation_assets.core.gating.figures import p_value
from evaluation_assets.core.judging.cascade.fitted import LABELS, FittedCascade, FittedCriterion
from evaluation_assets.core.judging.cascade.risk import fewest_clusters
from evaluation_assets.core.judging.cascade.savings import Savings
from evaluation_assets.core.text.counted import counted, percent


def promise_lines(cascade: FittedCascade) -> Iterator[str]:
    """The stages, the promise, and what was shown for each criterion."""
    yield f"stages     {' -> '.join(' + '.join(stage) for stage in cascade.stages)} -> {_last(cascade)}"
    what = "labels of people" if cascade.reference == LABELS else f"verdicts of the judge {cascade.reference}"
    yield f"reference  {what}: an accepted verdict that differs from it is wrong"
    yield (
        f"bound      at most {cascade.alpha:.1%} of accepted verdicts are wrong, with confidence "
        f"{1 - cascade.delta:.1%}, for each criterion, for a new {cascade.unit} like the labelled ones"
    )
    for criterion in cascade.criteria:
        yield _criterion(cascade, criterion)


def savings_lines(cascade: FittedCascade, savings: Savings, drops: int) -> Iterator[str]:
    """What the stages accept in drops, the calls and dollars that saves, and what is left; or that nothing is saved."""
    if not any(criterion.thresholds for criterion in cascade.criteria):
        yield "No criterion accepts a verdict, so every judge is asked about everything: no call is saved."
        return
    yield f"In {counted(drops, 'drop')}, {counted(savings.subjects, 'subject')} of the fitted levels:"
    for stage, asked, accepted in zip(cascade.stages, savings.asked, savings.accepted, strict=True):
        yield f"  {' + '.join(stage)}: asked about {asked}, accepts {accepted} ({_share(accepted, asked)})"
    left = len(savings.undecided)
    yield f"  {_last(cascade)}: {left} ({_share(left, savings.subjects)}) in " + counted(
        len(savings.undecided_trajectories), "trajectory"
    )
    for judge in savings.judges:
        usd = "cost unknown" if judge.usd is None else f"{judge.usd:.4f} USD at the mean cost of its verdicts"
        if judge.spared:
            yield f"  {judge.judge} is spared {judge.spared} of {savings.subjects} subjects ({usd})"


def _p(value: float | None) -> str:
    shown = p_value(value)
    return shown if shown.startswith("<") else f"= {shown}"


def _criterion(cascade: FittedCascade, fitted: FittedCriterion) -> str:
    name = f"{fitted.level}.{fitted.criterion}"
    labelled = f"{counted(fitted.clusters_fitted, cascade.unit)} to learn, {fitted.clusters} to test"
    if not fitted.thresholds:
        least = fewest_clusters(cascade.alpha, cascade.delta)
        why = (
            f"too few to show the bound; at least {least} to test"
            if fitted.clusters < least
            else "the bound could not be shown; fit more labels, better judges or a larger --alpha"
        )
        return f"  {name}: accepts nothing ({labelled}): {why}"
    stages = ", ".join(
        f"{' + '.join(stage)} {count}" for stage, count in zip(cascade.stages, fitted.by_stage, strict=True)
    )
    accepted = f"{fitted.accepted} of {fitted.subjects} tested ({_share(fitted.accepted, fitted.subjects)})"
    return (
        f"  {name}: accepts {accepted}: {stages}; "
        f"{_share(fitted.errors, fitted.accepted)} of them wrong ({labelled}, p {_p(fitted.p_value)})"
    )


def _last(cascade: FittedCascade) -> str:
    return "people" if cascade.reference == LABELS else cascade.reference


def _share(part: int, whole: int) -> str:
    return percent(part / whole) if whole else "-"
