"""The client for language models: look up the ledger, wait for a slot, claim, send, retry, pay, store, return."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from evaluation_assets.core.models.backoff import Backoff
from evaluation_assets.core.models.budget import Budget, most_of
from evaluation_assets.core.models.circuit import MOST_FAILURES, Circuit
from evaluation_assets.core.models.cost import Cost
from evaluation_assets.core.models.dialects import Dialect
from evaluation_assets.core.models.errors import REFUSED_FOR_ALL, LedgerError, ProviderError, Stopped, UnusableLedger
from evaluation_assets.core.models.grouped_writes import GroupedWrites
from evaluation_assets.core.models.known_replies import Answered, KnownReplies, Usable
from evaluation_assets.core.models.ledger import Entry, Ledger, question_key
from evaluation_assets.core.models.messages import Reply, Request
from evaluation_assets.core.models.negotiation import Negotiation
from evaluation_assets.core.models.providers.base import Provider
from evaluation_assets.core.models.settings import ModelSettings
from evaluation_assets.core.models.shared_limits import SharedLimit
from evaluation_assets.core.models.timeouts import Deadline
from evaluation_assets.core.models.unsaved import Unsaved
from evaluation_assets.core.models.unusable_replies import UnusableReplies
from evaluation_assets.core.models.usage import believed
from evaluation_assets.core.system.cancellation import finished
from evaluation_assets.core.system.logs import log_of
from evaluation_assets.core.traces.prices import Pricing

_POLL_S = 0.25

_log = log_of(__name__)

_MOST_UNREADABLE = 3
"""How often a question is sent whose replies cannot be read: each may be paid for, and the next is likely the same."""


@dataclass(frozen=True, slots=True)
class _Question:
    """A question that is being asked; the fields are the arguments of `Client.ask`."""

    asked: Mapping[str, Any]
    request: Request
    usable: Usable
    left: int
    tokens: int
    deadline: Deadline


class Client:
    """One model with its ledger, its limits and what the run may spend. `close` it in the end.

    Without a provider, only what the ledger knows is answered; `stopped` says why. It stops by itself when a key is
    refused, when the endpoint is dead, and when the ledger cannot be written; who reads its replies may `stop` it. What
    was paid for by then is used all the same, and committed as soon as that is possible.
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
        *,
        suspicious: bool = False,
        replies: UnusableReplies | None = None,
    ) -> None:
        self.run = run
        self._settings = settings
        self._timeouts = settings.timeouts
        self._provider = provider
        self._ledger = ledger
        self._pricing = pricing
        self._budget = budget
        self._stopped = stopped
        self._end = asyncio.Event()
        self._joined = SharedLimit(settings, ledger)
        self._limit = self._joined.limit
        self.circuit = Circuit(self._timeouts.first_backoff_s, self._timeouts.outage_s, suspicious=suspicious)
        self.replies = UnusableReplies() if replies is None else replies
        self._one_by_one = asyncio.Lock()
        self._writes = GroupedWrites(ledger)
        self.known_replies = KnownReplies(settings, ledger)
        self._unsaved = Unsaved(settings.name, ledger, self._timeouts.ledger_s, self.stop)
        self._negotiation = Negotiation(settings, ledger)
        self._backoff = Backoff(settings.name, settings.timeouts)
        self._logged: set[str] = set()
        self._has_answered = False

    def key_of(self, asked: Mapping[str, Any], request: Request, dialect: Dialect | None = None) -> str:
        """The content address of a question to this model: what is asked, of whom, with which parameters.

        The dialect is part of it where it is not the provider's usual one: what was paid for before there were dialects
        stays paid.
        """
        own = self._settings
        dialect = dialect or self._negotiation.dialect
        of_whom = {
            "provider": own.provider,
            "endpoint": own.endpoint,
            "model": own.model,
            "parameters": dialect.parameters(own.parameters),
            "max_output_tokens": request.max_output_tokens,
        }
        return question_key({**asked, **of_whom, **dialect.differences(own.usual)})

    def known(self, asked: Mapping[str, Any], request: Request, usable: Usable) -> Answered | None:
        """The stored reply to a question that will do."""

        def key_of(limit: int) -> str:
            return self.key_of(asked, replace(request, max_output_tokens=limit))

        return self.known_replies.find(key_of, request.max_output_tokens, usable)

    @property
    def dialect(self) -> Dialect:
        """How the endpoint is asked now."""
        return self._negotiation.dialect

    def deadline(self) -> Deadline:
        """The time that one question has, from now on."""
        return Deadline(self._timeouts.question_s)

    async def ask(
        self,
        asked: Mapping[str, Any],
        request: Request,
        usable: Usable,
        cost: Cost,
        *,
        left: int = 0,
        tokens: int = 0,
        deadline: Deadline | None = None,
    ) -> Answered:
        """The reply to a question: from the ledger where one will do, else paid for.

        Args:
            asked: What its address is made of, with the model and its settings.
            request: What is sent.
            usable: Which stored reply will do.
            cost: Where each failed attempt is counted; the answer is for the caller to count.
            left: How many questions of the chain come after it; the longest chain goes first.
            tokens: What it is expected to take of the tokens a minute.
            deadline: When it has to be answered; by default its own.

        Raises:
            Stopped: nothing more is asked in this run.
            ProviderError: the endpoint gave no reply.
        """
        deadline = deadline or self.deadline()
        question = _Question(asked, request, usable, left, tokens, deadline)
        clock = asyncio.get_running_loop().time
        attempt, failures, held = 0, 0, False
        while True:
            try:
                if (known := self.known(asked, request, usable)) is not None:
                    return known
                self._check_stopped()
                if held and self._ledger.is_held(self.key_of(asked, request)):
                    await self._wait_for_another(deadline)
                    continue
                queued = clock()
                async with self._negotiation.turn(request):
                    deadline.postpone(clock() - queued)
                    entry = await self._negotiation.ask(request, partial(self._in_turn, question, attempt + 1))
            except LedgerError as problem:
                await self._until_it_can_be_written(problem)
                continue
            except ProviderError as problem:
                attempt += 1
                if problem.is_sent:
                    cost.add_failed(most_of(request, self._pricing), is_billed=problem.is_billed)
                too_many = problem.kind == "rate_limit"
                failures += not too_many
                if problem.kind in REFUSED_FOR_ALL:
                    self.stop(Stopped(problem.kind, str(problem)))
                wait = self._backoff.after(problem, attempt)
                most = _MOST_UNREADABLE if problem.is_billed else MOST_FAILURES - 1
                gives_up = not too_many and (failures >= most or wait > deadline.left)
                if not problem.retryable or gives_up or self.circuit.is_open:
                    self._say_once(problem.kind, str(problem))
                    raise
                if too_many:
                    deadline.postpone(wait)  # it stands in line, as it does for a slot
                await self._pause(wait)
                continue
            if entry is not None:
                return entry
            held = True

    def close(self) -> None:
        """Try for a last time to commit what could not be committed before."""
        self._writes.flush()
        self._joined.leave()
        self._unsaved.close()

    async def _in_turn(self, question: _Question, attempt: int, dialect: Dialect) -> Answered | None:
        """One attempt when there is a slot and money for it; `None` when another worker is at the question.

        While the endpoint is suspicious one request at a time finds out whether it answers again. It waits outside of
        the slots, because others share them who may get answers.
        """
        clock = asyncio.get_running_loop().time
        queued = clock()
        key = self.key_of(question.asked, question.request, dialect)
        most = None if self._budget.limit_usd is None else most_of(question.request, self._pricing)
        while True:
            async with (
                self._one_by_one_while_suspicious() as alone,
                self._limit.slot(question.left, question.tokens, self._end) as started,
                self._budget.reserved(most),
            ):
                self._check_stopped()
                await self._unsaved.writable()
                self._check_stopped()
                if alone or not self.circuit.suspicious:
                    question.deadline.postpone(clock() - queued)
                    return await self._claimed_and_sent(question, key, attempt, started, dialect)
                self._limit.not_used(question.tokens)

    @asynccontextmanager
    async def _one_by_one_while_suspicious(self) -> AsyncIterator[bool]:
        if self.circuit.suspicious:
            clock = asyncio.get_running_loop().time
            async with self._one_by_one:
                while self.circuit.suspicious and (wait := self.circuit.due - clock()) > 0:
                    await self._pause(min(wait, 0.05))  # an answer to what is under way ends it early
                    self._check_stopped()
                if self.circuit.suspicious:
                    yield True
                    return
        yield False

    async def _claimed_and_sent(
        self, question: _Question, key: str, attempt: int, started: float, dialect: Dialect
    ) -> Answered | None:
        """Claim right before sending: a claim must not grow old in line."""
        entries = await self._writes.claimed(self._ledger.claiming(key), self._ledger.releasing(key))
        if entries is None:
            self._limit.not_used(question.tokens)
            return None
        self._unsaved.written()
        known = question.usable(entries)  # another worker may have answered meanwhile
        if known is not None:
            self._ledger.release(key)
            self._limit.not_used(question.tokens)
            return Answered(key, known, from_ledger=True)
        with self._renewed(key):
            sent = self._send(question, dialect, started)
            return Answered(key, await finished(self._commit(key, question.request, sent, attempt)), from_ledger=False)

    @contextmanager
    def _renewed(self, key: str) -> Iterator[None]:
        """Renew a claim for the length of a block, and give it back when the block fails: a commit does that too."""
        loop = asyncio.get_running_loop()

        def renew() -> None:
            nonlocal timer
            with suppress(LedgerError):
                self._ledger.renew(key)
            timer = loop.call_later(every, renew)

        every = self._ledger.lease_s / 4
        timer = loop.call_later(every, renew)
        try:
            yield
        except BaseException:
            with suppress(LedgerError):  # it runs out by itself
                self._ledger.release(key)
            raise
        finally:
            timer.cancel()

    async def _send(self, question: _Question, dialect: Dialect, started: float) -> tuple[Reply, float]:
        """One request and its milliseconds; the limit and the circuit learn from how it ends."""
        assert self._provider is not None
        clock, request = asyncio.get_running_loop().time, question.request
        seconds = max(0.0, min(self._timeouts.request_s, question.deadline.left))
        sent = clock()
        try:
            try:
                async with asyncio.timeout(seconds):
                    reply = believed(await self._provider.complete(request, dialect), request)
            except TimeoutError:
                said = f"no complete answer within {seconds:.3g} s"
                raise ProviderError("timeout", said, retryable=True, endpoint_failed=True) from None
        except ProviderError as problem:
            if problem.is_billed:
                self._pay_unread(request)
            told = problem.after_replies() if self._has_answered else problem
            self._learn(told, sent, started)
            raise told from problem.__cause__
        self._has_answered = True
        used = reply.usage
        if used.input_tokens is not None:
            self._limit.took(used.input_tokens + (used.output_tokens or 0) - question.tokens)
        self._limit.went_well(started)
        self.circuit.answered(clock())
        return reply, (clock() - sent) * 1000

    def _learn(self, problem: ProviderError, sent: float, started: float) -> None:
        now = asyncio.get_running_loop().time()
        if refused := problem.kind == "rate_limit":
            self._limit.pushed_back(started, self._backoff.requested(problem.retry_after))
        elif not problem.endpoint_failed:
            self.circuit.answered(now)
            return
        self.circuit.failed(sent, now, refused=refused)
        if refused and self.circuit.is_open and self._others_are_answered():
            self.circuit.answered(now)
        if self.circuit.is_open:
            todo = "gives no replies ({}); check that it runs and can be reached, then re-run; paid replies are kept"
            self.stop(Stopped("unavailable", f"the endpoint {self._settings.endpoint} {todo.format(problem)}"))

    def _others_are_answered(self) -> bool:
        """Whether an endpoint that refuses this process answers another one: then it is not dead, but busy."""
        own = self._settings
        with suppress(LedgerError):
            return self._ledger.has_reply_since(own.provider, own.model, self._timeouts.outage_s)
        return False

    async def _commit(self, key: str, request: Request, sent: Awaitable[tuple[Reply, float]], attempt: int) -> Entry:
        """Pay, and store the reply for good; where that fails it is kept in memory, and nothing more is asked."""
        reply, latency_ms = await sent
        price = self._pricing.cost(reply.usage)
        if price is None:
            price = most_of(request, self._pricing)
        self._budget.pay(price)
        if reply.usage_problem is not None:
            self._say_once("usage", f"{reply.usage_problem}; such replies are counted as what they can cost at most")
        entry = Entry(reply=reply, run=self.run, number=0, cost_usd=price, latency_ms=latency_ms, attempts=attempt)
        storing = self._ledger.storing(key, entry, self._settings.provider, self._settings.model)
        try:
            stored = await self._writes.stored(storing, partial(self._unsaved.add, storing))
        except LedgerError:
            return entry
        self._unsaved.written()
        self.known_replies.asked_with(request.max_output_tokens)
        return stored

    def _pay_unread(self, request: Request) -> None:
        """Count a reply that cannot be read as what it can cost at most."""
        most = most_of(request, self._pricing)
        self._budget.pay(most)
        with suppress(LedgerError):  # this process knows it
            self._ledger.add_unread(self.run, most)

    async def _until_it_can_be_written(self, problem: LedgerError) -> None:
        if isinstance(problem, UnusableLedger):
            self.stop(Stopped("ledger", str(problem)))
        self._check_stopped()
        await self._unsaved.writable(problem)
        self._check_stopped()

    async def _wait_for_another(self, deadline: Deadline) -> None:
        if deadline.left <= 0:
            message = f"another worker claimed this question for {deadline.seconds:.3g} s and did not finish"
            raise ProviderError("timeout", message, retryable=False)
        await self._pause(_POLL_S)

    async def _pause(self, seconds: float) -> None:
        """Sleep, until the client stops at the latest."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._end.wait()

    def _say_once(self, kind: str, message: str) -> None:
        """The first message of each kind; the rows of a run have the others. `stop` has said why it stops."""
        if kind not in self._logged and kind not in REFUSED_FOR_ALL:
            self._logged.add(kind)
            _log.warning("%s: %s: %s", self._settings.name, kind, message)

    def stop(self, stopped: Stopped) -> None:
        """Stop sending requests; waiting callers get an error.

        An endpoint that was given up and then refuses the key is not dead: the refusal is the reason.
        """
        if self._stopped is None or (self._stopped.kind == "unavailable" and stopped.kind in REFUSED_FOR_ALL):
            self._stopped = stopped
            _log.warning("%s stops: %s", self._settings.name, stopped)
        self._end.set()
        self._limit.end(self._end)

    def _check_stopped(self) -> None:
        if self._stopped is not None:
            raise Stopped(self._stopped.kind, str(self._stopped))
        self._budget.check()
