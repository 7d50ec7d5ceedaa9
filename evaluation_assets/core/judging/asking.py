"""Ask a model what the ledger does not know yet: claim, wait for a slot, send, try again, pay, commit before use."""

import asyncio
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation_assets.core.judging.budget import Budget, Stopped, most_of
from evaluation_assets.core.judging.ledger import Entry, Ledger, question_key
from evaluation_assets.core.judging.limits import AdaptiveLimit
from evaluation_assets.core.judging.prices import Pricing
from evaluation_assets.core.judging.providers.base import Provider, ProviderError, Reply, Request

DEADLINE_S = 600.0
"""A question that has not been answered by then, retries included, has failed."""

MAX_ATTEMPTS = 8
_FIRST_BACKOFF_S, _LONGEST_BACKOFF_S = 0.5, 30.0
_POLL_S = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """One judge of the panel, as its model needs it."""

    name: str
    provider: str
    model: str
    endpoint: str
    max_concurrency: int
    requests_per_minute: float | None
    tokens_per_minute: float | None
    max_output_tokens: int
    max_input_tokens: int
    parameters: Mapping[str, Any]
    key_variable: str | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """A reply, and whether it was paid for before."""

    entry: Entry
    from_ledger: bool


Usable = Callable[[Sequence[Entry]], Entry | None]
"""Picks the stored reply that will do, of all to a question, newest first."""


class Asker:
    """One model with its ledger, its limits and what the run may spend.

    Without a provider, only what the ledger knows is answered; `stopped` says why.
    """

    def __init__(
        self,
        settings: ModelSettings,
        provider: Provider | None,
        ledger: Ledger,
        pricing: Pricing,
        run: str,
        budget: Budget,
        stopped: Stopped | None = None,
    ) -> None:
        self.run = run
        self._settings = settings
        self._provider = provider
        self._ledger = ledger
        self._pricing = pricing
        self._budget = budget
        self._stopped = stopped
        self._limit = AdaptiveLimit(settings.max_concurrency, settings.requests_per_minute, settings.tokens_per_minute)

    def key_of(self, asked: Mapping[str, Any]) -> str:
        """The content address of a question to this model: what is asked, of whom, with which parameters."""
        own = self._settings
        of_whom = {
            "provider": own.provider,
            "endpoint": own.endpoint,
            "model": own.model,
            "parameters": dict(own.parameters),
            "max_output_tokens": own.max_output_tokens,
        }
        return question_key({**asked, **of_whom})

    async def ask(self, key: str, request: Request, usable: Usable, *, left: int = 0, tokens: int = 0) -> Answered:
        """The reply to the question with this key: from the ledger where one will do, else paid for.

        Args:
            key: Its content address.
            request: What is sent.
            usable: Which stored reply will do.
            left: How many questions of the chain come after it; the longest chain goes first.
            tokens: What it is expected to take of the tokens a minute.

        Raises:
            Stopped: nothing more is asked in this run.
            ProviderError: the endpoint gave no reply.
        """
        deadline = time.monotonic() + DEADLINE_S
        known = await self._known_or_claimed(key, usable, deadline)
        if known is not None:
            return Answered(known, from_ledger=True)
        try:
            return Answered(await self._pay_for(key, request, left, tokens, deadline), from_ledger=False)
        except BaseException:
            self._ledger.release(key)
            raise

    async def _known_or_claimed(self, key: str, usable: Usable, deadline: float) -> Entry | None:
        """A stored reply; `None` when there is none and this worker is the one that may pay for it."""
        while (known := usable(self._ledger.entries(key))) is None:
            self._check_stopped()
            if self._ledger.claim(key):
                known = usable(self._ledger.entries(key))  # another worker may have answered meanwhile
                if known is not None:
                    self._ledger.release(key)
                return known
            if time.monotonic() > deadline:
                raise ProviderError("timeout", "another worker holds this question and did not finish", retryable=True)
            await asyncio.sleep(_POLL_S)
        return known

    async def _pay_for(self, key: str, request: Request, left: int, tokens: int, deadline: float) -> Entry:
        attempt = 0
        while True:
            attempt += 1
            self._check_stopped()
            if attempt > 1:
                self._ledger.claim(key)  # renewed: it must outlive the request
            try:
                reply, price, latency_ms = await self._send(request, left, tokens)
            except ProviderError as problem:
                if problem.kind in ("auth", "quota"):  # a key that is refused is refused for all questions
                    self._stopped = Stopped(problem.kind, str(problem))
                wait = problem.retry_after or min(_LONGEST_BACKOFF_S, _FIRST_BACKOFF_S * 2 ** (attempt - 1))
                wait *= 1 + random.random() * 0.25  # noqa: S311 (jitter, so that workers do not come back together)
                if not problem.retryable or attempt == MAX_ATTEMPTS or time.monotonic() + wait > deadline:
                    raise
                await asyncio.sleep(wait)
                continue
            return self._ledger.commit(
                key,
                run=self.run,
                provider=self._settings.provider,
                model=self._settings.model,
                reply=reply,
                cost_usd=price,
                latency_ms=latency_ms,
                attempts=attempt,
            )

    async def _send(self, request: Request, left: int, tokens: int) -> tuple[Reply, float | None, float]:
        """One attempt, when there is a slot and money for it: the reply, its price and its milliseconds.

        The limit learns from how it ends.
        """
        assert self._provider is not None
        most = None if self._budget.limit_usd is None else most_of(request, self._pricing)
        async with self._limit.slot(left, tokens) as started, self._budget.reserved(most):
            self._check_stopped()
            sent = time.monotonic()
            try:
                reply = await self._provider.complete(request)
            except ProviderError as problem:
                if problem.kind == "rate_limit":
                    self._limit.pushed_back(started, problem.retry_after)
                raise
            price = self._pricing.cost(reply.usage)
            self._budget.pay(price)
            used = reply.usage
            if used.input_tokens is not None:
                self._limit.took(used.input_tokens + (used.output_tokens or 0) - tokens)
            self._limit.went_well(started)
        return reply, price, (time.monotonic() - sent) * 1000

    def _check_stopped(self) -> None:
        if self._stopped is not None:
            raise self._stopped
        self._budget.check()
