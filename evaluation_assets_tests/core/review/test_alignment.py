"""Which change of a judge is adopted, on simulated labels."""

from collections.abc import Callable
from random import Random

import pytest

from evaluation_assets.core.judging.score_map import counts_as
from evaluation_assets.core.review.alignment import (
    Alignment,
    Change,
    Judged,
    State,
    TooFewLabels,
    aligned,
    check_labels,
    decides,
    fitted_map,
)

PASS = 0.6

Scores = Callable[[Random, bool], float]


def simulated(seed: int, tasks: int, trials: int, before: Scores, after: Scores) -> Alignment:
    """The whole procedure on labels of tasks, whose trials are alike: `after` are the scores with examples."""
    random = Random(seed)
    runs: list[tuple[str, float, float, float]] = []
    for number in range(tasks):
        ease = random.choice((0.2, 0.5, 0.8))
        for _ in range(trials):
            good = random.random() < ease
            runs.append((f"{seed} {number}", float(good), before(random, good), after(random, good)))
    made_from = [run for run in runs if not decides(run[0])]
    points = fitted_map([score for _, _, score, _ in made_from], [label for _, label, *_ in made_from])
    deciding = [run for run in runs if decides(run[0])]
    judged: dict[State, list[bool]] = {
        "none": [score >= PASS for _, _, score, _ in deciding],
        "map": [counts_as(score, points) >= PASS for _, _, score, _ in deciding],
        "examples": [score >= PASS for *_, score in deciding],
    }
    return aligned(Judged([run[1] for run in deciding], [run[0] for run in deciding], judged), "1")


def right(share: float, shift: float = 0.0) -> Scores:
    """Scores of a judge that is right in a share of the runs, and shifted."""

    def score(random: Random, good: bool) -> float:
        is_right = random.random() < share
        centre = 0.8 if good == is_right else 0.35
        return min(1.0, max(0.0, centre + shift + random.uniform(-0.1, 0.1)))

    return score


def adopted(before: Scores, after: Scores, seeds: int, tasks: int = 40, trials: int = 2) -> list[Change | None]:
    return [simulated(seed, tasks, trials, before, after).adopted for seed in range(seeds)]


def test_a_shifted_judge_gets_a_map() -> None:
    assert adopted(right(0.95, 0.3), right(0.95, 0.3), 10).count("map") >= 9


def test_examples_that_cure_are_adopted_where_no_map_does() -> None:
    assert adopted(right(0.5), right(0.95), 10).count("examples") >= 9


def test_a_map_is_preferred_to_examples_that_do_as_well() -> None:
    assert adopted(right(0.95, 0.3), right(0.95), 10).count("map") >= 9


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.5, 0.7, 0.85])
@pytest.mark.parametrize(("tasks", "trials"), [(20, 3), (40, 1), (40, 3), (100, 1)])
def test_noise_is_adopted_in_at_most_5_percent(share: float, tasks: int, trials: int) -> None:
    """Examples change every verdict at random and none for the better; 15 of 200 is 5% and three standard errors."""
    seeds = 200
    found = adopted(right(share), right(share), seeds, tasks, trials)
    assert sum(each is not None for each in found) <= 0.05 * seeds + 3 * (seeds * 0.05 * 0.95) ** 0.5


def test_labels_of_one_kind_are_too_few() -> None:
    tasks = [str(number) for number in range(100)]
    check_labels([float(number % 2) for number in range(100)], tasks)
    with pytest.raises(TooFewLabels, match=r"no trajectory .* the criterion `passed`; labels of .*\. Label about 40"):
        check_labels([], [])
    with pytest.raises(TooFewLabels, match=r"pass, 0 fail\) of .* with both passes and fails"):
        check_labels([1.0] * 100, tasks)
    with pytest.raises(TooFewLabels, match="each half needs at least 20 labelled trajectories of 8 tasks"):
        check_labels([float(number % 2) for number in range(100)], ["one", "two"] * 50)


def test_runs_of_a_task_are_in_one_half_and_the_halves_are_about_equal() -> None:
    assert 400 < sum(decides(str(number)) for number in range(1000)) < 600
