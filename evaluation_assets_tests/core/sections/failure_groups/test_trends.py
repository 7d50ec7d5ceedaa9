"""What came and went with a version, beyond chance."""

from math import comb

import pytest

from evaluation_assets.core.sections.failure_groups.trends import DropCount, chance_of_all_in, is_new, version_changes


def trend(
    *affected: int, versions: str = "", agents: str = "", suite: str | None = "s", runs: int = 100
) -> list[DropCount]:
    of_agent = agents.split() or ["agent"] * len(affected)
    named = versions or "1" * len(affected)
    return [
        DropCount(f"{suite}/{number}", suite, agent, f"{agent} v{version}", runs, count)
        for number, (count, version, agent) in enumerate(zip(affected, named, of_agent, strict=True))
    ]


@pytest.mark.parametrize(("affected", "runs", "others"), [(1, 10, 0), (3, 10, 30), (10, 10, 5), (11, 10, 5)])
def test_the_chance_of_a_group_in_some_runs_alone(affected: int, runs: int, others: int) -> None:
    expected = comb(runs, affected) / comb(runs + others, affected)
    assert chance_of_all_in(affected, runs, others) == pytest.approx(expected)


def test_a_group_is_new_in_the_last_drop_of_any_suite() -> None:
    last = trend(0, 0, 20)
    assert is_new(last, 10)
    assert is_new([*trend(5, 5, suite="other"), *last], 10)
    assert not is_new(trend(0, 1, 20), 10)
    assert not is_new(trend(0, 0, 1), 10), "may be chance"
    assert not is_new(trend(20), 10), "there is nothing before it"


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
