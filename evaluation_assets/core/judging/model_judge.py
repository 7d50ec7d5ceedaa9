"""A judge that is a model: asks, pays once, reads the reply, and never turns a failure into a score."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakKeyDictionary

from evaluation_assets.core.judging.judge import Judge, Judgement
from evaluation_assets.core.judging.ledger import Entry, Ledger, question_key
from evaluation_assets.core.judging.limits import AdaptiveLimit
from evaluation_assets.core.judging.prices import Pricing
from evaluation_assets.core.judging.prompts import (
    PROMPT_VERSION,
    Piece,
    Rendered,
    estimated_tokens,
    fence_of,
    render,
    repair_request,
    reply_schema,
)
from evaluation_assets.core.judging.providers.base import Message, Provider, ProviderError, Reply, Request, TokenUsage
from evaluation_assets.core.judging.replies import Evaluation, InvalidReply, read_reply
from evaluation_assets.core.judging.subjects import Subject
from evaluation_assets.core.judging.verdicts import ErrorKind, Verdict
from evaluation_assets.core.trajectories.identity import digest
from evaluation_assets.core.trajectories.model import Usage

DEADLINE_S = 600.0
"""A question that has not been answered by then, retries included, has failed."""

MAX_ATTEMPTS = 8
_FIRST_BACKOFF_S, _LONGEST_BACKOFF_S = 0.5, 30.0
_POLL_S = 0.25


class Stopped(Exception):
    """No more questions are asked in this run: `kind` and the message say why."""

    def __init__(self, kind: ErrorKind, message: str) -> None:
        super().__init__(message)
        self.kind: ErrorKind = kind


class Budget:
    """What a run may spend, over all its judges. Without a limit it only adds up."""

    def __init__(self, limit_usd: float | None = None, spent_usd: float = 0.0) -> None:
        self.limit_usd = limit_usd
        self.spent_usd = spent_usd

    def check(self) -> None:
        """Raise `Stopped` when nothing is left."""
        if self.limit_usd is not None and self.spent_usd >= self.limit_usd:
            raise Stopped("budget", f"the budget of ${self.limit_usd:g} is spent")

    def pay(self, cost_usd: float | None) -> None:
        """Add what was paid; an unknown price adds nothing."""
        self.spent_usd += cost_usd or 0.0


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
    sample: int = 0


@dataclass(slots=True)
class _Cost:
    """What one verdict took, over its questions."""

    usage: Usage = field(default_factory=Usage)
    latency_ms: float = 0.0
    attempts: int = 0
    keys: list[str] = field(default_factory=list)
    all_from_ledger: bool = True

    def add(self, key: str, entry: Entry, *, from_ledger: bool) -> None:
        tokens = entry.reply.usage
        self.usage = Usage(
            input_tokens=_plus(self.usage.input_tokens, tokens.input_tokens),
            cached_tokens=_plus(self.usage.cached_tokens, tokens.cached_tokens),
            output_tokens=_plus(self.usage.output_tokens, tokens.output_tokens),
            cost_usd=_plus(self.usage.cost_usd, entry.cost_usd),
        )
        self.latency_ms += entry.latency_ms
        self.attempts += 0 if from_ledger else entry.attempts
        self.keys.append(key)
        self.all_from_ledger &= from_ledger


class ModelJudge:
    """One model of the panel.

    Outside of `opened` it is only a description; inside it has connections in the running event loop.
    """

    def __init__(
        self,
        settings: ModelSettings,
        connect: Callable[[], Provider],
        ledger: Callable[[], Ledger],
        pricing: Pricing,
    ) -> None:
        self.settings = settings
        self._connect = connect
        self._open_ledger = ledger
        self._pricing = pricing

    @property
    def name(self) -> str:
        return self.settings.name

    @property
    def provider(self) -> str:
        return self.settings.provider

    @property
    def model(self) -> str:
        return self.settings.model

    @property
    def version(self) -> str:
        """Everything that decides what is asked, but the rubrics."""
        own = self.settings
        return digest(PROMPT_VERSION, own.provider, own.model, own.endpoint, repr(sorted(own.parameters.items())))

    @property
    def chains_in_flight(self) -> int:
        """More than there are slots: results come in order, and a slow chain must not keep slots empty."""
        return self.settings.max_concurrency * 4

    @asynccontextmanager
    async def opened(self, run: str, budget_usd: float | None) -> AsyncIterator[Judge]:
        """The judge with open connections, for one level of one run."""
        ledger = self._open_ledger()
        try:
            provider: Provider | None = self._connect()
            stopped = None
        except ProviderError as problem:  # no key: every verdict says so, and the panel goes on
            provider, stopped = None, Stopped(problem.kind, str(problem))
        try:
            yield _OpenJudge(self, ledger, provider, self._pricing, run, Budget(budget_usd, ledger.spent(run)), stopped)
        finally:
            if provider is not None:
                await provider.close()
            ledger.close()

    @contextmanager
    def rehearsed(self) -> Iterator[Judge]:
        """The judge with its ledger and without connections: what it cannot look up is `not_run`."""
        ledger = self._open_ledger()
        stopped = Stopped("budget", "a rehearsal pays for nothing")
        try:
            yield _OpenJudge(self, ledger, None, self._pricing, "rehearsal", Budget(), stopped)
        finally:
            ledger.close()

    def dearest(self, input_tokens: int, calls: int) -> float | None:
        """What calls can cost at most: nothing served from a cache, every reply as long as it may be."""
        own = self.settings
        usage = TokenUsage(input_tokens=input_tokens, output_tokens=calls * own.max_output_tokens)
        return self._pricing.cost(usage)

    async def judge(self, subject: Subject, earlier: Sequence[Judgement]) -> Verdict:
        """Not without connections."""
        raise RuntimeError("a model judge judges inside `opened` only")


class _OpenJudge:
    """A model judge at work."""

    def __init__(
        self,
        description: ModelJudge,
        ledger: Ledger,
        provider: Provider | None,
        pricing: Pricing,
        run: str,
        budget: Budget,
        stopped: Stopped | None,
    ) -> None:
        own = description.settings
        self.settings = own
        self.name, self.provider, self.model = own.name, own.provider, own.model
        self.version, self.chains_in_flight = description.version, description.chains_in_flight
        self._ledger = ledger
        self._secret = ledger.secret()
        self._endpoint = provider
        self._pricing = pricing
        self._run = run
        self._budget = budget
        self._stopped = stopped
        self._limit = AdaptiveLimit(own.max_concurrency, own.requests_per_minute, own.tokens_per_minute)
        self._pieces: WeakKeyDictionary[Subject, Piece] = WeakKeyDictionary()

    @asynccontextmanager
    async def opened(self, run: str, budget_usd: float | None) -> AsyncIterator[Judge]:
        """It is open already."""
        yield self

    async def judge(self, subject: Subject, earlier: Sequence[Judgement]) -> Verdict:
        """The verdict on a subject; whatever goes wrong is in it."""
        fence = fence_of(self._secret, subject.trajectory.text)
        rendered = render(subject, earlier, fence, self.settings.max_input_tokens, self._pieces)
        cost = _Cost()
        try:
            evaluation = await self._evaluate(subject, rendered, cost)
        except Stopped as problem:
            return _verdict(cost, rendered, "not_run", problem.kind, str(problem))
        except (ProviderError, InvalidReply) as problem:
            return _verdict(cost, rendered, "failed", problem.kind, str(problem))
        scored = any(score is not None for score in evaluation.scores.values())
        return replace(
            _verdict(cost, rendered, "scored" if scored else "abstained", None, None),
            scores=evaluation.scores,
            summary=evaluation.summary,
            reasoning=evaluation.reasoning,
        )

    async def _evaluate(self, subject: Subject, rendered: Rendered, cost: _Cost) -> Evaluation:
        """Ask; when the reply is not valid, say what is wrong with it, once."""
        if rendered.tokens > self.settings.max_input_tokens:
            raise ProviderError("context_length", "too long even when cut: raise max_input_tokens", retryable=False)
        request = Request(
            system=rendered.system,
            turns=rendered.turns,
            schema=reply_schema(subject.chain_rubrics),
            max_output_tokens=self.settings.max_output_tokens,
            cache_key=digest(subject.trajectory.text, self.name, subject.level),
            parameters=self.settings.parameters,
        )

        def read(entry: Entry) -> Evaluation:
            _refuse_unfinished(entry)
            return read_reply(entry.reply.text, subject.criteria, subject.rubric.scale)

        entry = await self._answer(request, read, subject.later, cost)
        try:
            return read(entry)
        except InvalidReply as problem:
            if entry.reply.finish != "stop":
                raise
            repair = (Message("assistant", entry.reply.text), Message("user", repair_request(str(problem))))
            turns = (*request.turns, *repair)
            return read(await self._answer(replace(request, turns=turns), read, subject.later, cost))

    async def _answer(self, request: Request, read: Callable[[Entry], Evaluation], left: int, cost: _Cost) -> Entry:
        """The reply to a question: from the ledger if it is there and can be read, else paid for."""
        key = self._key(request)
        deadline = time.monotonic() + DEADLINE_S
        entry = await self._known_or_claimed(key, read, deadline)
        if entry is not None:
            cost.add(key, entry, from_ledger=True)
            return entry
        try:
            entry = await self._pay_for(key, request, left, deadline)
        except BaseException:
            self._ledger.release(key)
            raise
        cost.add(key, entry, from_ledger=False)
        return entry

    async def _known_or_claimed(self, key: str, read: Callable[[Entry], Evaluation], deadline: float) -> Entry | None:
        """A stored reply; `None` when there is none and this worker is the one that may pay for it."""
        while (known := self._usable(key, read)) is None:
            self._check_stopped()
            if self._ledger.claim(key):
                known = self._usable(key, read)  # another worker may have answered between the look and the claim
                if known is not None:
                    self._ledger.release(key)
                return known
            if time.monotonic() > deadline:
                raise ProviderError("timeout", "another worker holds this question and did not finish", retryable=True)
            await asyncio.sleep(_POLL_S)
        return known

    def _usable(self, key: str, read: Callable[[Entry], Evaluation]) -> Entry | None:
        """The newest stored reply that can be read; of this run also one that cannot, so that it is not paid twice."""
        for entry in self._ledger.entries(key):
            try:
                read(entry)
            except InvalidReply:
                if entry.run != self._run:
                    continue
            return entry
        return None

    async def _pay_for(self, key: str, request: Request, left: int, deadline: float) -> Entry:
        started = time.monotonic()
        tokens = estimated_tokens(request.system, *(turn.text for turn in request.turns))
        for attempt in range(1, MAX_ATTEMPTS + 1):
            self._check_stopped()
            if attempt > 1:
                self._ledger.claim(key)  # renewed: it must outlive the request
            try:
                reply, latency_ms = await self._send(request, left, tokens)
            except ProviderError as problem:
                if problem.kind in ("auth", "quota"):  # a key that is refused is refused for all questions
                    self._stopped = Stopped(problem.kind, str(problem))
                wait = problem.retry_after or min(_LONGEST_BACKOFF_S, _FIRST_BACKOFF_S * 2 ** (attempt - 1))
                wait *= 1 + random.random() * 0.25  # noqa: S311 (jitter, so that workers do not come back together)
                if not problem.retryable or attempt == MAX_ATTEMPTS or time.monotonic() + wait > deadline:
                    raise
                await asyncio.sleep(wait)
                continue
            price = self._pricing.cost(reply.usage)
            self._budget.pay(price)
            return self._ledger.commit(
                key,
                run=self._run,
                provider=self.provider,
                model=self.model,
                reply=reply,
                cost_usd=price,
                latency_ms=latency_ms,
                attempts=attempt,
            )
        raise ProviderError("timeout", f"no answer in {time.monotonic() - started:.0f} s", retryable=True)

    async def _send(self, request: Request, left: int, tokens: int) -> tuple[Reply, float]:
        """One attempt, when there is a slot for it, and its milliseconds; the limit learns from how it ends."""
        assert self._endpoint is not None
        async with self._limit.slot(left, tokens) as started:
            self._check_stopped()
            sent = time.monotonic()
            try:
                reply = await self._endpoint.complete(request)
            except ProviderError as problem:
                if problem.kind == "rate_limit":
                    self._limit.pushed_back(started, problem.retry_after)
                raise
            used = reply.usage
            if used.input_tokens is not None:
                self._limit.took(used.input_tokens + (used.output_tokens or 0) - tokens)
            self._limit.went_well(started)
        return reply, (time.monotonic() - sent) * 1000

    def _check_stopped(self) -> None:
        if self._stopped is not None:
            raise self._stopped
        self._budget.check()

    def _key(self, request: Request) -> str:
        """What was asked of whom: exact messages, schema, model, parameters, endpoint and sample number."""
        own = self.settings
        return question_key(
            {
                "system": request.system,
                "turns": [[turn.role, turn.text] for turn in request.turns],
                "schema": request.schema,
                "provider": own.provider,
                "endpoint": own.endpoint,
                "model": own.model,
                "parameters": dict(own.parameters),
                "max_output_tokens": own.max_output_tokens,
                "sample": own.sample,
            }
        )


def _refuse_unfinished(entry: Entry) -> None:
    finish = entry.reply.finish
    if finish == "length":
        raise InvalidReply("truncated", "the reply was cut at the limit of output tokens; raise max_output_tokens.")
    if finish == "refusal":
        raise InvalidReply("refusal", "the model refused.")
    if finish == "content_filter":
        raise InvalidReply("content_filter", "the provider's content filter stopped the reply.")


def _verdict(cost: _Cost, rendered: Rendered, outcome: Any, kind: ErrorKind | None, message: str | None) -> Verdict:
    return Verdict(
        outcome=outcome,
        error_kind=kind,
        error=message,
        usage=cost.usage,
        latency_ms=cost.latency_ms or None,
        attempts=cost.attempts,
        from_ledger=bool(cost.keys) and cost.all_from_ledger,
        share_seen=rendered.share_seen if cost.keys else None,
        ledger_key=cost.keys[-1] if cost.keys else None,
    )


def _plus(total: Any, more: Any) -> Any:
    """A sum that stays unknown only while nothing is known."""
    return total if more is None else more + (total or 0)
