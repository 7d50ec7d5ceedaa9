"""The section of a report on failure groups: those of this drop, and what came and went with versions of the agent."""

from collections.abc import Collection, Sequence

from evaluation_assets.core.pipeline.drop_groups import DropGroups
from evaluation_assets.core.report.scores.lowest import Lowest
from evaluation_assets.core.sections.failure_groups.grouping import GroupKey
from evaluation_assets.core.sections.failure_groups.occurrence import Occurrence
from evaluation_assets.core.sections.failure_groups.states import State
from evaluation_assets.core.sections.failure_groups.trends import DropCount, VersionChange, version_changes
from evaluation_assets.core.sections.findings.finding import Severity
from evaluation_assets.core.sections.findings.summary import SEVERITIES
from evaluation_assets.core.system.frozen import Frozen
from evaluation_assets.core.text.counted import counted

EXAMPLES = 3
"""Examples listed by group, each of another run."""

MAX_POINTS = 40
"""Drops in a plot; the table has all."""


class GroupExample(Frozen):
    """A finding of the group, with its evidence: a quotation or a message. `is_shown`: its report has the run."""

    drop: str
    trajectory_id: str
    clip_index: int | None
    evidence: str
    is_quotation: bool
    is_shown: bool


class GroupPoint(Frozen):
    """The share of a drop's runs that have the group; `None` for a drop without runs."""

    drop: str
    share: float | None


class GroupSummary(Frozen):
    """A failure group: the runs of the drop that have it, and its share in this drop and those of the suite before.

    `severity` is the gravest of its findings.
    """

    group_id: str
    name: str
    state: State
    severity: Severity
    runs: int
    share: float
    examples: list[GroupExample]
    points: list[GroupPoint]

    def order(self) -> tuple[int, int, str]:
        """What groups are sorted by: the gravest first, of these those with the most runs."""
        return SEVERITIES.index(self.severity), -self.runs, self.group_id


class FailureGroupsSummary(Frozen):
    """The groups of a drop, the gravest first, and the changes by version, the newest first.

    They are compared with the drops of the suite that were grouped when the report was written: `compared` of them, the
    last of which was `last`.
    """

    groups: list[GroupSummary]
    changes: list[VersionChange]
    compared: int
    last: str | None

    @property
    def text(self) -> str:
        """What stands out: `12 groups, 1 new, 1 reopened; since agent v3: 1 new, 2 gone`."""
        states = [group.state for group in self.groups]
        named = [f"{states.count(state):,} {state}" for state in ("new", "grown", "reopened") if state in states]
        text = ", ".join([counted(len(states), "group"), *named])
        if not self.changes:
            return text
        change = self.changes[0]
        return f"{text}; since {change.since}: {len(change.appeared):,} new, {len(change.gone):,} gone"


def failure_groups_summary(of_drop: DropGroups, shown: Collection[str]) -> FailureGroupsSummary | None:
    """Summarise the groups of a drop; `None` without a group, of this drop or of those before.

    `shown` are the runs that the report shows.
    """
    if not of_drop.trends:
        return None
    examples: dict[GroupKey, _Examples] = {}
    for key, each in of_drop.members:
        examples.setdefault(key, _Examples()).add(each, each.trajectory_id in shown)
    earlier = next(iter(of_drop.trends.values()))[:-1]
    groups = [_summary(key, own, of_drop, shown) for key, own in examples.items()]
    return FailureGroupsSummary(
        groups=sorted(groups, key=GroupSummary.order),
        changes=version_changes([(of_drop.names[key], trend) for key, trend in of_drop.trends.items()]),
        compared=len(earlier),
        last=earlier[-1].drop if earlier else None,
    )


class _Examples:
    """The first finding of each run, those of shown runs first, and those of a step before others.

    `gravest` is the gravest severity of all.
    """

    def __init__(self) -> None:
        self._best = Lowest(EXAMPLES)
        self._run = ""
        self.gravest: Severity = "LOW"

    def add(self, each: Occurrence, is_shown: bool) -> None:
        """Offer the next finding; those of a run follow each other."""
        if SEVERITIES.index(each.severity) < SEVERITIES.index(self.gravest):
            self.gravest = each.severity
        if each.trajectory_id != self._run:
            self._run = each.trajectory_id
            self._best.offer(2.0 * (not is_shown) + (each.clip_index is None), each)

    def items(self) -> list[Occurrence]:
        return self._best.items()


def _summary(key: GroupKey, examples: _Examples, groups: DropGroups, shown: Collection[str]) -> GroupSummary:
    trend = groups.trends[key]
    return GroupSummary(
        group_id=groups.ids[key],
        name=groups.names[key],
        state=groups.states[key],
        severity=examples.gravest,
        runs=trend[-1].n_affected,
        share=trend[-1].n_affected / trend[-1].n_runs,
        examples=[_example(each, shown) for each in examples.items()],
        points=points(trend),
    )


def points(trend: Sequence[DropCount]) -> list[GroupPoint]:
    """The share of a group in each of the last drops."""
    return [
        GroupPoint(drop=each.drop, share=each.n_affected / each.n_runs if each.n_runs else None)
        for each in trend[-MAX_POINTS:]
    ]


def _example(each: Occurrence, shown: Collection[str]) -> GroupExample:
    return GroupExample(
        drop=each.drop,
        trajectory_id=each.trajectory_id,
        clip_index=each.clip_index,
        evidence=each.evidence,
        is_quotation=each.start is not None,
        is_shown=each.trajectory_id in shown,
    )
