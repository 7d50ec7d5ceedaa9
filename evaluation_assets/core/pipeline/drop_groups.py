"""The failure groups that the findings of one drop belong to, beside the drops that were grouped before.

Groups are made over all drops, after any drop is evaluated. So that a report can show them without a cycle, it reads
the table as it is when the report is written.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from evaluation_assets.core.gating.evaluated_drops import without_damaged
from evaluation_assets.core.intake.facts import GroupsFacts
from evaluation_assets.core.lake.stored import Stored
from evaluation_assets.core.lake.tables import FAILURE_GROUPS
from evaluation_assets.core.pipeline.failure_groups import FindingsOfRuns, calls_of, evaluated_runs
from evaluation_assets.core.sections.failure_groups.grouping import UNEXPLAINED, GroupKey, assigned, names_of
from evaluation_assets.core.sections.failure_groups.occurrence import Occurrence
from evaluation_assets.core.sections.failure_groups.states import KeptState, State, read_states, shown_name, state_of
from evaluation_assets.core.sections.failure_groups.trends import DropCount, by_suite, change_in
from evaluation_assets.core.sections.findings.summary import Alike
from evaluation_assets.core.system.installation import Installation


@dataclass(frozen=True, slots=True, kw_only=True)
class DropGroups:
    """The groups of `findings`: `keys` are those of each, in order, and `unexplained` those of failed runs without any.

    `trends` are the drops of the suite with this drop last, for its groups and all that were known before; `states`
    are those of its groups, `names` those of all groups as they may be shown. `damaged` says why there are none from
    before.
    """

    findings: FindingsOfRuns
    keys: Sequence[GroupKey]
    unexplained: Mapping[str, GroupKey]
    trends: Mapping[GroupKey, Sequence[DropCount]]
    states: Mapping[GroupKey, State]
    names: Mapping[GroupKey, str]
    damaged: Sequence[str] = ()

    @property
    def members(self) -> Iterator[tuple[GroupKey, Occurrence]]:
        """The findings with their groups; they are read from the table."""
        return zip(self.keys, chain.from_iterable(self.findings), strict=True)

    @property
    def alike(self) -> Iterator[Alike]:
        """The group of each finding, with the number of other runs."""
        told = {key: Alike(key.id, self.trends[key][-1].n_affected - 1, key.kind) for key in self.states}
        return map(told.__getitem__, self.keys)


def drop_groups(
    home: Installation, drop: str, findings: Stored, raw: Stored, cover: Callable[[str], str]
) -> DropGroups:
    """The groups of a drop.

    Args:
        home: the installation.
        drop: key of the drop.
        findings: its findings, as they may be shown.
        raw: its trajectories, as they may be shown.
        cover: covers in names what may not be shown.

    Raises:
        InvalidConfiguration: `groups.yaml` is not valid.
    """
    damaged: list[str] = []
    runs = evaluated_runs(home, drop)
    earlier = next(
        without_damaged([FAILURE_GROUPS.name], lambda name: _read(home.whole_table(name), drop), damaged.append),
        _Earlier(),
    )
    of_runs = FindingsOfRuns(runs, home.table(drop, "findings"), home.table(drop, "raw_trajectories"))
    keys: list[GroupKey] = []
    unexplained: dict[str, GroupKey] = {}
    counts: Counter[GroupKey] = Counter()
    for own in assigned(of_runs, earlier.affected.keys(), calls_of(home, drop)):
        keys += (key for _, key in own)
        counts.update({key for _, key in own})
        unexplained |= {each.trajectory_id: key for each, key in own if each.kind == UNEXPLAINED}
    drops = {key: [*earlier.trend(key), runs.count(counts[key])] for key in dict.fromkeys([*earlier.affected, *counts])}
    kept = read_states(home.groups_file)
    return DropGroups(
        findings=FindingsOfRuns(runs, findings, raw),
        keys=keys,
        unexplained=unexplained,
        trends={key: by_suite(trend)[runs.suite] for key, trend in drops.items()},
        states={key: _state(drops[key], kept.get(key.id), len(drops)) for key in counts},
        names={key: cover(shown_name(name, kept.get(key.id))) for key, name in names_of(drops).items()},
        damaged=damaged,
    )


def _state(trend: Sequence[DropCount], kept: KeptState | None, groups: int) -> State:
    change, _ = change_in(trend, groups) or (None, None)
    return state_of(kept, [each.drop for each in trend if each.n_affected], change)


@dataclass(frozen=True, slots=True)
class _Earlier:
    """The drops that were grouped before, and the affected runs of each by group."""

    drops: Sequence[DropCount] = ()
    affected: Mapping[GroupKey, Mapping[str, int]] = field(default_factory=dict)

    def trend(self, key: GroupKey) -> list[DropCount]:
        """The drops with their runs that have a group; none has one that is not in the table."""
        counts = self.affected.get(key, {})
        return [each._replace(n_affected=counts.get(each.drop, 0)) for each in self.drops]


def _read(groups: Stored, drop: str) -> _Earlier:
    """The table of groups without this drop, which may have been evaluated before."""
    return _Earlier(
        [DropCount(*each, 0) for each in GroupsFacts.of(groups).drops if each[0] != drop],
        {
            GroupKey(row["kind"], row["tool"], row["words"]): {
                each["drop"]: each["n_affected"] for each in row["by_drop"]
            }
            for row in groups.rows(["kind", "tool", "words", "by_drop"])
        },
    )
