"""The failure groups that the findings of one drop belong to, beside the drops that were grouped before.

Groups are made over all drops, after any drop is evaluated. So that a report can show them without a cycle, it reads
the table as it is when the report is written.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from evaluation_assets.core.gating.evaluated_drops import without_damaged
from evaluation_assets.core.intake.facts import GroupsFacts
from evaluation_assets.core.lake.stored import Stored
from evaluation_assets.core.lake.tables import FAILURE_GROUPS, GROUPED_FINDINGS
from evaluation_assets.core.pipeline.failure_groups import (
    EvaluatedRuns,
    FindingsOfRuns,
    calls_of,
    comparable_runs,
    comparable_trend,
    evaluated_runs,
)
from evaluation_assets.core.sections.failure_groups.grouping import UNEXPLAINED, GroupKey, assigned, names_of, tools_of
from evaluation_assets.core.sections.failure_groups.identity import with_new_ids
from evaluation_assets.core.sections.failure_groups.occurrence import Occurrence
from evaluation_assets.core.sections.failure_groups.states import Change, State, read_states, shown_name, state_of
from evaluation_assets.core.sections.failure_groups.trends import DropCount, by_suite, change_in
from evaluation_assets.core.sections.findings.summary import Alike
from evaluation_assets.core.system.installation import Installation


@dataclass(frozen=True, slots=True, kw_only=True)
class DropGroups:
    """The groups of `findings`: `keys` are those of each, in order, and `unexplained` the IDs of those of failed runs
    without any.

    `ids` are those of all groups. `trends` are the drops of the suite with this drop last, for its groups and all that
    were known before; `states` are those of its groups, `names` those of all groups as they may be shown. `damaged`
    says why there are none from before.
    """

    findings: FindingsOfRuns
    keys: Sequence[GroupKey]
    unexplained: Mapping[str, str]
    ids: Mapping[GroupKey, str]
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
        told = {key: Alike(self.ids[key], self.trends[key][-1].n_affected - 1, key.kind) for key in self.states}
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
    affected: dict[GroupKey, set[str]] = defaultdict(set)
    tools: dict[GroupKey, set[str]] = defaultdict(set, {key: set(own) for key, own in earlier.tools.items()})
    for own in assigned(of_runs, earlier.affected.keys(), {drop: calls_of(home, drop)}):
        keys += (key for _, key in own)
        for each, key in own:
            affected[key].add(each.trajectory_id)
            tools[key] |= tools_of(key, (each,))
        unexplained |= {each.trajectory_id: key for each, key in own if each.kind == UNEXPLAINED}
    known = dict.fromkeys([*earlier.affected, *affected])
    drops = {key: [*earlier.trend(key), runs.count(len(affected.get(key, ())))] for key in known}
    ids = with_new_ids(known, earlier.ids)
    changes = _changes(home, runs, affected, earlier, ids, damaged.append)
    kept = read_states(home.groups_file)
    return DropGroups(
        findings=FindingsOfRuns(runs, findings, raw),
        keys=keys,
        unexplained={run: ids[key] for run, key in unexplained.items()},
        ids=ids,
        trends={key: by_suite(trend)[runs.suite] for key, trend in drops.items()},
        states={
            key: state_of(kept.get(ids[key]), [each.drop for each in drops[key] if each.n_affected], changes[key])
            for key in affected
        },
        names={
            key: cover(shown_name(name, kept.get(ids[key])))
            for key, name in names_of({key: tools[key] for key in drops}).items()
        },
        damaged=damaged,
    )


def _changes(
    home: Installation,
    runs: EvaluatedRuns,
    affected: Mapping[GroupKey, set[str]],
    earlier: "_Earlier",
    ids: Mapping[GroupKey, str],
    damaged: Callable[[str], object],
) -> dict[GroupKey, Change | None]:
    """What the drop says of its groups, as the table will say it; if nothing, what the last drop of others says."""
    same = [each.drop for each in earlier.drops if runs.suite and (each.suite, each.agent) == (runs.suite, runs.agent)]
    others = {key: each for key, each in earlier.changes.items() if each[1] not in {*same, runs.drop}}
    if not (same and affected):
        return {key: others.get(key, (None,))[0] for key in affected}
    compared = comparable_runs([*without_damaged(same, lambda drop: _tasks(home, drop, runs), damaged), runs])
    members = home.whole_table(GROUPED_FINDINGS.name)
    seen = next(without_damaged([members.table.name], lambda _: _affected(members), damaged), {})
    changes: dict[GroupKey, Change | None] = {}
    for key, now in affected.items():
        own = change_in(comparable_trend(compared, {**seen.get(ids[key], {}), runs.drop: now}), len(ids))
        changes[key] = (own or others.get(key, (None,)))[0]
    return changes


def _affected(members: Stored) -> Mapping[str, Mapping[str, set[str]]]:
    """The runs of each group by drop."""
    affected: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for row in members.rows(["group_id", "drop", "trajectory_id"]):
        affected[row["group_id"]][row["drop"]].add(row["trajectory_id"])
    return affected


def _tasks(home: Installation, drop: str, like: EvaluatedRuns) -> EvaluatedRuns:
    rows = home.table(drop, "raw_trajectories").rows(["trajectory_id", "task_id"])
    return replace(like, drop=drop, tasks={row["trajectory_id"]: row["task_id"] for row in rows}, successes={})


@dataclass(frozen=True, slots=True)
class _Earlier:
    """The drops that were grouped before, and by group its ID, affected runs, tools, and what changed in which drop."""

    drops: Sequence[DropCount] = ()
    ids: Mapping[GroupKey, str] = field(default_factory=dict)
    affected: Mapping[GroupKey, Mapping[str, int]] = field(default_factory=dict)
    tools: Mapping[GroupKey, Sequence[str]] = field(default_factory=dict)
    changes: Mapping[GroupKey, tuple[Change, str]] = field(default_factory=dict)

    def trend(self, key: GroupKey) -> list[DropCount]:
        """The drops with their runs that have a group; none has one that is not in the table."""
        counts = self.affected.get(key, {})
        return [each._replace(n_affected=counts.get(each.drop, 0)) for each in self.drops]


def _read(groups: Stored, drop: str) -> _Earlier:
    """The table of groups without this drop, which may have been evaluated before."""
    rows = {
        GroupKey(row["kind"], row["tool"], row["words"]): row
        for row in groups.rows(["group_id", "kind", "tool", "tools", "words", "by_drop", "state", "changed_in"])
    }
    return _Earlier(
        [DropCount(*each, 0) for each in GroupsFacts.of(groups).drops if each[0] != drop],
        {key: row["group_id"] for key, row in rows.items()},
        {key: {each["drop"]: each["n_affected"] for each in row["by_drop"]} for key, row in rows.items()},
        {key: row["tools"] or () for key, row in rows.items()},
        {key: (row["state"], row["changed_in"]) for key, row in rows.items() if row["changed_in"]},
    )
