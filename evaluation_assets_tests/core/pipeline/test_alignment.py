"""A judge is compared with its changes on labels that they were not made from."""

from dataclasses import replace

from evaluation_assets.core.judging.recorded import RecordedJudge
from evaluation_assets.core.judging.rubrics.model import load_rubrics
from evaluation_assets.core.judging.subjects import trajectory_chain
from evaluation_assets.core.pipeline.alignment import Asked, LabelledRun, compare
from evaluation_assets.core.review.alignment import decides
from evaluation_assets_tests.core.making import trajectory


def asked(of_deciding: tuple[float, float], of_others: tuple[float, float]) -> Asked:
    """A judge's scores of bad and of good runs, in the half that decides and in the other."""
    chain = trajectory_chain(trajectory("<answer>42</answer>"), [], load_rubrics())
    runs, before = [], []
    for number in range(100):
        task, label = str(number), number % 2
        runs.append(LabelledRun(replace(chain, trajectory=replace(chain.trajectory, task_id=task)), float(label), ""))
        before.append([(of_deciding if decides(task) else of_others)[label]])
    return Asked(runs, before, None, ())


def test_a_map_that_suits_only_the_half_that_it_was_made_from_is_not_adopted() -> None:
    changes = compare(asked((0.2, 0.9), (0.9, 1.0)), RecordedJudge("one", "one"), (), 0.6)
    none, mapped = changes.alignment.agreements
    assert changes.score_map == ((0.9, 0.0), (1.0, 1.0))
    assert (none.kappa, mapped.kappa, changes.alignment.adopted) == (1.0, 0.0, None)


def test_a_judge_that_has_the_map_is_compared_as_it_is_with_the_map() -> None:
    lenient, judge = asked((0.9, 1.0), (0.9, 1.0)), RecordedJudge("one", "one")
    first = compare(lenient, judge, (), 0.6)
    assert first.alignment.adopted == "map"
    again = compare(lenient, judge, first.score_map, 0.6).alignment
    assert again.adopted is None and again.agreements[0].kappa == 1.0
