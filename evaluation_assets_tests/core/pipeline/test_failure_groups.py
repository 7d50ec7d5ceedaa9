"""Groups over drops: which are new, how large their share is, and what the check says."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from random import Random
from typing import cast

import pytest

from evaluation_assets.core.lake.stored import Stored
from evaluation_assets.core.pipeline.checks.failure_groups import no_reopened_failures, states_of_groups
from evaluation_assets.core.pipeline.failure_groups import (
    AllRuns,
    EvaluatedRuns,
    FindingsOfRuns,
    group_figures,
    group_rows,
    group_table,
    member_rows,
    with_drops,
)
from evaluation_assets.core.scoring.intervals import rate_interval
from evaluation_assets.core.sections.failure_groups.grouping import GroupKey
from evaluation_assets.core.sections.failure_groups.occurrence import Occurrence
from evaluation_assets.core.sections.failure_groups.states import KeptState

TASKS = [f"task {number}" for number in range(50)]

RATES = {
    "repeated_call": 0.05,
    "ignored_error": 0.02,
    "contradicted_answer": 0.01,
    "unsupported_answer": 0.03,
    "cut_off": 0.004,
}


def night(number: int, runs: int, random: Random, more: Mapping[str, float] | None = None, agent: str = "a") -> AllRuns:
    """A drop of a suite; each kind is found in its share of the runs."""
    tasks = {f"run {run}": TASKS[run % len(TASKS)] for run in range(runs)}
    name = f"s/{number:02}"
    drop = EvaluatedRuns(drop=name, suite="s", agent=agent, version=f"{agent} 1", tasks=tasks)
    found = [
        _found(name, run, kind)
        for run in tasks
        for kind, rate in (RATES | dict(more or {})).items()
        if random.random() < rate
    ]
    return AllRuns([drop], found, {name: Counter({"search": 10 * runs})})


def _found(drop: str, run: str, kind: str) -> Occurrence:
    return Occurrence(
        drop=drop, trajectory_id=run, task_id=run, kind=kind, severity="LOW", tool=None, evidence=f"{kind}"
    )


def joined(parts: Iterable[AllRuns]) -> AllRuns:
    found = AllRuns()
    for one in parts:
        found.drops += one.drops
        found.occurrences += one.occurrences
        found.calls.update(one.calls)
    return found


def nights(count: int, runs: int, seed: int, **last: float) -> AllRuns:
    random = Random(seed)
    return joined(night(number, runs, random, last if number == count - 1 else None) for number in range(count))


def changes(found: AllRuns) -> dict[str, str]:
    """The kinds of groups that are new or grown, with these states."""
    return {row["kind"]: row["state"] for row in group_rows(found, {}) if row["state"] in ("new", "grown")}


@pytest.mark.parametrize("seed", range(10))
def test_a_fault_in_2_percent_of_the_runs_of_one_drop_is_new(seed: int) -> None:
    assert changes(nights(5, 1000, seed, unkept_promise=0.02)) == {"unkept_promise": "new"}


def test_a_share_that_rises_from_3_to_7_percent_has_grown() -> None:
    found = [changes(nights(5, 1000, seed, unsupported_answer=0.07)) for seed in range(10)]
    assert sum(each == {"unsupported_answer": "grown"} for each in found) >= 9


def test_of_twenty_unchanged_suites_at_most_one_has_a_change_in_twenty_nights() -> None:
    def has_change(seed: int) -> bool:
        random = Random(seed)
        parts = [night(number, 100, random) for number in range(20)]
        return any(changes(joined(parts[: count + 1])) for count in range(1, 20))

    assert sum(map(has_change, range(20))) <= 1


def test_the_first_drop_of_a_suite_or_agent_and_drops_without_a_suite_have_no_change() -> None:
    assert changes(nights(1, 1000, 1, unkept_promise=0.5)) == {}
    random, worse = Random(1), {"unkept_promise": 0.5, "repeated_call": 0.5}
    same = [night(number, 100, random) for number in range(4)]
    assert changes(joined([*same, night(9, 100, random, worse)])) == {"unkept_promise": "new", "repeated_call": "grown"}
    assert changes(joined([*same, night(9, 100, random, worse, agent="another")])) == {}
    alone = joined([*same, night(9, 100, random, worse)])
    for drop in alone.drops:
        drop.suite = None
    assert changes(alone) == {}


def test_a_suite_to_which_failing_tasks_are_added_has_no_failure_that_grew() -> None:
    found = joined(night(number, 100, Random(number)) for number in range(4))
    last = found.drops[-1]
    added = [f"added {each}" for each in range(100)]
    last.tasks.update(zip(added, added, strict=True))
    found.occurrences += [_found(last.drop, run, kind) for run in added for kind in ("repeated_call", "unkept_promise")]
    assert changes(found) == {}


def test_figures_of_a_group() -> None:
    found = nights(2, 100, 3)
    found.drops[1].successes = {run: run != "run 1" for run in found.drops[1].tasks}
    (row,) = [row for row in group_rows(found, {}) if row["kind"] == "repeated_call"]
    affected = {each.run for each in found.occurrences if each.kind == "repeated_call"}
    assert (row["n_runs"], row["share"]) == (len(affected), len(affected) / 200)
    by_task = [
        [(drop.drop, run) in affected for drop in found.drops for run, of in drop.tasks.items() if of == task]
        for task in TASKS
    ]
    assert (row["ci_low"], row["ci_high"]) == rate_interval(by_task) and 0 < row["ci_low"] < row["share"]
    assert row["n_tasks"] == sum(map(any, by_task)) < len(affected)
    assert row["by_drop"] == [
        {"drop": drop.drop, "n_runs": 100, "n_affected": sum(place == drop.drop for place, _ in affected)}
        for drop in found.drops
    ]
    assert (row["first_drop"], row["last_drop"], row["versions"]) == ("s/00", "s/01", ["a 1"])
    own = [run for drop, run in affected if drop == "s/01"]
    assert row["success_with"] == sum(run != "run 1" for run in own) / len(own)
    members = [each for each in member_rows(found) if each["group_id"] == row["group_id"]]
    assert len(members) == row["n_findings"]


def test_tasks_of_other_suites_are_other_tasks() -> None:
    found = nights(2, 100, 3)
    found.drops[1].suite = "other"
    (row,) = [row for row in group_rows(found, {}) if row["kind"] == "repeated_call"]
    runs = {each.run for each in found.occurrences if each.kind == "repeated_call"}
    tasks = {(drop, found.drops[drop == "s/01"].tasks[run]) for drop, run in runs}
    assert row["n_tasks"] == len(tasks) > len({task for _, task in tasks})


def test_a_resolved_group_that_is_seen_again_fails_the_check() -> None:
    found = nights(3, 100, 1)
    key = GroupKey("repeated_call")
    resolved = {key.id: KeptState(state="resolved", drops=("s/00", "s/01", "s/02"))}
    assert no_reopened_failures(resolved, group_rows(found, resolved)).passed
    for known, new in (("s/00", "s/01"), "s/02"), (("s/00", "s/02"), "s/01"):
        states = {key.id: KeptState(state="resolved", drops=known)}
        again = no_reopened_failures(states, group_rows(found, states))
        assert not again.passed
        assert again.description == f"Seen again after they were resolved: {key.id} (Repeated call) in {new}."


def test_the_ui_gets_numbers_for_every_state_and_a_table_without_markup() -> None:
    rows = group_rows(nights(5, 1000, 1, unkept_promise=0.02), {})
    figures = group_figures(rows)
    assert {"new": 1, "reopened": 0, "open": len(rows) - 1}.items() <= figures.items()
    assert figures["groups"] == len(rows) and figures[f"share_{rows[0]['group_id']}"] == rows[0]["share"]
    hostile = group_table([rows[0] | {"name": "<img src=x> | [x](javascript:1)"}])
    assert hostile.count("|") - hostile.count("\\|") == 18 and "<img" not in hostile and "[x](" not in hostile


def test_a_group_that_is_resolved_by_hand_is_resolved_in_the_drops_so_far() -> None:
    key, other = GroupKey("repeated_call"), GroupKey("unkept_promise")
    by_hand = {key.id: KeptState(state="resolved", by="ada"), other.id: KeptState(state="resolved")}
    states = with_drops(nights(2, 100, 1), by_hand)
    assert states == {key.id: KeptState(state="resolved", by="ada", drops=("s/00", "s/01"))}
    later = nights(3, 100, 1)
    assert with_drops(later, states) == {}
    assert {row["state"] for row in group_rows(later, states) if row["group_id"] == key.id} == {"reopened"}


def test_a_drop_that_is_evaluated_anew_without_a_resolved_group_may_not_have_it_again() -> None:
    key, found = GroupKey("repeated_call"), nights(2, 100, 1)
    states = with_drops(found, {key.id: KeptState(state="resolved", drops=("s/00", "s/01", "deleted"))})
    assert states == {}, "both still have it, and nothing is known of the third"
    fixed = nights(2, 100, 1)
    fixed.occurrences = [each for each in fixed.occurrences if (each.kind, each.drop) != (key.kind, "s/01")]
    states = with_drops(fixed, {key.id: KeptState(state="resolved", drops=("s/00", "s/01", "deleted"))})
    assert states == {key.id: KeptState(state="resolved", drops=("s/00", "deleted"))}
    assert {row["state"] for row in group_rows(fixed, states) if row["group_id"] == key.id} == {"resolved"}
    assert {row["state"] for row in group_rows(found, states) if row["group_id"] == key.id} == {"reopened"}


def test_a_resolved_group_that_no_run_has_any_more_is_not_unknown() -> None:
    gone, typo = KeptState(state="resolved", drops=()), KeptState(state="resolved")
    rows = group_rows(nights(2, 100, 1), {})
    assert states_of_groups({"00000001": gone}, rows).passed
    assert not states_of_groups({"00000001": typo}, rows).passed


def test_a_state_of_an_unknown_group_is_named_with_a_near_one() -> None:
    rows = group_rows(nights(2, 100, 1), {})
    known = rows[0]["group_id"]
    near = known[:-1] + ("0" if known[-1] != "0" else "1")
    assert states_of_groups({row["group_id"]: KeptState() for row in rows}, rows).passed
    found = states_of_groups({near: KeptState(), "elsewhere": KeptState()}, rows)
    assert (found.passed, found.severity) == (False, "warn")
    assert f"{near} (did you mean {known!r}?), elsewhere. Correct" in (found.description or "")


def test_the_gravest_group_comes_first_then_those_with_the_most_runs() -> None:
    found = nights(2, 500, 5)
    found.occurrences = [
        replace(each, severity="HIGH") if each.kind == "cut_off" else each for each in found.occurrences
    ]
    (first, *others) = group_rows(found, {})
    assert first["kind"] == "cut_off"
    assert [row["n_runs"] for row in others] == sorted((row["n_runs"] for row in others), reverse=True)
    assert first["n_runs"] < others[0]["n_runs"]


class _Rows:
    """Rows of a table."""

    def __init__(self, *rows: dict[str, object]) -> None:
        self._rows = rows

    def rows(self, columns: list[str]) -> Iterator[dict[str, object]]:
        return ({column: row[column] for column in columns} for row in self._rows)


def test_a_conversation_that_failed_without_a_finding_is_shown_by_what_was_said_last() -> None:
    said = '<user>\nMove it.\n</user>\n<message agent="a">\nIt is moved.\n</message>\n<user>\nThanks.\n</user>\n'
    raw = _Rows(
        {"trajectory_id": "1", "final_answer": None, "text": said},
        {"trajectory_id": "2", "final_answer": None, "text": "<user>\nMove it.\n</user>\n"},
        {"trajectory_id": "3", "final_answer": "42", "text": said},
    )
    failed = dict.fromkeys("123", False)
    runs = EvaluatedRuns(
        drop="d", suite=None, agent=None, version="", tasks=dict.fromkeys("123", "t"), successes=failed
    )
    found = FindingsOfRuns(runs, cast("Stored", _Rows()), cast("Stored", raw))
    assert [each.evidence for own in found for each in own] == ["It is moved.", "no answer", "42"]
