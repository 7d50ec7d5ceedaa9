"""The failure groups of each suite over all its drops, for the list of reports."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

from evaluation_assets.core.intake.facts import GroupsFacts
from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.report.covered_tables import Cover
from evaluation_assets.core.report.failure_groups.failure_group_report import (
    EXAMPLES,
    FailureGroupsSummary,
    GroupExample,
    GroupSummary,
    points,
)
from evaluation_assets.core.sections.failure_groups.trends import DropCount, by_suite, version_changes
from evaluation_assets.core.system.installation import Installation

_Place = tuple[str | None, str]
"""A suite and the ID of a group."""


class SuiteGroups(NamedTuple):
    """The groups of a suite, `None` for drops without one."""

    suite: str | None
    summary: FailureGroupsSummary


def suite_groups(
    home: Installation, cover_in: Callable[[str], Cover], with_report: Collection[str]
) -> list[SuiteGroups]:
    """The groups of each suite as they were made last; the suite with the newest runs comes first.

    `cover_in` gives what covers texts of a drop that may not be shown; `with_report` are the drops that have a report.

    Raises:
        DamagedTable: a table of groups cannot be read.
        NotRedacted: an own pattern takes too long on a text.
    """
    table = home.whole_table("failure_groups")
    drops = [DropCount(*each, 0) for each in GroupsFacts.of(table).drops]
    if not drops:  # nothing was grouped yet, or by a version that did not note the drops
        return []
    rows = list(table.rows(["group_id", "name", "state", "severity", "last_drop", "by_drop"]))
    names = {row["group_id"]: cover_in(row["last_drop"])(row["name"]) for row in rows}
    trends = {row["group_id"]: by_suite(_trend(drops, row)) for row in rows}
    examples = {
        place: [_example(row, cover_in(row["drop"]), is_shown=row["drop"] in with_report) for row in own]
        for place, own in _examples(home, {each.drop: each.suite for each in drops}).items()
    }

    def of_suite(suite: str | None) -> FailureGroupsSummary:
        trend_of = {group: by_suite[suite] for group, by_suite in trends.items()}
        groups = [
            _summary(row, names[row["group_id"]], trend_of[row["group_id"]], examples[suite, row["group_id"]])
            for row in rows
            if (suite, row["group_id"]) in examples
        ]
        own = [each.drop for each in drops if each.suite == suite]
        return FailureGroupsSummary(
            groups=sorted(groups, key=GroupSummary.order),
            changes=version_changes([(names[group], trend) for group, trend in trend_of.items()]),
            compared=len(own),
            last=own[-1],
        )

    return [SuiteGroups(suite, of_suite(suite)) for suite in dict.fromkeys(each.suite for each in reversed(drops))]


def _summary(row: Row, name: str, trend: list[DropCount], examples: list[GroupExample]) -> GroupSummary:
    runs = sum(each.n_affected for each in trend)
    return GroupSummary(
        group_id=row["group_id"],
        name=name,
        state=row["state"],
        severity=row["severity"],
        runs=runs,
        share=runs / sum(each.n_runs for each in trend),
        examples=examples,
        points=points(trend),
    )


def _trend(drops: Iterable[DropCount], row: Row) -> list[DropCount]:
    affected = {each["drop"]: each["n_affected"] for each in row["by_drop"]}
    return [each._replace(n_affected=affected[each.drop]) for each in drops]


def _examples(home: Installation, suites: Mapping[str, str | None]) -> dict[_Place, list[Row]]:
    """The last findings of each group in each suite, each of another run; those of the last drop come first."""
    by_place: dict[_Place, dict[tuple[str, str], Row]] = {}
    for row in home.whole_table("grouped_findings").rows():
        own = by_place.setdefault((suites[row["drop"]], row["group_id"]), {})
        own.setdefault((row["drop"], row["trajectory_id"]), row)
        if len(own) > EXAMPLES:
            del own[next(iter(own))]
    return {place: list(own.values())[::-1] for place, own in by_place.items()}


def _example(row: Row, cover: Cover, *, is_shown: bool) -> GroupExample:
    return GroupExample(
        drop=row["drop"],
        trajectory_id=row["trajectory_id"],
        clip_index=row["clip_index"],
        evidence=cover(row["evidence"]),
        is_quotation=row["start"] is not None,
        is_shown=is_shown,
    )
