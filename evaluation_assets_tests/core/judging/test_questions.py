"""What a verdict took: what this run paid, or, where it paid nothing, what its replies cost before."""

import pytest

from evaluation_assets.core.models.cost import Cost
from evaluation_assets.core.models.ledger import Entry
from evaluation_assets.core.models.messages import Reply
from evaluation_assets.core.traces.token_usage import TokenUsage


def entry(tokens: int, cost_usd: float) -> Entry:
    reply = Reply(text="{}", usage=TokenUsage(input_tokens=tokens, output_tokens=1), finish="stop")
    return Entry(reply=reply, run="r", number=0, cost_usd=cost_usd, latency_ms=1.0, attempts=1)


@pytest.mark.parametrize("order", [1, -1])
def test_a_recalled_reply_is_no_cost_of_a_verdict_that_was_paid_for_now(order: int) -> None:
    cost = Cost()
    for tokens, cost_usd, recalled in [(100, 1.0, True), (10, 0.25, False)][::order]:
        cost.add("key", entry(tokens, cost_usd), from_ledger=recalled)
    assert (cost.usage.input_tokens, cost.usage.cost_usd, cost.attempts) == (10, 0.25, 1)


def test_a_verdict_from_the_ledger_has_the_cost_of_its_replies() -> None:
    cost = Cost()
    for _ in range(2):
        cost.add("key", entry(100, 1.0), from_ledger=True)
    assert (cost.usage.input_tokens, cost.usage.cost_usd, cost.attempts) == (200, 2.0, 0)
