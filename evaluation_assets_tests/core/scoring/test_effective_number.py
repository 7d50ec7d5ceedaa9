"""The effective number of judges: Kish's formula, with labels and as a bound without them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.scoring.effective_number import VerdictCorrelations, from_labels
from evaluation_assets.core.scoring.reliability import effective_judges, table_of

Panel = dict[str, list[float | None]]


def panel(seed: int, shared: float, judges: int = 3, subjects: int = 400) -> tuple[Panel, list[float]]:
    """Judges that err on a fifth of the subjects; two judges' errors correlate with `shared`."""
    random = np.random.default_rng(seed)
    labels = random.random(subjects) < 0.6
    common = random.random(subjects) < 0.2
    scores: Panel = {}
    for judge in range(judges):
        own = random.random(subjects) < 0.2
        errs = np.where(random.random(subjects) < shared**0.5, common, own)
        scores[f"judge {judge}"] = [float(value) for value in labels ^ errs]
    return scores, [float(label) for label in labels]


def bound_of(scores: Panel) -> VerdictCorrelations:
    sums = VerdictCorrelations()
    for row in zip(*scores.values(), strict=True):
        sums.add({judge: score for judge, score in zip(scores, row, strict=True) if score is not None})
    return sums


@pytest.mark.parametrize(("shared", "wanted"), [(0.0, 3.0), (0.5, 1.5), (1.0, 1.0)])
def test_labels_recover_the_number_of_independent_judges(shared: float, wanted: float) -> None:
    scores, labels = panel(1, shared)
    found = from_labels(scores, labels, "human labels")
    assert found is not None
    assert found.value == pytest.approx(wanted, rel=0.12)
    assert (found.n_judges, found.n_subjects, found.is_bound) == (3, 400, False)
    assert found.value == effective_judges(table_of(scores), labels)


@given(st.integers(0, 200), st.floats(0, 0.9))
def test_without_labels_the_number_is_a_lower_bound_for_equally_good_judges(seed: int, shared: float) -> None:
    scores, labels = panel(seed, shared)
    bound, found = bound_of(scores).effective(), from_labels(scores, labels, "human labels")
    assert bound is not None and found is not None and bound.is_bound
    assert 1 <= bound.value <= found.value


def test_the_bound_is_kishs_formula_on_the_correlation_of_verdicts() -> None:
    scores, _ = panel(3, 0.4)
    correlations = np.corrcoef(table_of(scores).T)[np.triu_indices(3, 1)]
    found = bound_of(scores).effective()
    assert found is not None
    assert found.value == pytest.approx(3 / (1 + 2 * correlations.mean()))


def test_one_judge_few_subjects_and_constant_scores_have_no_number() -> None:
    scores, labels = panel(0, 0.0)
    assert from_labels({"a": scores["judge 0"]}, labels, "human labels") is None
    assert bound_of({"a": scores["judge 0"]}).effective() is None
    few = {judge: own[:9] for judge, own in scores.items()}
    assert from_labels(few, labels[:9], "human labels") is None
    assert bound_of(few).effective() is None
    assert bound_of({"a": [1.0] * 50, "b": [0.5] * 50}).effective() is None
    assert from_labels(scores, [1.0] * 400, "human labels") is None


def test_a_judge_without_scores_does_not_count_and_missing_scores_leave_pairs() -> None:
    scores, labels = panel(5, 0.0)
    absent = {**scores, "absent": [None] * 400}
    assert from_labels(absent, labels, "human labels") == from_labels(scores, labels, "human labels")
    sampled = {
        judge: [score if (i + j) % 3 else None for i, score in enumerate(own)]
        for j, (judge, own) in enumerate(scores.items())
    }
    found = bound_of(sampled).effective()
    assert found is not None and found.n_judges == 3
