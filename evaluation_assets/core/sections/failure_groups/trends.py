"""How many runs of each drop have a failure group: where it is new, and what came and went with a version."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import scipy

from evaluation_assets.core.sections.failure_groups.states import Change
from evaluation_assets.core.system.by_key import by_key

_CHANCE = 0.05
"""Of any change without a cause, among all groups of a suite."""

_DROPS = 20
"""Drops of a suite over which that chance holds."""


class DropCount(NamedTuple):
    """The runs of a drop, and those that have the group. `version` is the agent with its version; empty if unknown."""

    drop: str
    suite: str | None
    agent: str | None
    version: str
    n_runs: int
    n_affected: int


@dataclass(frozen=True, slots=True)
class VersionChange:
    """The groups that came with a version of the agent, and those that it has no more, each beyond chance."""

    version: str
    since: str
    appeared: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)


def by_suite(trend: Sequence[DropCount]) -> dict[str | None, list[DropCount]]:
    """The drops of each suite, in their order."""
    return by_key((each.suite, each) for each in trend)


def change_in(trend: Sequence[DropCount], groups: int) -> tuple[Change, str] | None:
    """What the last drop of an agent in a suite says of a group, and which drop that is.

    It has the group more often than chance and the drops before explain. Of several suites, the one with the newest
    drop counts. Drops without a suite may be of anything.

    Args:
        trend: all drops, the oldest first.
        groups: number of all groups.
    """
    newest = {(each.suite, each.agent): number for number, each in enumerate(trend) if each.suite is not None}
    series = by_key(((each.suite, each.agent), each) for each in trend)
    for place in sorted(newest, key=newest.__getitem__, reverse=True):
        *earlier, last = series[place]
        before, runs_before = sum(each.n_affected for each in earlier), sum(each.n_runs for each in earlier)
        if not earlier or not last.n_affected:
            continue
        if chance_of_so_many(last.n_affected, last.n_runs, before, runs_before) < _CHANCE / _DROPS / groups:
            return "grown" if before else "new", last.drop
    return None


def version_changes(trends: Sequence[tuple[str, Sequence[DropCount]]]) -> list[VersionChange]:
    """What each version of an agent brought and ended, against the version before it, the newest first.

    `trends` are the groups by name, each with the drops of the suite. Drops without a version are left out.
    """
    drops = [each for each in trends[0][1] if each.version] if trends else []
    versions = list(dict.fromkeys(each.version for each in drops))
    before: dict[str, str] = {}
    for agent in {each.agent for each in drops}:
        own = dict.fromkeys(each.version for each in drops if each.agent == agent)
        before |= {version: since for since, version in pairwise(own)}
    changes = [VersionChange(version, before[version]) for version in versions if version in before]
    for name, trend in trends:
        counts = {version: [each for each in trend if each.version == version] for version in versions}
        for change in changes:
            earlier, later = counts[change.since], counts[change.version]
            if _is_only_in(later, earlier, len(trends)):
                change.appeared.append(name)
            elif _is_only_in(earlier, later, len(trends)):
                change.gone.append(name)
    return changes[::-1]


def _is_only_in(some: Sequence[DropCount], others: Sequence[DropCount], groups: int) -> bool:
    affected = sum(each.n_affected for each in some)
    if not affected or not others or any(each.n_affected for each in others):
        return False
    chance = chance_of_so_many(affected, sum(each.n_runs for each in some), 0, sum(each.n_runs for each in others))
    return chance < _CHANCE / groups


def chance_of_so_many(affected: int, runs: int, affected_before: int, runs_before: int) -> float:
    """How likely at least `affected` of the runs have it, if all runs, also those before, are equally likely to.

    One-sided exact test of Fisher; `scipy.stats` has it too, and takes 45 MB and half a second to import.
    """
    everyone, with_it = runs + runs_before, affected + affected_before
    counts = np.arange(max(affected, with_it - runs_before), min(runs, with_it) + 1)
    ways = _log_choose(runs, counts) + _log_choose(runs_before, with_it - counts)
    return min(1.0, float(np.exp(ways - _log_choose(everyone, np.array(with_it))).sum()))


def _log_choose(n: int, k: np.ndarray) -> np.ndarray:
    return -scipy.special.betaln(1 + n - k, 1 + k) - np.log(n + 1)
