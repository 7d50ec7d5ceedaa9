"""Rows, metadata, the budget and the ledger say the same of what a run cost, also of what could not be read."""

import asyncio
from collections.abc import Callable, Iterator

import pytest

from evaluation_assets.core.judging.tally import Tally
from evaluation_assets.core.models.budget import Budget
from evaluation_assets.core.models.ledger import Ledger
from evaluation_assets_tests.core.judging.test_hostile_replies import (
    Row,
    answering,
    completion,
    evaluation,
    rows_at,
)
from evaluation_assets_tests.judging_alone import endpoint, judge_at

Body = Callable[[list[str]], bytes]
UNREADABLE = b'{"choices": "none"}'


def usual(criteria: list[str]) -> bytes:
    return completion(evaluation(criteria))


def after(*first: bytes) -> Body:
    """Answers of which the first are these."""
    given: Iterator[bytes] = iter(first)
    return lambda criteria: next(given, None) or usual(criteria)


def run(body: Body, url: str, budget: Budget, count: int = 1) -> list[Row]:
    """The rows of a run; rows, metadata, budget and ledger agree on what it cost."""

    async def work() -> tuple[list[Row], int]:
        async with endpoint(answering(body)) as made:
            rows = await rows_at(judge_at(made.url, url, max_concurrency=1), count, budget=budget)
            return rows, len(made.asked)

    rows, asked = asyncio.run(work())
    ledger, tally = Ledger(url), Tally()
    for row in rows:
        tally.add(row)
    assert tally.cost_usd == pytest.approx(budget.spent_usd)
    assert ledger.spent("run") == pytest.approx(budget.spent_usd)
    assert tally.calls == asked == budget.calls == ledger.calls("run")
    ledger.close()
    return rows


@pytest.mark.parametrize("limit", [None, 1.0])
def test_a_reply_that_cannot_be_read_is_part_of_the_cost_of_its_verdict(url: str, limit: float | None) -> None:
    first, second = run(after(UNREADABLE), url, Budget(limit))
    assert (first["outcome"], first["attempts"], first["input_tokens"]) == ("scored", 2, None)
    assert (second["attempts"], second["input_tokens"]) == (1, 700)
    assert first["cost_usd"] > 2 * second["cost_usd"]


def test_a_question_that_is_given_up_has_the_cost_of_its_replies(url: str) -> None:
    rows = run(lambda criteria: UNREADABLE, url, Budget(1.0))
    assert rows[0]["outcome"] == "failed"
    assert rows[0]["attempts"] > 1 and rows[0]["cost_usd"] > 0


def test_a_question_that_is_stopped_has_the_cost_of_its_replies(url: str) -> None:
    rows = run(lambda criteria: UNREADABLE, url, Budget(limit_calls=1))
    assert [(row["outcome"], row["error_kind"], row["attempts"]) for row in rows] == [
        ("not_run", "budget", 1),
        ("not_run", "budget", 0),
    ]
    assert rows[0]["cost_usd"] > 0


def test_a_reply_without_usage_costs_what_the_budget_counts(url: str) -> None:
    rows = run(lambda criteria: completion(evaluation(criteria), None), url, Budget())
    assert {row["input_tokens"] for row in rows} == {None}


@pytest.mark.parametrize("usages", [(None, {"prompt_tokens": 7, "completion_tokens": 6}), ({"prompt_tokens": 7}, None)])
def test_tokens_are_unknown_if_those_of_one_reply_are(url: str, usages: tuple[object, object]) -> None:
    given = iter(usages)
    texts = iter(["no JSON"])

    def body(criteria: list[str]) -> bytes:
        return completion(
            next(texts, evaluation(criteria)), next(given, {"prompt_tokens": 700, "completion_tokens": 6})
        )

    first, second = run(body, url, Budget())
    assert (first["attempts"], first["input_tokens"], first["output_tokens"]) == (2, None, None)
    assert (second["attempts"], second["input_tokens"], second["output_tokens"]) == (1, 700, 6)


def test_an_unknown_price_stays_unknown(url: str) -> None:
    async def work() -> list[Row]:
        async with endpoint(answering(after(UNREADABLE))) as made:
            return await rows_at(judge_at(made.url, url, max_concurrency=1, price=None), 1, budget=budget)

    budget = Budget()
    rows = asyncio.run(work())
    assert [(row["cost_usd"], row["attempts"]) for row in rows] == [(None, 2), (None, 1)]
    assert budget.calls == 3


IN_FLIGHT = 3


def test_lying_endpoints_exceed_a_budget_by_no_more_than_what_is_in_flight(url: str) -> None:
    """Of two judges that share it: each reply reports more output than its request allows."""
    asked: list[int] = []
    reply_usd = (700 + 50_000 * 10) / 1e6

    async def work(budget: Budget) -> None:
        body = answering(
            lambda criteria: completion(evaluation(criteria), {"prompt_tokens": 700, "completion_tokens": 50_000})
        )
        async with endpoint(body) as made:
            judges = [
                judge_at(made.url, url, name=name, model=name, max_concurrency=IN_FLIGHT) for name in ("one", "two")
            ]
            await asyncio.gather(*(rows_at(judge, 20, budget=budget) for judge in judges))
            asked.append(len(made.asked))

    budget = Budget(1.0)
    asyncio.run(work(budget))
    assert 1.0 < budget.spent_usd <= 1.0 + 2 * IN_FLIGHT * reply_usd
    assert budget.spent_usd == pytest.approx(asked[0] * reply_usd)
    asyncio.run(work(resumed := Budget(1.0)))
    assert asked[1] == 0, "another process of the run asks nothing more"
    assert resumed.spent_usd == pytest.approx(budget.spent_usd)
