"""Which ID a failure group has: that of the group which most of its findings were in before."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Self

from evaluation_assets.core.sections.failure_groups.grouping import GroupKey
from evaluation_assets.core.sections.failure_groups.occurrence import Member, Occurrence
from evaluation_assets.core.traces.trajectories.identity import digest


class FormerGroups:
    """The IDs of the groups that findings were in."""

    def __init__(self) -> None:
        self._of_instance: dict[int, str] = {}
        self._of_member: dict[Member, str | None] = {}

    @classmethod
    def of(cls, ids: Mapping[GroupKey, str], groups: Mapping[GroupKey, Iterable[Occurrence]]) -> Self:
        """Those of groups with these IDs."""
        former = cls()
        for key, members in groups.items():
            for each in members:
                former.add(each.member, each.instance, ids[key])
        return former

    def add(self, member: Member, instance: int, group: str) -> None:
        """Add a finding."""
        self._of_instance[instance] = group
        if self._of_member.setdefault(member, group) != group:
            self._of_member[member] = None

    def id_of(self, each: Occurrence) -> str | None:
        """The group of a finding. One with new words is known by its run and kind, if these were in one group."""
        return self._of_instance.get(each.instance) or self._of_member.get(each.member)


def ids_of(
    groups: Mapping[GroupKey, Iterable[Occurrence]], before: FormerGroups, named: Collection[str] = ()
) -> dict[GroupKey, str]:
    """The IDs of groups, whose tools and words may change as runs are added.

    A former group hands its ID on to the group that has most of its findings. Of several that would hand theirs on to
    one, a group that is `named` in groups.yaml does, or else the one that most findings come from.
    """
    went: dict[str, Counter[GroupKey]] = defaultdict(Counter)
    for key, members in groups.items():
        for each in members:
            if (former := before.id_of(each)) is not None:
                went[former][key] += 1
    handed_on: dict[GroupKey, list[tuple[bool, int, bool, str]]] = defaultdict(list)
    for former, counts in went.items():
        ((key, count),) = counts.most_common(1)
        handed_on[key].append((former in named, count, former == key.id, former))
    ids = {key: max(formers)[-1] for key, formers in handed_on.items()}
    return with_new_ids(groups, ids)


def with_new_ids(keys: Iterable[GroupKey], ids: Mapping[GroupKey, str]) -> dict[GroupKey, str]:
    """IDs of groups, those that have none yet with one that follows from what they have in common."""
    known, taken = dict(ids), set(ids.values())
    for key in keys:
        if key not in known:
            made = key.id
            while made in taken:  # by a group that had it before
                made = digest(made)[:8]
            known[key] = made
            taken.add(made)
    return known
