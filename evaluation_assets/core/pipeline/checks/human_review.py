"""Whether people's labels can be read, and whether judges agree with them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evaluation_assets.core.pipeline.checks.finding import Finding
from evaluation_assets.core.review.labels import Label, UnreadableLabel

_SHOWN = 20
"""Unreadable lines that are named."""


def readable(found: Sequence[Label | UnreadableLabel]) -> Finding:
    """Whether every line of the files of labels is one."""
    unreadable = [each for each in found if isinstance(each, UnreadableLabel)]
    return Finding(
        not unreadable,
        f"{len(unreadable)} of {len(found)} lines are not labels"
        f"{f': {unreadable[0].source}:{unreadable[0].line}: {unreadable[0].reason}' if unreadable else ''}.",
        {
            "unreadable": len(unreadable),
            **{f"{each.source}:{each.line}": each.reason for each in unreadable[:_SHOWN]},
        },
        "warn",
    )


def may_gate(cards: Iterable[Mapping[str, Any]], min_kappa: float) -> Finding:
    """Which judges are kept out of gates, from rows of `judge_cards`."""
    rows = list(cards)
    poor = {row["judge"]: row["kappa"] for row in rows if row["may_gate"] is False}
    known = len({row["judge"] for row in rows})
    named = ", ".join(f"{judge} {kappa:.2f}" for judge, kappa in sorted(poor.items()))
    return Finding(
        not poor,
        f"{len(poor)} of {known} judges are excluded from gates (kappa below {min_kappa}): {named}."
        if poor
        else f"No judge of {known} with enough labels has a kappa below {min_kappa}.",
        {f"kappa_{judge}": kappa for judge, kappa in poor.items()},
        "warn",
    )
