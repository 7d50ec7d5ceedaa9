"""Which runs can be forgotten."""

from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.intake.triggers.old_runs import PastRun, forgettable, outdated

BEFORE = 100.0


def run(name: str, began: float, ended: float | None = 1.0, *, partition: str | None = "d", **more: str) -> PastRun:
    return PastRun(name, more.pop("job", "evaluate"), (partition,), began, ended, **more)


def test_old_runs_that_another_followed_are_forgotten_oldest_first() -> None:
    runs = [run("c", 3), run("a", 1), run("b", 2), run("other drop", 1, partition="e"), run("other job", 1, job="gate")]
    assert forgettable(outdated(runs, BEFORE), runs, set()) == ["a", "b"]


def test_runs_at_work_young_runs_and_what_tables_come_from_stay() -> None:
    runs = [run("waits", 1, None), run("young", 2, BEFORE), run("current", 3), run("old", 4), run("newest", 5)]
    assert forgettable(outdated(runs, BEFORE), runs, {"current"}) == ["old"]


def test_the_first_attempt_of_a_retry_that_stays_is_kept() -> None:
    runs = [run("first", 1), run("retry", 2, root="first")]
    assert forgettable(outdated(runs, BEFORE), runs, set()) == []
    assert forgettable(outdated(followed := [*runs, run("next", 3)], BEFORE), followed, set()) == ["first", "retry"]


some_runs = st.lists(
    st.builds(
        PastRun,
        run_id=st.uuids().map(str),
        job=st.sampled_from(["evaluate", "gate"]),
        partitions=st.sampled_from([(None,), ("d",), ("e",), ("d", "e")]),
        began=st.floats(0, 200),
        ended=st.none() | st.floats(0, 200),
    ),
    max_size=30,
)


@given(some_runs, st.integers(0, 3))
def test_each_drop_keeps_its_newest_run_of_each_job_and_nothing_young_goes(runs: list[PastRun], current: int) -> None:
    kept_for_tables = {each.run_id for each in runs[:current]}
    gone = set(forgettable(outdated(runs, BEFORE), runs, kept_for_tables))
    left = [each for each in runs if each.run_id not in gone]
    of = [{(each.job, partition) for each in some for partition in each.partitions} for some in (left, runs)]
    assert of[0] == of[1]
    assert not gone & kept_for_tables
    assert all(each.ended is not None and each.ended < BEFORE for each in runs if each.run_id in gone)
    assert not outdated([each for each in left if each.run_id not in kept_for_tables], BEFORE) or kept_for_tables
