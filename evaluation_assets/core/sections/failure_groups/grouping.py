"""Which findings are the same failure: the same kind, and the same tool or words where the kind gathers there.

A finding that follows from another one of its run is in the group of that one.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import scipy

from evaluation_assets.core.sections.failure_groups.following import with_roots
from evaluation_assets.core.sections.failure_groups.occurrence import Occurrence
from evaluation_assets.core.sections.findings.gathering import CASE_ISSUES
from evaluation_assets.core.sections.findings.kinds import kinds
from evaluation_assets.core.system.by_key import by_key
from evaluation_assets.core.text.unspaced import UNSPACED
from evaluation_assets.core.traces.trajectories.identity import digest

GROUPING_VERSION = "13"

UNEXPLAINED = "unexplained_failure"
"""Kind of a run that failed without any finding."""

ANY_TOOL = "any tool"
"""In the key of a group: its findings are at calls, and do not gather in one tool."""

_OF_NO_TOOL = frozenset(
    (
        *("contradicted_answer", "unsupported_answer", "unperformed_claim", "unkept_promise", "repeated_message"),
        *("refusal", "user_correction", "user_re_ask", "failing_tests"),
    )
)
"""Kinds about what an agent or a user wrote, or about tests: a call in the same step is not what failed."""

_LEAST_RUNS = 5
_LEAST_SHARE = 0.3
_CHANCE = 0.001
"""Runs, and share of its kind, from which a tool or words have a group of their own; for tools also how likely calls
that are spread like all others would be so concentrated."""

_WORDS = 12
_WORD = re.compile(r"[^\W\d_]{2}")
_WITH_DIGIT = rf"[^\s{UNSPACED}]*\d[^\s{UNSPACED}]*"
_VARYING = re.compile(
    rf"\{{.*(?:\}}|…)|\[[^\[\]]*(?:\]|…)|\"(?:[^\"\\]|\\.)*(?:\"|$)|{_WITH_DIGIT}|'[^']*'|`[^`]*`"
    r"|[“「『«][^“”「」『』«»]*(?:[”」』»]|$)",
    re.DOTALL,
)
"""What differs between instances of one message: arguments, quoted values that may be cut off, numbers, IDs, paths
with digits."""

_REPORTED = re.compile(
    r'\s*\{.*?"(?:error(?:_?message)?|message|detail|reason)"\s*:\s*"(?P<said>(?:[^"\\]|\\.)+)',
    re.IGNORECASE | re.DOTALL,
)
"""An object with an error in a field, which may be cut off."""

_WORDED = (
    (re.compile(r"(?: with #?)?,? (?:was not (?:made|expected)|is one more than expected|while an expected .*)$"), ""),
    (re.compile(r" with #(?=, failed: )"), ""),
    (re.compile(r"^call #,? (?:went to )?|(?:^|: )(?:at \S+ )?expected\b.*|^the answer lacks #.*"), ""),
    (re.compile(r"^# of # tests? (.*?) fails?(?:: .*)?$"), r"tests \1"),
)
"""Words of issues of cases that say no more than the kind of finding does."""

_OF_CASES = frozenset(filter(None, CASE_ISSUES.values()))

_Place = tuple[str, str | None]
"""A kind of finding, and a tool."""


class GroupKey(NamedTuple):
    """What the findings of a group have in common. Without `tool` they are at no call; without `words` these differ."""

    kind: str
    tool: str | None = None
    words: str | None = None

    @property
    def id(self) -> str:
        """The ID of a group that none was before."""
        return digest(*(part or "" for part in self))[:8]

    @property
    def name(self) -> str:
        """Name for people. What the words say of the tool is not said again; no tool is named where none stands out."""
        said = self.words or ""
        tool = None if self.tool == ANY_TOOL or (said and (self.tool or "").casefold() in said) else self.tool
        return ": ".join(part for part in (kind_title(self.kind), tool, said) if part)


def tools_of(key: GroupKey, members: Iterable[Occurrence]) -> set[str]:
    """The tools at which a group's findings of its kind are."""
    return {tool for each in members if each.kind == key.kind and (tool := _tool(each)) is not None}


