"""P-values over clusters, and the order in which hypotheses are tested."""

import numpy as np
import pytest

from evaluation_assets.core.judging.cascade.risk import fewest_clusters, fixed_sequence, order_of_testing, p_value

ALPHA = 0.1


def of_clusters(accepted: list[list[bool]], wrong: list[list[bool]], largest: int = 4) -> float:
    cluster = np.repeat(np.arange(len(accepted)), [len(each) for each in accepted])
    return p_value(
        np.array([value for each in accepted for value in each]),
        np.array([value for each in wrong for value in each]),
        cluster,
        alpha=ALPHA,
        largest=largest,
    )


def test_what_was_shown_stays_shown() -> None:
    """The hypothesis is refused once and for all: later clusters take nothing back."""
    accepted = [[True] * 4] * 120
    good, bad = [[False] * 4] * 60, [[True] * 4] * 60
    shown = of_clusters(accepted[:60], good)
    assert shown < 0.05
    assert of_clusters(accepted, good + bad) == pytest.approx(shown)
    assert of_clusters(accepted, bad + good) > 0.05


def test_verdicts_without_an_error_are_shown_to_be_good_once_there_are_enough_clusters() -> None:
    assert of_clusters([[True]] * 10, [[False]] * 10, largest=1) > 0.1
    assert of_clusters([[True]] * 60, [[False]] * 60, largest=1) < 0.02
    assert of_clusters([[False]] * 60, [[False]] * 60, largest=1) == 1.0, "nothing accepted shows nothing"


@pytest.mark.parametrize(("alpha", "delta"), [(0.1, 0.1), (0.05, 0.05), (0.3, 0.2)])
def test_how_many_clusters_are_needed_is_where_the_p_value_gets_small_enough(alpha: float, delta: float) -> None:
    least = fewest_clusters(alpha, delta)
    for count, is_enough in ((least - 1, False), (least, True)):
        perfect = np.ones(count, bool), np.zeros(count, bool), np.arange(count)
        assert (p_value(*perfect, alpha=alpha, largest=1) <= delta) == is_enough


def test_as_many_errors_in_fewer_clusters_show_less() -> None:
    spread = of_clusters([[True] * 2] * 100, [[True, False]] * 6 + [[False] * 2] * 94)
    together = of_clusters([[True] * 2] * 100, [[True] * 2] * 3 + [[False] * 2] * 97)
    assert spread < together


def test_a_cluster_of_which_more_is_accepted_than_of_the_largest_is_refused() -> None:
    """One such cluster could lose more than all bets, and must not count for less either."""
    with pytest.raises(ValueError, match="more than 4 verdicts of a cluster are accepted"):
        of_clusters([[True] * 5, *[[True] * 4] * 30], [[False] * 5, *[[False] * 4] * 30])
    assert of_clusters([[True] * 4 + [False] * 36] * 60, [[False] * 40] * 60) < 0.1
    assert 0 < of_clusters([[True] * 400] * 3, [[True] * 400] * 3, largest=400) <= 1


def test_a_large_cluster_weighs_as_much_as_its_verdicts() -> None:
    """Of all accepted verdicts 19% are wrong, of the mean cluster 7%: the first is what the bound is on."""
    accepted = [*[[True] * 2] * 80, *[[True] * 20] * 20] * 4
    wrong = [*[[False] * 2] * 78, *[[True] * 2] * 2, *[[True] * 5 + [False] * 15] * 20] * 4
    assert of_clusters(accepted, wrong, largest=20) > 0.3


def test_a_small_p_value_is_as_rare_as_it_says() -> None:
    """The error rate is exactly alpha, and errors of a cluster come together."""
    random = np.random.default_rng(4)
    found = []
    for _ in range(2000):
        is_bad = random.random(80) < 0.2
        wrong = [list(random.random(5) < (0.5 if bad else 0.0)) for bad in is_bad]
        found.append(of_clusters([[True] * 5] * 80, wrong, largest=5))
    for level in (0.02, 0.05, 0.1, 0.3):
        assert np.mean(np.array(found) <= level) <= level


def test_testing_starts_where_it_is_promising_and_stops_at_the_first_that_is_kept() -> None:
    order = order_of_testing([0.9, 0.01, 0.02, 0.4, 0.03])
    assert list(order) == [1, 2, 3, 4]
    assert fixed_sequence([0.01, 0.1, 0.11, 0.0], 0.1) == 2
    assert fixed_sequence([0.2], 0.1) == 0
