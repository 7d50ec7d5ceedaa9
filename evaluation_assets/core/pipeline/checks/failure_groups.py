"""Whether failures that were resolved stay so, and whether states are of groups that there are."""

from collections.abc import Mapping, Sequence
from typing import Any

from evaluation_assets.core.pipeline.checks.finding import Finding
from evaluation_assets.core.sections.failure_groups.states import KeptState
from evaluation_assets.core.text.counted import counted, first_of
from evaluation_assets.core.text.meant import did_you_mean

_NAMED = 3


def no_reopened_failures(states: Mapping[str, KeptState], groups: Sequence[Mapping[str, Any]]) -> Finding:
    """Whether no group was seen again after a person had resolved it."""
    again = [
        f"{row['group_id']} ({row['name']}) in {_last_new(row, states.get(row['group_id'], KeptState()))}"
        for row in groups
        if row["state"] == "reopened"
    ]
    resolved = sum(row["state"] == "resolved" for row in groups)
    return Finding(
        not again,
        f"Seen again after they were resolved: {first_of(again, _NAMED)}."
        if again
        else f"No resolved failure was seen again; {counted(resolved, 'failure group')} resolved.",
        {"resolved": resolved, "reopened": len(again)},
    )


def _last_new(group: Mapping[str, Any], kept: KeptState) -> str:
    """The last drop with the group that did not have it when it was resolved."""
    having = [each["drop"] for each in group["by_drop"] if each["n_affected"]]
    return ([drop for drop in having if drop not in (kept.drops or ())] or having)[-1]


def states_of_groups(states: Mapping[str, KeptState], groups: Sequence[Mapping[str, Any]]) -> Finding:
    """Whether each ID in groups.yaml is that of a group, or of one that was resolved and that no run has any more."""
    known = [row["group_id"] for row in groups]
    gone = {group for group, kept in states.items() if kept.state == "resolved" and kept.drops is not None}
    unknown = [_with_near(group, known) for group in states if group not in known and group not in gone]
    return Finding(
        not unknown,
        f"groups.yaml has states of groups that no run has: {first_of(unknown, _NAMED)}. Correct or remove them."
        if unknown
        else f"groups.yaml has states of {counted(len(states), 'group')}.",
        {"unknown": len(unknown)},
        severity="warn",
    )


def _with_near(group: str, known: Sequence[str]) -> str:
    hint = did_you_mean(group, known)
    return f"{group} ({hint})" if hint else group
