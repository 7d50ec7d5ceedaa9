"""Agreement among runs of a task."""

from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.sections.outcomes.agreement import AGREEMENTS, agreements
from evaluation_assets_tests.core.sections.outcomes.made_runs import a_run

RUNS = st.lists(
    st.builds(
        lambda task, answer, changes: a_run(task, answer=" ".join(answer), changes=tuple(changes)),
        st.sampled_from("ab"),
        st.lists(st.sampled_from("xyz"), max_size=4),
        st.lists(st.sampled_from("pq"), max_size=3),
    ),
    max_size=8,
)


@given(RUNS)
def test_agreements_are_shares_and_exist_where_there_is_another_run(runs: list) -> None:
    tasks = [run.task_id for run in runs]
    for run, found in zip(runs, agreements(runs), strict=True):
        assert tuple(found) == (AGREEMENTS if tasks.count(run.task_id) > 1 else ())
        assert all(0 <= value <= 1 for value in found.values())


@given(RUNS)
def test_runs_agree_alike_wherever_the_others_are(runs: list) -> None:
    together = agreements(runs)
    for place, run in enumerate(runs):
        others = [*runs[:place], *runs[place + 1 :]]
        (found,) = agreements([run], others)
        assert found.keys() == together[place].keys()
        assert all(abs(found[name] - together[place][name]) < 1e-9 for name in found)


def test_the_run_that_does_something_else_agrees_least() -> None:
    same = a_run("t", answer="refunded 20", changes=("refund 20",))
    other = a_run("t", answer="cancelled it", changes=("cancel",))
    found = agreements([same, same, other])
    assert found[2] == {"same_changes": 0.0, "same_calls": 0.0, "same_answer": 0.0}
    assert found[0] == {"same_changes": 0.5, "same_calls": 0.5, "same_answer": 0.5}
