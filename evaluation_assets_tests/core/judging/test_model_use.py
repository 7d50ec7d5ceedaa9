"""What judging took, in words."""

import pytest

from evaluation_assets.core.judging.model_use import ModelUse


@pytest.mark.parametrize(
    ("cost", "unpriced", "said"),
    [
        (0.5, 0, "cost $0.5000"),
        (0.5, 2, "cost at least $0.5000"),
        (0.0, 0, "cost $0.0000"),
        (0.0, 2, "cost unknown"),
        (None, 2, "cost unknown"),
    ],
)
def test_a_cost_of_which_nothing_is_known_is_unknown(cost: float | None, unpriced: int, said: str) -> None:
    used = ModelUse("local", calls=2, unpriced=unpriced, input_tokens=10, output_tokens=1, cost_usd=cost)
    assert used.text == f"2 model calls, 10 tokens in, 1 out, {said}"
