"""The failure groups that the findings of one drop belong to, beside the drops that were grouped before.

Groups are made over all drops, after any drop is evaluated. So that a report can show them without a cycle, it reads
the table as it is when the report is written.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from evaluation_assets.core.gating.evaluated_drops import without_damaged
from evaluation_assets.core.intake.facts import GroupsFacts
from evaluation_assets.core.lake.stored import Stored
from evaluation_assets.core.lake.tables import FAILURE_GROUPS
from evaluation_assets.core.pipeline.failure_groups import occurrences, read_drop
from evaluation_assets.core.sections.failure_groups.grouping import GroupKey, assigned
from evaluation_assets.core.sections.failure_groups.occurrence import Occurrence
from evaluation_assets.core.sections.failure_groups.states import KeptState, State, read_states, shown_name, state_of
from evaluation_assets.core.sections.failure_groups.trends import DropCount, by_suite, change_in
from evaluation_assets.core.sections.findings.summary import Alike
from evaluation_assets.core.system.installation import Installation


@dataclass(frozen=True, slots=True, kw_only=True)
class DropGroups:
    """The findings of a drop in the order of their table, then its failed runs without any, each with its group.

    `trends` are the drops of the suite with this drop last, for its groups and all that were known before; `states`
    are those of its groups, `names` those of all groups as they may be shown. `damaged` says why there are none from
    before.
    """

    members: Sequence[tuple[GroupKey, Occurrence]]
    trends: Mapping[GroupKey, Sequence[DropCount]]
    states: Mapping[GroupKey, State]
    names: Mapping[GroupKey, str]
    damaged: Sequence[str] = ()

    @property
    def alike(self) -> list[Alike]:
        """The group of each of `members`, with the number of other runs."""
        return [Alike(each.trajectory_id, key.id, self.trends[key][-1].n_affected - 1) for key, each in self.members]


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
    runs, found, calls = read_drop(home, drop)
    earlier = next(
        without_damaged([FAILURE_GROUPS.name], lambda name: _read(home.whole_table(name), drop), damaged.append),
        _Earlier(),
    )
    keys = assigned(found, earlier.affected.keys(), calls)
    counts = Counter(key for key, _ in {(key, each.trajectory_id) for key, each in zip(keys, found, strict=True)})
    drops = {key: [*earlier.trend(key), runs.count(counts[key])] for key in dict.fromkeys([*earlier.affected, *keys])}
    kept = read_states(home.groups_file)
    return DropGroups(
        members=list(zip(keys, occurrences(runs, findings, raw), strict=True)),
        trends={key: by_suite(trend)[runs.suite] for key, trend in drops.items()},
        states={key: _state(drops[key], kept.get(key.id), len(drops)) for key in counts},
        names={key: cover(shown_name(key.name, kept.get(key.id))) for key in drops},
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
