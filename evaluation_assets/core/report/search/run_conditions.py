"""Conditions of a search, in the words of the page of runs: `outcome:fail`, `finding:loop`, `tool:search`."""

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.system.by_key import by_key
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.folded import folded

OUTCOMES = {True: "pass", False: "fail", None: "unknown"}

_TOKEN = re.compile(r'-?[a-z][A-Za-z0-9_.-]*(?::|<=|>=|<|>|=)"[^"]*"|"[^"]*"|\S+')
_CONDITION = re.compile(r"(-?)(finding|outcome|tool):(.+)")
"""As in `query.js`, which has more fields; a test holds that both read a query alike."""


class Condition(NamedTuple):
    """A run has the `value` in a field: the kind of a finding, its outcome, or a part of a tool's name; or has not."""

    field: str
    value: str
    is_negated: bool = False

    def holds(self, kinds: Collection[str], outcome: bool | None, tools: Sequence[str]) -> bool:
        """Whether it holds for a run with these kinds of findings, this outcome and these tools."""
        if self.field == "tool":
            found = any(self.value in folded(tool) for tool in tools)
        else:
            found = self.value in (kinds if self.field == "finding" else (OUTCOMES[outcome],))
        return found != self.is_negated


class Query(NamedTuple):
    """What runs are searched for: words and phrases, folded, and conditions."""

    terms: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()

    @property
    def kinds(self) -> list[str]:
        """The kinds of findings that a run has to have."""
        return [each.value for each in self.conditions if each.field == "finding" and not each.is_negated]


class Match(NamedTuple):
    """A run for which all conditions hold; `finding` is its first of a kind that is asked for."""

    finding: Row | None


def query_of(text: str) -> Query:
    """The words, the quoted phrases and the conditions of a text."""
    terms, conditions = list[str](), list[Condition]()
    for token in _TOKEN.findall(text):
        if condition := _CONDITION.fullmatch(token):
            negated, field, value = condition.groups()
            conditions.append(Condition(field, folded(value.replace('"', "")), bool(negated)))
        elif term := folded(token.replace('"', "")):
            terms.append(term)
    return Query(tuple(terms), tuple(conditions))


def matches_in(home: Installation, drop: str, query: Query) -> dict[str, Match]:
    """The runs of a drop for which all conditions hold, by ID."""
    asked = {each.field for each in query.conditions}
    columns = ["trajectory_id", "kind", "clip_index", "evidence"]
    found = home.table(drop, "findings").rows(columns) if "finding" in asked else ()
    findings: dict[str, list[Row]] = by_key((row["trajectory_id"], row) for row in found)
    outcomes = outcomes_of(home, drop) if "outcome" in asked else {}
    matches: dict[str, Match] = {}
    for row in home.table(drop, "preprocessed_trajectories").rows(["trajectory_id", "tools_used"]):
        run = row["trajectory_id"]
        own = findings.get(run, [])
        kinds = {each["kind"] for each in own}
        if all(each.holds(kinds, outcomes.get(run), row["tools_used"]) for each in query.conditions):
            matches[run] = Match(next((each for each in own if each["kind"] in query.kinds), None))
    return matches


def outcomes_of(home: Installation, drop: str) -> dict[str, bool]:
    """Whether runs of a drop passed: what their test cases say, else what was recorded; those unknown are left out."""
    recorded, by_case = home.table(drop, "preprocessed_trajectories"), home.table(drop, "tool_use_results")
    columns = [(recorded, "success"), *([(by_case, "passed")] if by_case.exists else [])]
    return {
        row["trajectory_id"]: row[column]
        for table, column in columns
        for row in table.rows(["trajectory_id", column])
        if row[column] is not None
    }
