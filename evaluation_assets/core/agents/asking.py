"""Ask a model what the ledger does not know yet: claim, pay, retry, commit before use."""

import asyncio
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evaluation_assets.core.judging.ledger import Entry, Ledger, question_key
from evaluation_assets.core.judging.limits import AdaptiveLimit
from evaluation_assets.core.judging.model_judge import DEADLINE_S, MAX_ATTEMPTS, Budget, ModelSettings, Stopped
from evaluation_assets.core.judging.prices import Pricing
from evaluation_assets.core.judging.providers.base import Message, Provider, ProviderError, Request

_FIRST_BACKOFF_S, _LONGEST_BACKOFF_S = 0.5, 30.0
_POLL_S = 0.25


@dataclass(frozen=True, slots=True)
class Answered:
    """A reply, and whether it was paid for before."""

    entry: Entry
    from_ledger: bool


class Asker:
    """One model, its ledger and what the run may spend."""

    def __init__(
        self, settings: ModelSettings, provider: Provider, ledger: Ledger, pricing: Pricing, run: str, budget: Budget
    ) -> None:
        self._settings = settings
        self._provider = provider
        self._ledger = ledger
        self._pricing = pricing
        self._run = run
        self._budget = budget
        self._limit = AdaptiveLimit(settings.max_concurrency, settings.requests_per_minute)
        self._stopped: Stopped | None = None

    async def ask(self, request: Request, sample: str) -> Answered:
        """The reply to a request. Equal requests with another `sample` are other questions.

        Raises:
            Stopped: nothing more can be paid for in this run.
            ProviderError: the endpoint gave no reply.
        """
        key = self._key(request, sample)
        deadline = time.monotonic() + DEADLINE_S
        while True:
            if known := self._ledger.entries(key):
                return Answered(known[0], from_ledger=True)
            self._check_stopped()
            if self._ledger.claim(key):
                break
            if time.monotonic() > deadline:
                raise ProviderError("timeout", "another worker holds this question and did not finish", retryable=True)
            await asyncio.sleep(_POLL_S)
        try:
            if known := self._ledger.entries(key):  # another worker may have answered between the look and the claim
                return Answered(known[0], from_ledger=True)
            return Answered(await self._pay_for(key, request, deadline), from_ledger=False)
        finally:
            self._ledger.release(key)

    async def _pay_for(self, key: str, request: Request, deadline: float) -> Entry:
        for attempt in range(1, MAX_ATTEMPTS + 1):
            self._ledger.claim(key)  # renewed with every attempt: it must outlive the request
            try:
                async with self._limit.slot(0):
                    self._check_stopped()
                    sent = time.monotonic()
                    reply = await self._provider.complete(request)
            except ProviderError as problem:
                if problem.kind in ("auth", "quota"):
                    self._stopped = Stopped(problem.kind, str(problem))
                    raise self._stopped from None
                wait = problem.retry_after or min(_LONGEST_BACKOFF_S, _FIRST_BACKOFF_S * 2 ** (attempt - 1))
                wait *= 1 + random.random() * 0.25  # noqa: S311 (jitter, so that workers do not come back together)
                if not problem.retryable or attempt == MAX_ATTEMPTS or time.monotonic() + wait > deadline:
                    raise
                await asyncio.sleep(wait)
                continue
            self._limit.went_well()
            price = self._pricing.cost(reply.usage)
            self._budget.pay(price)
            return self._ledger.commit(
                key,
                run=self._run,
                provider=self._settings.provider,
                model=self._settings.model,
                reply=reply,
                cost_usd=price,
                latency_ms=(time.monotonic() - sent) * 1000,
                attempts=attempt,
            )
        raise AssertionError("the last attempt returns or raises")

    def _check_stopped(self) -> None:
        if self._stopped is not None:
            raise self._stopped
        self._budget.check()

    def _key(self, request: Request, sample: str) -> str:
        own = self._settings
        return question_key(
            {
                "system": request.system,
                "turns": [_told(turn) for turn in request.turns],
                "tools": [[tool.name, tool.description, tool.parameters] for tool in request.tools],
                "provider": own.provider,
                "endpoint": own.endpoint,
                "model": own.model,
                "parameters": dict(own.parameters),
                "max_output_tokens": own.max_output_tokens,
                "sample": sample,
            }
        )


def _told(turn: Message) -> list[Any] | Mapping[str, Any]:
    if turn.wire is not None:
        return turn.wire
    return [turn.role, turn.text, [[answer.id, answer.content, answer.failed] for answer in turn.answers]]
