"""Whether people's labels can be read, and whether judges agree with them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from evaluation_assets.core.pipeline.checks.finding import Finding
from evaluation_assets.core.review.labels import Label, UnreadableLabel
from evaluation_assets.core.system.by_key import by_key
from evaluation_assets.core.text.nullable import mean_label

_SHOWN = 20
"""Lines of a kind that are named."""


def readable(found: Sequence[Label | UnreadableLabel], runs: Collection[tuple[str, str]]) -> Finding:
    """Whether every line of the files of labels is one, of an evaluated run. `runs` are drops and trajectories."""
    unreadable = [each for each in found if isinstance(each, UnreadableLabel)]
    unknown = [each for each in found if isinstance(each, Label) and (each.drop, each.trajectory_id) not in runs]
    named = {f"{each.source}:{each.line}": each.reason for each in unreadable[:_SHOWN]}
    unmatched = {
        f"{each.source}:{each.line}": f"drop {each.drop} has no run {each.trajectory_id}" for each in unknown[:_SHOWN]
    }
    said = [f"{len(unreadable)} of {len(found)} lines are not labels{_first(named)}"] if unreadable else []
    if unknown:
        said.append(f"{len(unknown)} of {len(found)} lines label runs that were not evaluated{_first(unmatched)}")
    split = _split([each for each in found if isinstance(each, Label)])
    if split:
        said.append(f"{len(split)} of the labels do not count, since people contradict each other{_first(split)}")
    return Finding(
        not said,
        f"{'; '.join(said) or f'Each of {len(found)} lines is a label of an evaluated run'}.",
        {"unreadable": len(unreadable), "unknown_runs": len(unknown), "contradicted": len(split), **named, **unmatched},
        "warn",
    )


def _split(labels: Sequence[Label]) -> dict[str, str]:
    """What people label as often one way as the other: the place of its first label, and the subject."""
    of_subjects = by_key(((each.drop, each.trajectory_id, each.clip_index, each.criterion), each) for each in labels)
    return {
        f"{own[0].source}:{own[0].line}": f"{own[0].criterion} of run {own[0].trajectory_id} of {own[0].drop}"
        for own in of_subjects.values()
        if mean_label([each.label for each in own]) is None
    }


def _first(reasons: Mapping[str, str]) -> str:
    return "".join(f": {place}: {reason}" for place, reason in [*reasons.items()][:1])


def may_gate(cards: Iterable[Mapping[str, Any]], min_kappa: float) -> Finding:
    """Which judges are kept out of gates, from rows of `judge_cards`."""
    rows = list(cards)
    poor = {row["judge"]: row["kappa"] for row in rows if row["may_gate"] is False}
    known = len({row["judge"] for row in rows})
    named = ", ".join(f"{judge} {kappa:z.2f}" for judge, kappa in sorted(poor.items()))
    return Finding(
        not poor,
        f"{len(poor)} of {known} judges are excluded from gates (kappa below {min_kappa}): {named}."
        if poor
        else f"No judge of {known} with enough labels has a kappa below {min_kappa}.",
        {f"kappa_{judge}": kappa for judge, kappa in poor.items()},
        "warn",
    )
