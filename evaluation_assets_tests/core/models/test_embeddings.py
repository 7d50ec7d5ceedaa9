"""Embeddings of an endpoint that refuses for a while, or says what cannot be."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from evaluation_assets.core.models.budget import Budget
from evaluation_assets.core.models.embeddings import EndpointVectors, NoVectors
from evaluation_assets.core.models.ledger import Ledger
from evaluation_assets.core.traces.prices import OwnPrice, Price
from evaluation_assets_tests.http_server import Reply, Request, http_server

TEXTS = ["one text", "another text"]


def answer(usage: Any, items: int = len(TEXTS)) -> Reply:
    data = [{"object": "embedding", "index": each, "embedding": [1.0, float(each)]} for each in range(items)]
    return Reply(body={"object": "list", "model": "m", "data": data, "usage": usage})


@contextmanager
def vectors_of(told: Callable[[Request], Reply], folder: Path, budget: Budget) -> Iterator[EndpointVectors]:
    ledger = Ledger(f"sqlite:///{folder}/ledger.sqlite")
    with http_server(told) as url:
        yield EndpointVectors(
            model="m",
            base_url=f"{url}/v1",
            key_variable=None,
            ledger=ledger,
            pricing=OwnPrice(Price(input=1.0, output=1.0)),
            run="run",
            budget=budget,
        )
    assert ledger.spent("run") == pytest.approx(budget.spent_usd)
    assert ledger.calls("run") == budget.calls
    ledger.close()


def test_texts_that_are_refused_because_of_too_many_requests_are_asked_again(tmp_path: Path) -> None:
    """More often than the SDK tries by itself."""
    asked: list[Request] = []

    def told(request: Request) -> Reply:
        asked.append(request)
        busy = Reply(429, {"error": {"message": "busy"}}, headers={"retry-after-ms": "5"})
        return busy if len(asked) <= 7 else answer({"prompt_tokens": 6})

    with vectors_of(told, tmp_path, Budget()) as vectors:
        assert [list(vector) for vector in vectors.of(TEXTS)] == [[1.0, 0.0], [1.0, 1.0]]
        assert vectors.taken.input_tokens == 6
    assert len(asked) == 8


@pytest.mark.parametrize("tokens", [10**18, -5, 1e30, 1.5, True, "6", 1000])
def test_impossible_tokens_are_unknown_and_count_as_the_most_that_they_can_cost(tmp_path: Path, tokens: object) -> None:
    budget = Budget(1.0)
    with vectors_of(lambda _: answer({"prompt_tokens": tokens}), tmp_path, budget) as vectors:
        assert len(vectors.of(TEXTS)) == 2
        assert vectors.taken.input_tokens is None
        assert 0 < budget.spent_usd < 1e-4
        assert vectors.taken.cost_usd == pytest.approx(budget.spent_usd)
        assert budget.calls == len(TEXTS)


@pytest.mark.parametrize(
    ("told", "usd"),
    [(answer({"prompt_tokens": 6}, items=0), 6e-6), (answer(None, items=0), None), (Reply(text="-"), None)],
)
def test_an_answer_that_holds_no_vectors_was_billed(tmp_path: Path, told: Reply, usd: float | None) -> None:
    budget = Budget(1.0)
    with vectors_of(lambda _: told, tmp_path, budget) as vectors:
        with pytest.raises(NoVectors):
            vectors.of(TEXTS)
        assert budget.spent_usd == pytest.approx(usd) if usd else budget.spent_usd > 0
        assert budget.calls == len(TEXTS)
