"""How many runs of each drop have a failure group: where it is new, and what came and went with a version."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import exp, lgamma
from typing import NamedTuple

_CHANCE = 0.05
"""Of any change without a cause, among all groups of a suite."""


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
    found: dict[str | None, list[DropCount]] = {}
    for each in trend:
        found.setdefault(each.suite, []).append(each)
    return found


def is_new(trend: Sequence[DropCount], groups: int) -> bool:
    """Whether a suite has the group in its last drop alone, more often than chance explains.

    `trend` has all drops, the oldest first; `groups` is the number of all groups.
    """
    return any(_is_only_in([last], earlier, groups) for *earlier, last in by_suite(trend).values())


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
    found = [VersionChange(version, before[version]) for version in versions if version in before]
    for name, trend in trends:
        counts = {version: [each for each in trend if each.version == version] for version in versions}
        for change in found:
            earlier, later = counts[change.since], counts[change.version]
            if _is_only_in(later, earlier, len(trends)):
                change.appeared.append(name)
            elif _is_only_in(earlier, later, len(trends)):
                change.gone.append(name)
    return found[::-1]


def _is_only_in(some: Sequence[DropCount], others: Sequence[DropCount], groups: int) -> bool:
    affected = sum(each.n_affected for each in some)
    if not affected or not others or any(each.n_affected for each in others):
        return False
    chance = chance_of_all_in(affected, sum(each.n_runs for each in some), sum(each.n_runs for each in others))
    return chance < _CHANCE / groups


def chance_of_all_in(affected: int, runs: int, others: int) -> float:
    """How likely all affected runs are among `runs`, if each of these and of the `others` were as likely to be one.

    The hypergeometric probability `C(runs, affected) / C(runs + others, affected)`.
    """
    return exp(_log_choose(runs, affected) - _log_choose(runs + others, affected)) if affected <= runs else 0.0


def _log_choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