def names_of(tools: Mapping[GroupKey, Collection[str]]) -> dict[GroupKey, str]:
    """The names of groups with these tools. Those that would have the same one also say at which calls they are."""
    names = {key: _at_only_tool(key, own).name for key, own in tools.items()}
    alike = Counter(names.values())
    return {key: name if alike[name] == 1 else _with_place(key) for key, name in names.items()}


def _at_only_tool(key: GroupKey, tools: Collection[str]) -> GroupKey:
    """The group as if findings gathered in its tool, if it has no other one."""
    return key._replace(tool=next(iter(tools))) if key.tool == ANY_TOOL and len(tools) == 1 else key


def _with_place(key: GroupKey) -> str:
    place = "at a call" if key.tool == ANY_TOOL else key.tool
    return ": ".join(filter(None, (kind_title(key.kind), place, key.words)))


def kind_title(kind: str) -> str:
    """What a kind of groups is called."""
    return "Failed without a finding" if kind == UNEXPLAINED else kinds()[kind].title


Calls = Mapping[str, Mapping[str, int]]
"""The calls of each drop by tool: some tools are called more often, and fail as often."""


def grouped(
    occurrences: Iterable[Occurrence], calls: Calls, former: Collection[GroupKey] = ()
) -> dict[GroupKey, list[Occurrence]]:
    """The groups. Those that were `former` ones stay apart although findings no longer gather in them."""
    by_run = by_key((occurrence.run, occurrence) for occurrence in occurrences)
    runs = [*by_run.values()]
    gathered = _Gathered.of(runs, (), calls, frozenset(former))
    return by_key((gathered.key(root), each) for own in runs for each, root in with_roots(own))


def assigned(
    runs: Iterable[Sequence[Occurrence]], known: Collection[GroupKey], calls: Calls
) -> Iterator[list[tuple[Occurrence, GroupKey]]]:
    """The findings of each run with their groups, among the groups of all drops: the closest of its kind.

    Findings of a kind that has no group yet form groups by themselves. `runs` is iterated four times, so that the
    findings of a big drop need not be in memory.
    """
    groups, kinds_known = frozenset(known), {key.kind for key in known}
    gathered = _Gathered.of(runs, kinds_known, calls)
    for own in runs:
        yield [
            (each, _closest(root, groups) if root.kind in kinds_known else gathered.key(root))
            for each, root in with_roots(own)
        ]


def _closest(each: Occurrence, groups: Collection[GroupKey]) -> GroupKey:
    failed, said = _tool(each), _message(each)
    tools = [None] if failed is None else [failed, ANY_TOOL]
    closer = (GroupKey(each.kind, tool, words) for tool in tools for words in (said, None))
    return next((key for key in closer if key in groups), GroupKey(each.kind, tools[-1]))


@dataclass(frozen=True, slots=True)
class _Gathered:
    """Where findings gather: in words, at the tools in which their kind gathers; what is left, in tools."""

    tools: Mapping[str, Collection[str]]
    words: Mapping[_Place, Collection[str]]
    tools_of_others: Mapping[str, Collection[str]]
    former: Collection[GroupKey]

    @classmethod
    def of(
        cls,
        runs: Iterable[Sequence[Occurrence]],
        leave_out: Collection[str],
        calls: Calls,
        former: Collection[GroupKey] = frozenset(),
    ) -> Self:
        """Count the findings that follow from no other one, but those of kinds to leave out."""

        def roots() -> Iterator[list[Occurrence]]:
            for own in runs:
                yield [each for each, root in with_roots(own) if each is root and each.kind not in leave_out]

        gathered = cls(_failing_tools(roots(), calls), defaultdict(set), {}, former)
        everyone, said = Counter[_Place](), Counter[tuple[_Place, str]]()
        for own in roots():
            everyone.update({_place(each, gathered.tools) for each in own})
            said.update({(_place(each, gathered.tools), _message(each)) for each in own})
        gathered = replace(gathered, words=_frequent_words(said, everyone))
        others = ([each for each in own if not gathered.has_words(each)] for own in roots())
        return replace(gathered, tools_of_others=_failing_tools(others, calls))

    def has_words(self, each: Occurrence) -> bool:
        """Whether what a finding says is a group of its own."""
        return _message(each) in self.words[_place(each, self.tools)]

    def key(self, each: Occurrence) -> GroupKey:
        """The group of a finding."""
        if self.has_words(each):
            own = GroupKey(*_place(each, self.tools), _message(each))
        else:
            own = GroupKey(*_place(each, self.tools_of_others))
        closer = self._closer(each, own) if self.former else ()
        return next((key for key in closer if key in self.former), own)

    def _closer(self, each: Occurrence, own: GroupKey) -> Iterator[GroupKey]:
        """The groups that it stays in if they were there before, closer ones than that where findings gather now."""
        failed, said = _tool(each), _message(each)
        if own.words is None or own not in self.former:
            yield GroupKey(each.kind, failed, said)
            if own.tool == ANY_TOOL:
                yield GroupKey(each.kind, failed)
        if own == (each.kind, ANY_TOOL, None) and failed not in self.tools[each.kind]:
            yield GroupKey(each.kind, ANY_TOOL, said)


