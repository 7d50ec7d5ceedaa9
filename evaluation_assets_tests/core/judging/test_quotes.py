"""Quotes: what many questions of a drop cost, without a price for each of them."""

import pytest

from evaluation_assets.core.judging.quotes import Question, quote
from evaluation_assets.core.models.settings import ModelSettings
from evaluation_assets.core.traces.prices import OwnPrice, Price
from evaluation_assets.core.traces.token_usage import TokenUsage


class Counted(OwnPrice):
    """A price that counts how often it is asked for."""

    asked = 0

    def cost(self, usage: TokenUsage) -> float | None:
        """US dollars of a reply."""
        self.asked += 1
        return super().cost(usage)


def test_questions_of_the_same_size_are_priced_once() -> None:
    settings = ModelSettings(
        name="m",
        provider="openai",
        model="gpt-5",
        endpoint="http://127.0.0.1:1",
        max_concurrency=1,
        requests_per_minute=None,
        tokens_per_minute=None,
        max_output_tokens=100,
        max_input_tokens=10_000,
        parameters={},
    )
    one, many = Counted(Price(input=1, output=1)), Counted(Price(input=1, output=1))
    question = Question(level="clip", size=400, shared=0, reply=10, most_input=200)
    single, hundred = quote([question], settings, one), quote([question] * 100, settings, many)
    assert many.asked == one.asked
    assert hundred.expected.calls == 100
    assert hundred.expected.usd == pytest.approx(100 * (single.expected.usd or 0))
    assert hundred.most.usd == pytest.approx(100 * (single.most.usd or 0))
