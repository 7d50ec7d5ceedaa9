"""What is said of a predicted outcome."""

import pytest

from evaluation_assets.core.sections.outcomes.prediction import is_likely_failure, prediction_text, predictions


@pytest.mark.parametrize(
    ("probability", "low", "text"),
    [
        (0.19, 0.66, "likely failed, p = .81; AUROC >= .66"),
        (0.81, 0.669, "likely succeeded, p = .81; AUROC >= .66"),
        (0.5, 0.61, "likely succeeded, p = .50; AUROC >= .61"),
        (0.001, 0.7, "likely failed, p = .99; AUROC >= .70"),
    ],
)
def test_a_prediction_is_never_without_its_bound(probability: float, low: float, text: str) -> None:
    assert prediction_text(probability, low) == text


def test_what_is_unknown_is_no_failure_and_is_not_told() -> None:
    assert not is_likely_failure(None)
    assert predictions([{"trajectory_id": "a", "success_probability": None, "auroc_low": 0.5}]) == {}
