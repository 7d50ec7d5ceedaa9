"""IDs of trajectories and names of files."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.traces.trajectories.identity import (
    LONGEST_FILE_NAME,
    TrialCounter,
    digest,
    file_name,
    fraction_of,
    task_id_of,
)
from evaluation_assets.core.traces.trajectories.model import Trajectory


def run(task: str, trial: int = 0, name: str | None = None) -> Trajectory:
    return Trajectory(id=name or task, task_id=task, format="f", task="", text="", turns=(), trial=trial)


def test_a_digest_tells_parts_apart_and_takes_any_text() -> None:
    assert digest("a", "b") != digest("ab") != digest("a", "", "b")
    assert len(digest("\udfff")) == 16


@given(st.text())
def test_a_text_draws_the_same_number_every_time(text: str) -> None:
    assert 0 <= fraction_of(text) == fraction_of(text) < 1
    assert fraction_of("\udfff") != fraction_of("")


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_drawn_numbers_are_spread_evenly(share: float) -> None:
    drawn = [fraction_of(f"trace-{number}") for number in range(2000)]
    assert sum(each < share for each in drawn) / 2000 == pytest.approx(share, abs=0.05)


@given(st.text(), st.sampled_from(["", ".drop.yaml"]))
def test_names_of_files_fit_and_stay_apart(stem: str, ending: str) -> None:
    stem = stem.encode("utf-8", "replace").decode()
    assert file_name(stem, ending) == stem + ending or len(stem.encode()) > LONGEST_FILE_NAME - len(ending)
    long = [f"{stem}{'é' * 200}{last}" for last in "ab"]
    names = [file_name(each, ending) for each in long]
    assert all(len(name.encode()) <= LONGEST_FILE_NAME and name.endswith(ending) for name in names)
    assert names[0] != names[1]


def test_a_task_is_named_by_what_is_recorded_else_by_its_words() -> None:
    assert task_id_of(" t1 ", "task", "text") == "t1"
    assert task_id_of(7, "task", "text") == "7"
    for unusable in (None, "", "  ", True, 1.5, ["a"]):
        assert task_id_of(unusable, "task", "text") == task_id_of(None, "task", "other") == f"task-{digest('task')}"
    assert task_id_of(None, "", "text") == f"task-{digest('text')}"


def numbered(*runs: Trajectory) -> list[tuple[str, int]]:
    counter = TrialCounter()
    return [(found.id, found.trial) for found in map(counter.numbered, runs)]


def test_runs_of_one_task_are_numbered_and_recorded_numbers_stay() -> None:
    assert numbered(run("a"), run("a"), run("b"), run("a")) == [("a", 0), ("a#1", 1), ("b", 0), ("a#2", 2)]
    assert numbered(run("a", 2), run("a", 0), run("a", 2)) == [("a", 2), ("a#0", 0), ("a#1", 1)]


def test_a_run_whose_id_repeats_keeps_it_where_its_task_has_no_id_and_is_the_same() -> None:
    first, second = task_id_of(None, "2 + 2?", ""), task_id_of(None, "3 + 3?", "")
    assert numbered(run(first, name="T"), run(first, name="T"), run(first, name="T")) == [
        ("T", 0),
        ("T#1", 1),
        ("T#2", 2),
    ]
    assert numbered(run(first, name="T"), run(second, name="T")) == [("T", 0), (f"{second}#0", 0)]
    assert numbered(run(first, name="T#1"), run(first, name="T"), run(first, name="T")) == [
        ("T#1", 0),
        ("T", 1),
        ("T#2", 2),
    ]
    assert numbered(run("a", name="T"), run("a", name="T")) == [("T", 0), ("a#1", 1)], "it has an ID"


def test_a_task_that_is_called_as_a_run_of_another_has_an_id_of_its_own() -> None:
    found = numbered(run("a#1"), run("a"), run("a"))
    assert [name for name, _ in found] == ["a#1", "a", "a#2"]


def test_a_number_in_several_domains_is_a_task_of_each() -> None:
    airline, retail = ({"domain": name} for name in ("airline", "retail"))
    runs = [replace(run(name), extra=extra) for name in ("7", "cancel") for extra in (airline, retail, retail, {})]
    counter = TrialCounter()
    assert [(each.id, each.task_id, each.trial) for each in map(counter.numbered, runs)] == [
        ("7", "7", 0),
        ("7 (retail)", "7 (retail)", 0),
        ("7 (retail)#1", "7 (retail)", 1),
        ("7#1", "7", 1),
        ("cancel", "cancel", 0),
        ("cancel#1", "cancel", 1),
        ("cancel#2", "cancel", 2),
        ("cancel#3", "cancel", 3),
    ]


@given(
    st.lists(
        st.builds(
            run,
            st.sampled_from(["a", "b", "a#1", "a#0", task_id_of(None, "x", ""), task_id_of(None, "y", "")]),
            st.integers(0, 3),
            st.sampled_from([None, "a", "T", "T#1"]),
        ),
        max_size=12,
    )
)
def test_ids_and_trials_are_unique_whatever_was_recorded(runs: list[Trajectory]) -> None:
    counter = TrialCounter()
    found = [counter.numbered(each) for each in runs]
    assert len({each.id for each in found}) == len(found)
    assert len({(each.task_id, each.trial) for each in found}) == len(found)
