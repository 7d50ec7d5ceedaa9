"""Whether the judges answered enough, were shown enough, and agree."""

from collections.abc import Callable, Collection, Iterable, Mapping

from evaluation_assets.core.judging.canaries import MIN_ANSWERED
from evaluation_assets.core.judging.shortfall import COLUMNS, Answers
from evaluation_assets.core.judging.tally import Tally
from evaluation_assets.core.lake.stored import Stored
from evaluation_assets.core.pipeline.canaries import CanaryTable
from evaluation_assets.core.pipeline.checks.finding import Finding
from evaluation_assets.core.scoring.agreement import agreement
from evaluation_assets.core.text.counted import counted, percent

MIN_COVERAGE = 0.9
"""Share of subjects a judge has to have answered."""

MIN_TEXT_SEEN = 0.95
"""Minimum share of the subjects' text that a judge must be shown."""

MIN_SCORED = 0.9
"""Minimum share of clips with a score."""

MIN_ALPHA = 0.667
"""Krippendorff advises against conclusions below this value."""


def coverage(tally: Tally) -> Finding:
    """Whether a judge answered enough subjects of a level, within the budget. Without subjects nothing is missing."""
    outcomes, errors = tally.outcomes, tally.most_common_errors
    is_enough = tally.coverage is None or tally.coverage >= MIN_COVERAGE
    passed = is_enough and not tally.over_budget
    return Finding(
        passed,
        f"{tally.answered} of {outcomes.total()} subjects were scored or abstained from"
        f" ({outcomes['abstained']} abstained), {outcomes['failed']} failed and {outcomes['not_run']} were not run"
        f"{f' ({errors})' if errors else ''}; the minimum is {MIN_COVERAGE:.0%}."
        f"{'' if passed or not tally.errors else f' The main error{tally.why}'}"
        if outcomes.total()
        else "There was nothing to judge.",
        {} if tally.coverage is None else {"coverage": tally.coverage},
        "warn" if is_enough and tally.over_budget else "error",
    )


def text_seen(tally: Tally) -> Finding:
    """Whether a judge was shown enough of the text of its subjects."""
    share = tally.text_seen
    return Finding(
        share is None or share >= MIN_TEXT_SEEN,
        "No text was shown to the judge."
        if share is None
        else f"The judge was shown {percent(share)} of the text of {counted(tally.shown, 'subject')} "
        f"(minimum {MIN_TEXT_SEEN:.0%}).",
        {} if share is None else {"share_seen": share},
    )


def canaries_answered(canaries: CanaryTable) -> Finding:
    """Whether enough canaries scored to notice a change. Where none were asked, none are missing."""
    errors = canaries.tally.most_common_errors
    return Finding(
        canaries.scored >= canaries.asked * MIN_ANSWERED,
        f"{canaries.scored} of {canaries.asked} canary clips were scored{f' ({errors})' if errors else ''}. Below "
        f"{MIN_ANSWERED:.0%}, it is not known whether the judge changed."
        if canaries.asked
        else "No canary clips were requested with these verdicts.",
        {"asked": canaries.asked, "scored": canaries.scored},
        "warn",
    )


def panel_agreement(clip_scores: Stored, by_majority: Collection[str] = ()) -> Finding:
    """Whether alpha is high enough. Agreement says that judges see the same, not that they are right.

    Criteria in `by_majority` are left out: their stored mean is a majority, from which alpha does not follow.
    """
    rows = clip_scores.rows(["criterion", "mean", "std", "n_scored"])
    measured = agreement(row for row in rows if row["criterion"] not in by_majority)
    alphas = {criterion: each.alpha for criterion, each in measured.items() if each.alpha is not None}
    poor = sorted(criterion for criterion, alpha in alphas.items() if alpha < MIN_ALPHA)
    return Finding(
        not poor,
        f"The judges disagree on {len(poor)} of {len(alphas)} criteria (alpha below {MIN_ALPHA}): "
        f"{', '.join(f'{criterion} {alphas[criterion]:z.2f}' for criterion in poor)}."
        if poor
        else f"Alpha of all {len(alphas)} criteria is at least {MIN_ALPHA}."
        if alphas
        else "Alpha of no criterion is known: fewer than two judges scored, or all scores are equal.",
        {
            **{f"alpha_{criterion}": alpha for criterion, alpha in alphas.items()},
            "subjects": max((each.n_subjects for each in measured.values()), default=0),
        },
        "warn",
    )


def enough_scored(
    clips: Stored, clip_scores: Stored, asked: Callable[[str], bool] | None = lambda _: True, unchecked: int = 0
) -> Finding:
    """Whether enough of the clips that a judge is `asked` about have a score, by the ID of their trajectory.

    `None` is a panel without a judge of clips. In `unchecked` clips of those, the rules of all judges had nothing to
    check. A drop without any clip fails: nothing was judged.
    """
    scored = {
        (row["trajectory_id"], row["clip_index"])
        for row in clip_scores.rows(["trajectory_id", "clip_index", "mean"])
        if row["mean"] is not None
    }
    if clips.count and asked is None:
        return Finding(True, "Not asked: no judge of the panel is asked about clips.", {"clips": 0, "scored": 0})
    in_drop = clips.count
    total = in_drop if asked is None else sum(map(asked, clips.values("trajectory_id")))
    if in_drop and not total:
        return Finding(True, "Not asked: no trajectory of the drop is in the sample.", {"clips": 0, "scored": 0})
    total -= unchecked
    if unchecked and not total:
        return Finding(True, "In no clip was there anything that the rules check.", {"clips": 0, "scored": 0})
    share = len(scored) / total if total else None
    return Finding(
        share is not None and share >= MIN_SCORED,
        f"{len(scored)} of {total} clips ({percent(share)}) have a score (minimum {MIN_SCORED:.0%})."
        if share is not None
        else "The drop has no clips: every record was removed or could not be read.",
        {"clips": total, "scored": len(scored), **({} if share is None else {"scored_share": share})},
    )


def judges_answered(verdicts: Mapping[str, Iterable[Stored]]) -> Finding:
    """Whether every judge answered something, over its tables of all levels."""
    answers = {
        judge: Answers.of(row for stored in levels for row in stored.rows(COLUMNS))
        for judge, levels in verdicts.items()
    }
    lost = [each.shortfall(name) or name for name, each in answers.items() if each.is_lost]
    return Finding(
        not lost,
        " ".join(lost) or f"Each of {len(answers)} judges answered something, or had nothing to answer.",
        {"judges": len(answers), "lost": len(lost)},
    )
