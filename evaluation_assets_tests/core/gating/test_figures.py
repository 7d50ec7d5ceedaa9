"""Figures of the gate are formatted alike in messages, tables and reports."""

import pytest

from evaluation_assets.core.gating.figures import change, p_value, signed, size


@pytest.mark.parametrize(
    ("value", "shown"), [(None, "–"), (0.0, "< 0.001"), (0.00099, "< 0.001"), (0.001, "0.001"), (0.0321, "0.032")]
)
def test_a_p_value_is_never_0(value: float | None, shown: str) -> None:
    assert p_value(value) == shown


@pytest.mark.parametrize(("value", "shown"), [(-0.0001, "0.000"), (0.0001, "0.000"), (-0.02, "-0.020"), (1, "+1.000")])
def test_no_difference_has_no_sign(value: float, shown: str) -> None:
    assert signed(value) == shown


def test_cost_and_latency_are_shown_in_percent_everywhere() -> None:
    assert (change(0.1234, "cost_usd"), change(-0.0001, "cost_usd"), size(0.05, "latency_s")) == (
        "+12.3%",
        "0.0%",
        "5.0%",
    )
    assert (change(0.1234, "overall"), size(0.05, "overall"), change(None, "cost_usd")) == ("+0.123", "0.050", "–")
