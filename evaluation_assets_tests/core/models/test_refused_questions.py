"""Questions to an endpoint that refuses many requests, on a clock that is counted: none is lost to a limit."""

import asyncio
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from evaluation_assets.core.models.budget import Budget
from evaluation_assets.core.models.client import Client
from evaluation_assets.core.models.cost import Cost
from evaluation_assets.core.models.dialects import Dialect
from evaluation_assets.core.models.errors import ProviderError, Stopped
from evaluation_assets.core.models.ledger import Ledger
from evaluation_assets.core.models.messages import Message, Reply, Request
from evaluation_assets.core.models.settings import ModelSettings
from evaluation_assets.core.traces.prices import OwnPrice, Price
from evaluation_assets.core.traces.token_usage import TokenUsage
from evaluation_assets_tests.core.models.test_limits import Counted, Endpoint

SEEDS = 40


@dataclass
class Refusing:
    """A provider at a simulated endpoint, which may say when to come again: exactly, in whole seconds, in a minute."""

    endpoint: Endpoint
    says: str
    refused: int = 0

    async def complete(self, request: Request, dialect: Dialect) -> Reply:
        retry_after = await self.endpoint.ask()
        if retry_after is None:
            return Reply(text="{}", finish="stop", usage=TokenUsage())
        self.refused += 1
        waits = {"exactly": retry_after, "seconds": float(round(retry_after)), "a minute": 60.0, "nothing": None}
        raise ProviderError("rate_limit", "HTTP 429", retryable=True, retry_after=waits[self.says])

    def body(self, request: Request, dialect: Dialect | None = None, *, in_batch: bool = False) -> dict[str, Any]:
        raise NotImplementedError

    def batches(self) -> None:
        return None

    async def close(self) -> None:
        pass


@dataclass
class Outcome:
    """How many questions were answered, and the errors of the others."""

    answered: int = 0
    lost: list[str] = field(default_factory=list)


def settings(process: int, most: int) -> ModelSettings:
    return ModelSettings(
        name=f"judge_{process}",
        provider="openai_compatible",
        model="m",
        endpoint="http://localhost:1/v1",
        max_concurrency=most,
        requests_per_minute=None,
        tokens_per_minute=None,
        max_output_tokens=100,
        max_input_tokens=1000,
        parameters={},
    )


def asked(name: str) -> tuple[Mapping[str, Any], Request]:
    request = Request(
        system="", turns=(Message("user", name),), schema=None, max_output_tokens=100, cache_key=name, parameters={}
    )
    return {"name": name}, request


async def chain(client: Client, name: str, length: int, outcome: Outcome) -> None:
    for position in range(length):
        question, request = asked(f"{name} {position}")
        try:
            await client.ask(
                question, request, lambda entries: entries[0] if entries else None, Cost(), left=length - position
            )
        except (ProviderError, Stopped) as problem:
            outcome.lost.append(f"{type(problem).__name__} {problem}")
        else:
            outcome.answered += 1


async def work(url: str, provider: Refusing, *, processes: int, chains: int, length: int, most: int) -> Outcome:
    outcome = Outcome()
    price = OwnPrice(Price(input=1, output=1))
    # Clients in one event loop share a limit where their ledgers have one name: here each has its own, as in processes.
    ledgers = [Ledger(url.format("./" * number)) for number in range(processes)]
    clients = [
        Client(settings(number, most), provider, ledger, price, "run", Budget())
        for number, ledger in enumerate(ledgers)
    ]
    await asyncio.gather(
        *(
            chain(client, f"{number} {each}", length, outcome)
            for number, client in enumerate(clients)
            for each in range(chains)
        )
    )
    for client, ledger in zip(clients, ledgers, strict=True):
        client.close()
        ledger.close()
    return outcome


def simulated(seed: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Outcome, int, int]:
    """What comes of the questions of a run drawn from a seed; how many there were, and how many refusals."""
    drawn = random.Random(seed)
    random.seed(seed)  # of the jitter
    per_second = 10 ** drawn.uniform(-1, 2.3)
    endpoint = Endpoint(
        per_second, burst=drawn.choice([1, 5, 20]), latency_s=10 ** drawn.uniform(-2.3, 1), most=drawn.choice([4, 1000])
    )
    provider = Refusing(endpoint, drawn.choice(["exactly", "seconds", "a minute", "nothing"]))
    processes, chains, length = drawn.choice([1, 1, 1, 2, 3]), drawn.choice([12, 40]), drawn.choice([1, 3])
    with asyncio.Runner(loop_factory=Counted) as runner:
        monkeypatch.setattr(time, "monotonic", runner.get_loop().time)
        outcome = runner.run(
            work(
                "sqlite://" if processes == 1 else f"sqlite:///{folder}/{{}}{seed}.sqlite",
                provider,
                processes=processes,
                chains=chains,
                length=length,
                most=drawn.choice([8, 64]),
            )
        )
    return outcome, processes * chains * length, provider.refused


@pytest.mark.slow
def test_no_question_is_lost_to_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lost, refused = {}, 0
    for seed in range(SEEDS):
        outcome, questions, refusals = simulated(seed, tmp_path, monkeypatch)
        assert outcome.answered + len(outcome.lost) == questions
        refused += refusals
        if outcome.lost:
            lost[seed] = outcome.lost[:2], len(outcome.lost), questions
    assert not lost
    assert refused > 1000
