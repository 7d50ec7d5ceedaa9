"""IDs of groups: they stay while findings are added and gather elsewhere."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.sections.failure_groups.grouping import ANY_TOOL, GroupKey, grouped
from evaluation_assets.core.sections.failure_groups.identity import FormerGroups, ids_of, with_new_ids
from evaluation_assets.core.sections.failure_groups.occurrence import Occurrence

TOOLS: tuple[str, ...] = ("find", "reserve", "pay", "ship")
CALLS: dict[str, dict[str, int]] = {drop: dict.fromkeys(TOOLS, 100) for drop in "12"}
ANY, PAY, SHIP = (GroupKey("ignored_error", tool) for tool in (ANY_TOOL, "pay", "ship"))


def found(drop: str, tool: str, count: int, kind: str = "ignored_error") -> list[Occurrence]:
    return [
        Occurrence(
            drop=drop, trajectory_id=f"{tool} {run}", task_id="t", kind=kind, severity="HIGH", tool=tool, evidence="x"
        )
        for run in range(count)
    ]


def test_a_group_that_gathers_in_a_tool_as_runs_are_added_keeps_its_id() -> None:
    first = grouped(found("1", "pay", 4), CALLS)
    before = ids_of(first, FormerGroups())
    later = grouped([*found("1", "pay", 4), *found("2", "pay", 8)], CALLS)
    assert (list(first), list(later)) == ([ANY], [PAY])
    assert ids_of(later, FormerGroups.of(before, first)) == {PAY: ANY.id}


def test_of_a_group_that_falls_apart_the_larger_part_keeps_the_id_and_the_other_has_one_of_its_own() -> None:
    pay, ship = found("1", "pay", 6), found("1", "ship", 4)
    before = FormerGroups.of({ANY: ANY.id}, {ANY: [*pay, *ship]})
    apart = ids_of({PAY: pay, ANY: ship}, before)
    assert apart[PAY] == ANY.id and apart[ANY] not in (ANY.id, PAY.id)
    assert ids_of({PAY: pay, ANY: ship}, FormerGroups.of(apart, {PAY: pay, ANY: ship})) == apart, "they stay so"


def test_groups_that_become_one_keep_the_id_that_a_person_spoke_of_or_that_of_the_larger_one() -> None:
    pay, ship = found("1", "pay", 6), found("1", "ship", 4)
    before = FormerGroups.of({PAY: PAY.id, SHIP: SHIP.id}, {PAY: pay, SHIP: ship})
    assert ids_of({ANY: [*pay, *ship]}, before) == {ANY: PAY.id}
    assert ids_of({ANY: [*pay, *ship]}, before, [SHIP.id]) == {ANY: SHIP.id}


def test_a_finding_of_another_kind_in_the_same_run_is_another_finding() -> None:
    loop = GroupKey("loop", ANY_TOOL)
    before = FormerGroups.of({ANY: ANY.id}, {ANY: found("1", "pay", 4)})
    assert ids_of({loop: found("1", "pay", 4, "loop")}, before) == {loop: loop.id}


def test_two_failures_of_the_same_runs_keep_their_ids() -> None:
    outage = [
        Occurrence(
            drop="1",
            trajectory_id=f"run {run}",
            task_id="t",
            kind="ignored_error",
            severity="HIGH",
            tool=tool,
            evidence=f"{tool} is down",
            clip_index=clip,
        )
        for run in range(20)
        for clip, tool in enumerate(("pay", "ship"))
    ]
    groups = {
        GroupKey("ignored_error", tool): [each for each in outage if each.tool == tool] for tool in ("pay", "ship")
    }
    ids = ids_of(groups, FormerGroups())
    assert ids_of(groups, FormerGroups.of(ids, groups)) == ids
    worded = {key: [replace(each, evidence="is down") for each in own] for key, own in groups.items()}
    assert ids_of({SHIP: worded[SHIP]}, FormerGroups.of({SHIP: "former"}, {SHIP: groups[SHIP]})) == {SHIP: "former"}
    assert ids_of(worded, FormerGroups.of({PAY: "a", SHIP: "b"}, groups)) == {PAY: PAY.id, SHIP: SHIP.id}


@given(st.lists(st.tuples(st.sampled_from(TOOLS), st.sampled_from(["ignored_error", "loop"])), max_size=40))
def test_ids_differ_and_stay_when_nothing_is_added(spread: list[tuple[str, str]]) -> None:
    (some,) = found("1", "pay", 1)
    all_found = [
        replace(some, tool=tool, trajectory_id=f"run {number}", kind=kind) for number, (tool, kind) in enumerate(spread)
    ]
    groups = grouped(all_found, CALLS)
    former = FormerGroups()
    for number, each in enumerate(all_found):
        former.add(each.member, each.instance, f"former {number % 3}")
    ids = ids_of(groups, former)
    assert len(set(ids.values())) == len(groups) == len(ids)
    assert ids_of(groups, FormerGroups.of(ids, groups)) == ids == with_new_ids(groups, ids)
