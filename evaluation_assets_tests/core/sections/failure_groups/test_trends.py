"""What came and went with a version, beyond chance."""

from math import comb

import pytest

from evaluation_assets.core.sections.failure_groups.trends import (
    DropCount,
    chance_of_so_many,
    change_in,
    version_changes,
)


def trend(
    *affected: int, versions: str = "", agents: str = "", suite: str | None = "s", runs: int = 100
) -> list[DropCount]:
    of_agent = agents.split() or ["agent"] * len(affected)
    named = versions or "1" * len(affected)
    return [
        DropCount(f"{suite}/{number}", suite, agent, f"{agent} v{version}", runs, count)
        for number, (count, version, agent) in enumerate(zip(affected, named, of_agent, strict=True))
    ]


@pytest.mark.parametrize(
    ("affected", "runs", "affected_before", "runs_before"),
    [(1, 10, 0, 0), (3, 10, 0, 30), (10, 10, 0, 5), (0, 10, 3, 5), (4, 10, 3, 30), (10, 10, 5, 5)],
)
def test_the_chance_of_so_many_affected_runs(affected: int, runs: int, affected_before: int, runs_before: int) -> None:
    everyone, with_it = runs + runs_before, affected + affected_before
    at_least = range(affected, min(runs, with_it) + 1)
    ways = sum(comb(with_it, count) * comb(everyone - with_it, runs - count) for count in at_least)
    found = chance_of_so_many(affected, runs, affected_before, runs_before)
    assert found == pytest.approx(ways / comb(everyone, runs))


def test_a_group_is_new_or_has_grown_in_the_last_drop_of_an_agent_in_a_suite() -> None:
    last = trend(0, 0, 20)
    assert change_in(last, 10) == ("new", "s/2")
    assert change_in([*trend(5, 5, suite="other"), *last], 10) == ("new", "s/2")
    assert change_in([*last, *trend(0, 20, suite="other")], 10) == ("new", "other/1"), "the newest"
    assert change_in([*last, *trend(0, 0, suite="other")], 10) == ("new", "s/2")
    assert change_in(trend(1, 1, 20), 10) == ("grown", "s/2")
    assert change_in(trend(0, 0, 20, agents="a a b"), 10) is None, "the first drop of another agent"
    assert change_in(trend(0, 0, 1), 10) is None, "may be chance"
    assert change_in(trend(20), 10) is None, "there is nothing before it"
    assert change_in(trend(0, 0, 20, suite=None), 10) is None, "drops without a suite may be of anything"


def test_versions_bring_and_end_groups_beyond_chance() -> None:
    versions = "1122"
    changes = version_changes(
        [
            ("came", trend(0, 0, 10, 12, versions=versions)),
            ("went", trend(9, 8, 0, 0, versions=versions)),
            ("stayed", trend(9, 8, 9, 9, versions=versions)),
            ("rare", trend(1, 0, 0, 0, versions=versions)),
        ]
    )
    assert [(each.version, each.since, each.appeared, each.gone) for each in changes] == [
        ("agent v2", "agent v1", ["came"], ["went"])
    ]


def test_the_newest_version_comes_first_and_one_version_changes_nothing() -> None:
    assert [each.version for each in version_changes([("g", trend(1, 1, 1, versions="123"))])] == [
        "agent v3",
        "agent v2",
    ]
    assert version_changes([("g", trend(5, 5))]) == version_changes([]) == []


def test_a_version_is_compared_with_the_version_before_of_the_same_agent() -> None:
    changes = version_changes([("came", trend(0, 20, 20, 20, versions="1122", agents="a b a b"))])
    assert [(each.version, each.since, each.appeared) for each in changes] == [
        ("b v2", "b v1", []),
        ("a v2", "a v1", ["came"]),
    ]
