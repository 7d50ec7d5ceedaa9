"""Agreement of a panel, against its definition over all pairs of values."""

from itertools import permutations
from statistics import fmean, pstdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.scoring.agreement import agreement

Items = list[list[float]]


def rows_of(items: Items) -> list[dict]:
    return [
        {"criterion": "c", "n_scored": len(values), "mean": fmean(values), "std": pstdev(values)}
        for values in items
        if values
    ]


def by_definition(items: Items) -> float | None:
    """Krippendorff's alpha with squared differences, over all ordered pairs."""
    pairable = [values for values in items if len(values) >= 2]
    everything = [value for values in pairable for value in values]
    n = len(everything)
    observed = sum((a - b) ** 2 / (len(values) - 1) for values in pairable for a, b in permutations(values, 2)) / n
    expected = sum((a - b) ** 2 for a, b in permutations(everything, 2)) / (n * (n - 1))
    return 1 - observed / expected if expected > 1e-9 else None


scores = st.lists(st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.8, 1.0]), max_size=4)


@given(st.lists(scores, min_size=2, max_size=12).filter(lambda items: any(len(item) >= 2 for item in items)))
def test_it_is_what_the_definition_says(items: Items) -> None:
    found, wanted = agreement(rows_of(items))["c"].alpha, by_definition(items)
    assert (found is None) == (wanted is None)
    if found is not None and wanted is not None:
        assert found == pytest.approx(wanted, abs=1e-9)


def test_judges_that_always_agree_have_alpha_1_and_opposite_ones_less_than_0() -> None:
    assert agreement(rows_of([[0.1, 0.1], [0.9, 0.9]]))["c"].alpha == pytest.approx(1.0)
    alpha = agreement(rows_of([[0.0, 1.0], [1.0, 0.0]]))["c"].alpha
    assert alpha is not None and alpha < 0


def test_without_variation_or_a_second_judge_there_is_no_alpha() -> None:
    assert agreement(rows_of([[0.5, 0.5], [0.5, 0.5]]))["c"].alpha is None
    assert agreement(rows_of([[0.5], [0.7]])) == {}
