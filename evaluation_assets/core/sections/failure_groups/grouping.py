"""Which findings are the same failure: the same kind, and the same tool or words where the kind gathers there.

A finding that follows from another one of its run is in the group of that one. A group's ID follows from its key alone,
so that it stays when runs are added and grouping is repeated.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import scipy

from evaluation_assets.core.sections.failure_groups.following import with_roots
from evaluation_assets.core.sections.failure_groups.occurrence import Occurrence
from evaluation_assets.core.sections.findings.kinds import kinds
from evaluation_assets.core.traces.trajectories.identity import digest

GROUPING_VERSION = "4"

UNEXPLAINED = "unexplained_failure"
"""Kind of a run that failed without any finding."""

ANY_TOOL = "any tool"
"""In the key of a group: its findings are at calls, and do not gather in one tool."""

_OF_MESSAGES = frozenset(
    (
        *("contradicted_answer", "unsupported_answer", "unperformed_claim", "unkept_promise", "repeated_message"),
        *("refusal", "user_correction", "user_re_ask"),
    )
)
"""Kinds about what an agent or a user wrote: a call in the same step is not what failed."""

_LEAST_RUNS = 5
_LEAST_SHARE = 0.3
_CHANCE = 0.001
"""Runs, and share of its kind, from which a tool or words have a group of their own; for tools also how likely calls
that are spread like all others would be so concentrated."""

_WORDS = 12
_WORD = re.compile(r"[^\W\d_]{2}")
_VARYING = re.compile(r"\S*\d\S*|\"[^\"]*\"|'[^']*'|`[^`]*`")
"""What differs between instances of one message: numbers, IDs, paths with digits, quoted values."""


class GroupKey(NamedTuple):
    """What the findings of a group have in common. Without `tool` they are at no call; without `words` these differ."""

    kind: str
    tool: str | None = None
    words: str | None = None

    @property
    def id(self) -> str:
        """Short ID, the same in every installation."""
        return digest(*(part or "" for part in self))[:8]

    @property
    def name(self) -> str:
        """Name for people."""
        return ": ".join(part for part in (kind_title(self.kind), self.tool, self.words) if part)


def kind_title(kind: str) -> str:
    """What a kind of groups is called."""
    return "Failed without a finding" if kind == UNEXPLAINED else kinds()[kind].title


def grouped(occurrences: Iterable[Occurrence], calls: Mapping[str, int]) -> dict[GroupKey, list[Occurrence]]:
    """The groups. `calls` counts all calls of the runs by tool: some tools are called more often, and fail as often."""
    rooted = _with_roots(occurrences)
    by_kind: dict[str, list[Occurrence]] = defaultdict(list)
    for each, root in rooted:
        if each is root:
            by_kind[each.kind].append(each)
    total = sum(calls.values())
    key_of: dict[int, GroupKey] = {}
    for own in by_kind.values():
        key_of |= _keys(own, calls, total)
    found: dict[GroupKey, list[Occurrence]] = defaultdict(list)
    for each, root in rooted:
        found[key_of[id(root)]].append(each)
    return dict(found)


def _keys(own: Sequence[Occurrence], calls: Mapping[str, int], total: int) -> dict[int, GroupKey]:
    """The keys of findings of a kind, which have words of their own or not; then the others are a tool's or not."""
    keys: dict[int, GroupKey] = {}
    for tool, members in _by_tool(own, calls, total):
        words = _frequent_words(members)
        keys |= {id(each): GroupKey(each.kind, tool, said) for each in members if (said := _message(each)) in words}
    others = [each for each in own if id(each) not in keys]
    for tool, members in _by_tool(others, calls, total):
        keys |= {id(each): GroupKey(each.kind, tool) for each in members}
    return keys


def _by_tool(
    own: Sequence[Occurrence], calls: Mapping[str, int], total: int
) -> Iterable[tuple[str | None, list[Occurrence]]]:
    """Findings of a kind by the tools in which they gather; those at calls of others are of any tool."""
    gathering = _failing_tools(own, calls, total)
    found: dict[str | None, list[Occurrence]] = defaultdict(list)
    for each in own:
        tool = _tool(each)
        found[tool if tool is None or tool in gathering else ANY_TOOL].append(each)
    return found.items()


def assigned(
    occurrences: Sequence[Occurrence], known: Collection[GroupKey], calls: Mapping[str, int]
) -> list[GroupKey]:
    """The group of each finding of a drop, among the groups of all drops: the closest of its kind.

    Findings of a kind that has no group yet form groups by themselves.
    """
    rooted = _with_roots(occurrences)
    root_of = {id(each): root for each, root in rooted}
    kinds_known = {key.kind for key in known}
    keys = {*known, *grouped((each for each, root in rooted if each is root and each.kind not in kinds_known), calls)}

    def closest(each: Occurrence) -> GroupKey:
        failed, said = _tool(each), _message(each)
        tools = [None] if failed is None else [failed, ANY_TOOL]
        closer = (GroupKey(each.kind, tool, words) for tool in tools for words in (said, None))
        return next((key for key in closer if key in keys), GroupKey(each.kind, tools[-1]))

    return [closest(root_of[id(each)]) for each in occurrences]


def _with_roots(occurrences: Iterable[Occurrence]) -> list[tuple[Occurrence, Occurrence]]:
    """Each finding with the one of its run that it follows from, or itself."""
    by_run: dict[tuple[str, str], list[Occurrence]] = defaultdict(list)
    for occurrence in occurrences:
        by_run[occurrence.run].append(occurrence)
    return [pair for own in by_run.values() for pair in with_roots(own)]


def _message(each: Occurrence) -> str:
    """The pattern of its evidence; none if that quotes a message of the run, which words one failure in many ways."""
    return "" if _tool(each) is None and each.start is not None else pattern_of(each.evidence)


def _tool(each: Occurrence) -> str | None:
    """The tool that failed."""
    return None if each.kind in _OF_MESSAGES else each.tool


def pattern_of(evidence: str) -> str:
    """The words of a message that its instances share: without values that vary, the first twelve, in lower case."""
    return " ".join(_VARYING.sub("#", evidence).lower().split()[:_WORDS])


def _failing_tools(own: Sequence[Occurrence], calls: Mapping[str, int], total: int) -> set[str]:
    """Tools in which a kind gathers more than their share of the calls explains."""
    with_tool = [each for each in own if _tool(each) in calls]
    found = set()
    for tool, count in Counter(map(_tool, with_tool)).items():
        if tool is None or count < _LEAST_SHARE * len(own) or _runs(with_tool, tool) < _LEAST_RUNS:
            continue
        chance = scipy.stats.binom.sf(count - 1, len(with_tool), calls[tool] / total)
        if chance < _CHANCE / len(calls):
            found.add(tool)
    return found


def _runs(own: Sequence[Occurrence], tool: str) -> int:
    return len({each.run for each in own if _tool(each) == tool})


def _frequent_words(members: Sequence[Occurrence]) -> set[str]:
    """Messages that are a group of their own among others; one that all have is not."""
    runs: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for each in members:
        runs[_message(each)].add(each.run)
    everyone = len({each.run for each in members})
    found = {
        words
        for words, own in runs.items()
        if len(own) >= _LEAST_RUNS and len(own) >= _LEAST_SHARE * everyone and _WORD.search(words)
    }
    return found if len(runs) > 1 else set()
