"""What scores count as by the map of a judge."""

from dataclasses import replace
from typing import Any

import pytest

from evaluation_assets.core.judging.panel import InvalidPanel, judges_of, panel_of
from evaluation_assets.core.judging.rubrics.model import load_rubrics
from evaluation_assets.core.judging.score_map import counts_as, with_map
from evaluation_assets.core.judging.scorers import Scorers
from evaluation_assets.core.judging.subjects import trajectory_chain
from evaluation_assets.core.judging.verdicts import Verdict
from evaluation_assets_tests.core.making import trajectory

MAP = ((0.2, 0.0), (0.6, 0.4), (0.8, 1.0))


@pytest.mark.parametrize(
    ("score", "counts"), [(0.0, 0.0), (0.2, 0.0), (0.4, 0.2), (0.6, 0.4), (0.7, 0.7), (0.8, 1.0), (1.0, 1.0)]
)
def test_between_two_pairs_the_map_is_straight_and_beyond_them_it_is_level(score: float, counts: float) -> None:
    assert counts_as(score, MAP) == pytest.approx(counts)


@pytest.mark.parametrize("scores", [{"a": 0.0, "b": 0.8, "c": None}, {"a": 0.5, "b": 1.0}, {"a": 0.0, "b": 0.0}])
def test_the_mean_of_whole_trajectories_is_mapped_and_criteria_keep_their_order(scores: dict[str, float]) -> None:
    chain = trajectory_chain(trajectory("<answer>42</answer>"), [], load_rubrics())
    whole = next(subject for subject in chain.subjects if subject.level == "trajectory")
    verdict = Verdict(outcome="scored", scores=scores)
    mapped = with_map(verdict, whole, MAP)
    known = [score for score in mapped.scores.values() if score is not None]
    given = [score for score in scores.values() if score is not None]
    assert sum(known) / len(known) == pytest.approx(counts_as(sum(given) / len(given), MAP))
    assert known == sorted(known) and all(0 <= score <= 1 for score in known)
    assert mapped.scores.keys() == scores.keys() and (mapped.scores.get("c") is None)
    assert with_map(verdict, replace(whole, level="answer"), MAP) == verdict
    assert with_map(verdict, whole, ()) == verdict


def test_a_map_makes_verdicts_on_whole_trajectories_alone_stale_and_drops_incomparable() -> None:
    def key(**fields: Any) -> tuple[str, str, dict[str, str]]:
        judge = {"name": "one", "provider": "recorded", **fields}
        (made,) = judges_of(panel_of({"judges": [judge]}, "panel.yaml"), "")
        described = made.selection.described
        return described(["clip"]), described(["trajectory"]), Scorers([made], load_rubrics(), 1).comparability({})

    clips, wholes, parts = key()
    clips_mapped, wholes_mapped, parts_mapped = key(map=MAP)
    assert clips == clips_mapped and wholes != wholes_mapped
    assert {name for name, _ in parts.items() ^ parts_mapped.items()} == {"selection of one"}


@pytest.mark.parametrize("points", [[], [[0, 0.5], [0, 0.6]], [[0, 0.5], [1, 0.4]], [[0, 2]]])
def test_what_does_not_rise_is_no_map(points: list[list[float]]) -> None:
    with pytest.raises(InvalidPanel, match=r"judges\[0\]\.map"):
        panel_of({"judges": [{"name": "one", "provider": "recorded", "map": points}]}, "panel.yaml")
