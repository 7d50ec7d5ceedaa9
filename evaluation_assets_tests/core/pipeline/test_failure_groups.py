"""Groups over drops: which are new, how large their share is, and what the check says."""

from collections import Counter
from random import Random

import pytest

from evaluation_assets.core.pipeline.checks.failure_groups import no_reopened_failures
from evaluation_assets.core.pipeline.failure_groups import (
    AllRuns,
    EvaluatedRuns,
    group_figures,
    group_rows,
    group_table,
    member_rows,
)
from evaluation_assets.core.sections.failure_groups.grouping import GroupKey
from evaluation_assets.core.sections.failure_groups.occurrence import Occurrence
from evaluation_assets.core.sections.failure_groups.states import KeptState

KINDS = ("repeated_call", "ignored_error", "contradicted_answer", "unsupported_answer", "cut_off")
RATES = (0.05, 0.02, 0.01, 0.03, 0.004)


def night(number: int, runs: int, random: Random, more: dict[str, float] | None = None) -> AllRuns:
    """A drop of a suite; each kind is found in its share of the runs."""
    tasks = {f"run {run}": f"task {run % 50}" for run in range(runs)}
    drop = EvaluatedRuns(
        drop=f"s/{number:02}", suite="s", agent="agent", version="agent 1", evaluated_at=f"{number:02}", tasks=tasks
    )
    rates = dict(zip(KINDS, RATES, strict=True)) | (more or {})
    found = [
        Occurrence(
            drop=drop.drop, trajectory_id=run, task_id=task, kind=kind, severity="LOW", tool=None, evidence=f"{kind}"
        )
        for run, task in tasks.items()
        for kind, rate in rates.items()
        if random.random() < rate
    ]
    return AllRuns([drop], found, Counter({"search": 10 * runs}))


def nights(count: int, runs: int, seed: int, **last: float) -> AllRuns:
    random, found = Random(seed), AllRuns()
    for number in range(count):
        one = night(number, runs, random, last if number == count - 1 else None)
        found.drops += one.drops
        found.occurrences += one.occurrences
        found.calls.update(one.calls)
    return found


def new_in(found: AllRuns) -> set[str]:
    return {row["kind"] for row in group_rows(found, {}) if row["state"] == "new"}


@pytest.mark.parametrize("seed", range(10))
def test_a_fault_in_2_percent_of_the_runs_of_one_drop_is_new(seed: int) -> None:
    assert new_in(nights(5, 1000, seed, unkept_promise=0.02)) == {"unkept_promise"}


def test_of_twenty_unchanged_nights_hardly_one_has_a_new_group() -> None:
    false = sum(bool(new_in(nights(count, 200, seed))) for seed in range(10) for count in range(2, 21))
    assert false / 190 < 0.05


def test_the_first_drop_of_a_suite_has_nothing_new() -> None:
    assert new_in(nights(1, 1000, 1, unkept_promise=0.5)) == set()


def test_figures_of_a_group() -> None:
    found = nights(2, 100, 3)
    found.drops[1].successes = {run: run != "run 1" for run in found.drops[1].tasks}
    (row,) = [row for row in group_rows(found, {}) if row["kind"] == "repeated_call"]
    affected = {each.run for each in found.occurrences if each.kind == "repeated_call"}
    assert (row["n_runs"], row["share"]) == (len(affected), len(affected) / 200)
    assert row["ci_low"] < row["share"] < row["ci_high"]
    assert row["by_drop"] == [
        {"drop": drop.drop, "n_runs": 100, "n_affected": sum(place == drop.drop for place, _ in affected)}
        for drop in found.drops
    ]
    assert (row["first_drop"], row["versions"]) == ("s/00", ["agent 1"])
    own = [run for drop, run in affected if drop == "s/01"]
    assert row["success_with"] == sum(run != "run 1" for run in own) / len(own)
    members = [each for each in member_rows(found) if each["group_id"] == row["group_id"]]
    assert len(members) == row["n_findings"]


def test_a_resolved_group_that_is_seen_again_fails_the_check() -> None:
    found = nights(3, 100, 1)
    key = GroupKey("repeated_call")
    resolved = KeptState(state="resolved", drops=("s/00", "s/01", "s/02"))
    assert no_reopened_failures(group_rows(found, {key.id: resolved})).passed
    again = no_reopened_failures(group_rows(found, {key.id: KeptState(state="resolved", drops=("s/00", "s/01"))}))
    assert not again.passed
    assert again.description == f"Seen again after they were resolved: {key.id} (Repeated call) in s/02."


def test_the_ui_gets_numbers_for_every_state_and_a_table_without_markup() -> None:
    rows = group_rows(nights(5, 1000, 1, unkept_promise=0.02), {})
    figures = group_figures(rows)
    assert {"new": 1, "reopened": 0, "open": len(rows) - 1}.items() <= figures.items()
    assert figures["groups"] == len(rows) and figures[f"share_{rows[0]['group_id']}"] == rows[0]["share"]
    hostile = group_table([rows[0] | {"name": "<img src=x> | [x](javascript:1)"}])
    assert hostile.count("|") - hostile.count("\\|") == 18 and "<img" not in hostile and "[x](" not in hostile