def _place(each: Occurrence, tools: Mapping[str, Collection[str]]) -> _Place:
    """Kind and tool of a finding; any tool where its kind does not gather in it."""
    tool = _tool(each)
    return each.kind, tool if tool is None or tool in tools[each.kind] else ANY_TOOL


def _message(each: Occurrence) -> str:
    """The pattern of its evidence; none if that quotes a message of the run, which words one failure in many ways."""
    return "" if _tool(each) is None and each.start is not None else pattern_of(each.evidence, each.kind)


def _tool(each: Occurrence) -> str | None:
    """The tool that failed."""
    return None if each.kind in _OF_NO_TOOL else each.tool


def pattern_of(evidence: str, kind: str | None = None) -> str:
    """The words of a message that its instances share: without values that vary, the first twelve, in lower case.

    Of an object that reports an error, they are the words of the error.
    What an issue of a case says beside tool, parameter and values is left out, if the kind of the finding is known.
    """
    reported = _REPORTED.match(evidence)
    said = evidence if reported is None else reported["said"].replace('\\"', '"')
    pattern = " ".join(_VARYING.sub("#", said).lower().split())
    for worded, kept in _WORDED if kind in _OF_CASES else ():
        pattern = worded.sub(kept, pattern)
    return " ".join(pattern.split()[:_WORDS])


def _failing_tools(runs: Iterable[Sequence[Occurrence]], calls: Calls) -> dict[str, set[str]]:
    """Tools by kind in which it gathers more than their share of the calls explains.

    What counts are the drops that call a tool: agents with other tools may fail in theirs.
    """
    found: dict[str, Counter[_Place]] = defaultdict(Counter)
    affected = Counter[_Place]()
    for own in filter(None, runs):
        places = [(each.kind, _tool(each)) for each in own]
        found[own[0].drop].update(places)
        affected.update(set(places))
    at, of_kind, with_tool = Counter[_Place](), Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for drop, (kind, tool), count in ((drop, *one) for drop, places in found.items() for one in places.items()):
        at[kind, tool] += count
        of_kind[drop, kind] += count
        with_tool[drop, kind] += count if tool in calls.get(drop, ()) else 0
    totals = {drop: sum(own.values()) for drop, own in calls.items()}
    drops_of: dict[str | None, list[str]] = by_key((tool, drop) for drop, own in calls.items() for tool in own)
    tools: dict[str, set[str]] = {kind: set() for _, kind in of_kind}
    for (kind, tool), count in at.items():
        drops = drops_of.get(tool, [])
        least = _LEAST_SHARE * sum(of_kind[each, kind] for each in drops)
        if tool is None or not drops or count < least or affected[kind, tool] < _LEAST_RUNS:
            continue
        share = sum(calls[each][tool] for each in drops) / sum(totals[each] for each in drops)
        chance = scipy.special.bdtrc(count - 1, sum(with_tool[each, kind] for each in drops), share)
        if chance < _CHANCE / len(drops_of):
            tools[kind].add(tool)
    return tools


def _frequent_words(said: Mapping[tuple[_Place, str], int], everyone: Mapping[_Place, int]) -> dict[_Place, set[str]]:
    """Messages that are a group of their own among others of their place; one that all have is not."""
    messages = Counter(place for place, _ in said)
    frequent: dict[_Place, set[str]] = {place: set() for place in everyone}
    for (place, words), runs in said.items():
        is_frequent = runs >= _LEAST_RUNS and runs >= _LEAST_SHARE * everyone[place]
        if is_frequent and messages[place] > 1 and _WORD.search(words):
            frequent[place].add(words)
    return frequent
