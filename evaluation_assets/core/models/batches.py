"""Ask in batches: half the price, answered within a day, and resumed by the next process if this one is killed."""

import asyncio
from collections import defaultdict
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from typing import Any

from evaluation_assets.core.models.backoff import Backoff
from evaluation_assets.core.models.batch_items import BatchItems
from evaluation_assets.core.models.budget import Budget, most_of, request_tokens
from evaluation_assets.core.models.client import Client
from evaluation_assets.core.models.cost import Cost
from evaluation_assets.core.models.errors import ProviderError, Stopped
from evaluation_assets.core.models.known_replies import Answered, Usable
from evaluation_assets.core.models.ledger import Entry, Ledger, LedgerError
from evaluation_assets.core.models.messages import Reply, Request
from evaluation_assets.core.models.providers.base import BatchGone, BatchProvider, Provider, unread_item
from evaluation_assets.core.models.settings import ModelSettings
from evaluation_assets.core.models.usage import believed
from evaluation_assets.core.system.logs import log_of
from evaluation_assets.core.traces.prices import Pricing, batch_price

MOST_IN_A_BATCH = 1000
"""Questions. Providers take more, but results are read in one piece of at most 32 MiB."""

_MOST_INPUT_TOKENS = 30_000_000
"""Of a batch, estimated from above at two bytes each: the files of requests may have 100 MB or more."""

_MOST_OUTPUT_TOKENS = 3_000_000
"""Of a batch: about ten bytes each, escaped and with what is around them, stay below 32 MiB."""

_QUIET_S = 0.5
"""A batch is submitted when no further question came for so long: all conversations come to the next one together."""

_ATTEMPTS = 5
_READS = 3
_POLL_S = 0.25
_SAY_EVERY_S = 600.0

_log = log_of(__name__)


@dataclass(slots=True)
class _Question:
    key: str
    request: Request
    most_usd: float | None
    answered: asyncio.Future[Answered | None]


@dataclass(slots=True, kw_only=True)
class Batches:
    """The batches of one client. `close` it before the client.

    What a batch does not answer (expired, refused, more than the budget has room for) is for the client to ask. Without
    `submits`, only batches under way are waited for: what is in one is paid for.
    """

    settings: ModelSettings
    client: Client
    provider: Provider
    batches: BatchProvider
    ledger: Ledger
    pricing: Pricing
    budget: Budget
    submits: bool = True
    _waiting: dict[str, _Question] = field(default_factory=dict, init=False)
    _asked: dict[str, _Question] = field(default_factory=dict, init=False)
    _timer: asyncio.TimerHandle | None = field(default=None, init=False)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set, init=False)
    _refused: bool = field(default=False, init=False)
    _stopped: Stopped | None = field(default=None, init=False)

    @classmethod
    def of(
        cls,
        provider: Provider,
        settings: ModelSettings,
        client: Client,
        ledger: Ledger,
        pricing: Pricing,
        budget: Budget,
        *,
        submits: bool,
    ) -> "Batches | None":
        """The batches of a client, if it can submit any or wait for any."""
        own = provider.batches()
        if own is None or not (submits or BatchItems(ledger).any()):
            return None
        return cls(
            settings=settings,
            client=client,
            provider=provider,
            batches=own,
            ledger=ledger,
            pricing=pricing,
            budget=budget,
            submits=submits,
        )

    async def ask(self, asked: Mapping[str, Any], request: Request, usable: Usable, cost: Cost) -> Answered | None:
        """The reply of a batch, or of the ledger; `None` where the question has to be asked by itself.

        Of those that ask the same question, the first pays.

        Raises:
            Stopped: the batch can no longer be waited for; the next run goes on with it.
            ProviderError: the reply cannot be read; it is counted in `cost`.
        """
        key = self.client.key_of(asked, request)
        try:
            known = self.client.known(asked, request, usable)
        except LedgerError:
            return None
        if known is not None:
            return known
        if not self.submits and not self._is_under_way(key):
            return None
        if self._stopped is not None:
            raise Stopped(self._stopped.kind, str(self._stopped))
        if self._refused:
            return None
        question, pays = self._asked.get(key), False
        if question is None:
            loop = asyncio.get_running_loop()
            most = batch_price(most_of(request, self.pricing))
            pays = True
            question = self._asked[key] = self._waiting[key] = _Question(key, request, most, loop.create_future())
            if self._timer is not None:
                self._timer.cancel()
            self._timer = loop.call_later(_QUIET_S, self._begin)
        try:
            answered = await asyncio.shield(question.answered)
        except ProviderError:
            if pays:
                cost.add_failed(question.most_usd, is_billed=True)
            raise
        return answered if pays or answered is None else replace(answered, from_ledger=True)

    def _is_under_way(self, key: str) -> bool:
        try:
            return key in self._items.under_way([key])
        except LedgerError:
            return False

    async def close(self) -> None:
        """Stop waiting. Batches under way stay in the ledger's database."""
        if self._timer is not None:
            self._timer.cancel()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _begin(self) -> None:
        questions, self._waiting = list(self._waiting.values()), {}
        self._start(questions)

    def _start(self, questions: Sequence[_Question]) -> None:
        task = asyncio.create_task(self._answer_all(questions))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer_all(self, questions: Sequence[_Question]) -> None:
        """Go on with batches under way, and submit the other questions."""
        new = {question.key: question for question in questions}
        under_way: defaultdict[str, list[_Question]] = defaultdict(list)
        try:
            for key, batch in self._items.under_way(list(new)).items():
                under_way[batch].append(new.pop(key))
        except LedgerError:
            self._settle(questions)
            return
        for batch in under_way:
            _log.warning("%s: batch %s is under way since an earlier run", self.settings.name, batch)
        if not self.submits:
            self._settle(list(new.values()))
            new = {}
        await asyncio.gather(
            *(self._settled(self._wait_for(batch, some), some) for batch, some in under_way.items()),
            *(self._settled(self._submit(some), some) for some in self._portions(list(new.values()))),
        )

    def _portions(self, questions: Sequence[_Question]) -> Iterator[list[_Question]]:
        """Questions that go into one batch."""
        some: list[_Question] = []
        tokens_in = tokens_out = 0
        for question in questions:
            more = request_tokens(question.request), question.request.max_output_tokens
            full = tokens_in + more[0] > _MOST_INPUT_TOKENS or tokens_out + more[1] > _MOST_OUTPUT_TOKENS
            if some and (full or len(some) == MOST_IN_A_BATCH):
                yield some
                some, tokens_in, tokens_out = [], 0, 0
            some.append(question)
            tokens_in, tokens_out = tokens_in + more[0], tokens_out + more[1]
        if some:
            yield some

    async def _settled(self, work: Coroutine[Any, Any, None], questions: Sequence[_Question]) -> None:
        """Do the work; what it did not answer is asked by the client, or not at all where that would pay twice."""
        stopped: Stopped | None = None
        try:
            await work
        except Stopped as problem:
            self._stopped = stopped = problem
        except LedgerError as problem:
            self._stopped = stopped = Stopped("ledger", str(problem))
        except ProviderError as problem:
            self._refused = True
            _log.warning("%s: no batch (%s); questions are asked one by one", self.settings.name, problem)
        except Exception as problem:  # noqa: BLE001  # a defect must not leave anybody waiting, nor pay for a batch twice
            _log.exception("%s: a batch failed", self.settings.name)
            self._stopped = stopped = Stopped("unavailable", f"a batch failed: {type(problem).__name__}; re-run later")
        self._settle(questions, stopped)

    def _settle(self, questions: Sequence[_Question], stopped: Stopped | None = None) -> None:
        for question in questions:
            if question.answered.done():
                continue
            self._asked.pop(question.key, None)
            if stopped is None:
                question.answered.set_result(None)
            else:
                question.answered.set_exception(Stopped(stopped.kind, str(stopped)))

    async def _submit(self, questions: Sequence[_Question]) -> None:
        """Submit what nobody else is at and the budget has room for, and wait for it; then the same with the rest."""
        claimed = [question for question in questions if self.ledger.claim(question.key)]
        try:
            known = self._items.under_way([question.key for question in claimed])
            free = [each for each in claimed if each.key not in known and not self.ledger.entries(each.key)]
            with ExitStack() as reserved:
                chosen = [each for each in free if self._reserve(each, reserved)]
                batch = await self._submitted(chosen) if chosen else None
                while claimed:
                    self.ledger.release(claimed.pop().key)
                if batch is not None:
                    await self._wait_for(batch, chosen)
        finally:
            with suppress(LedgerError):
                for question in claimed:
                    self.ledger.release(question.key)
        done = {each.key for each in chosen}
        if batch is None:  # even one question was too dear: the client asks, and says so
            done |= {each.key for each in free}
        await self._rest([each for each in questions if each.key not in done])

    async def _rest(self, questions: Sequence[_Question]) -> None:
        """What another process is at, and what the budget had no room for before; the client asks the others."""
        if rest := [each for each in questions if not self.ledger.entries(each.key)]:
            await asyncio.sleep(_POLL_S)
            await self._answer_all(rest)

    def _reserve(self, question: _Question, reserved: ExitStack) -> bool:
        if not self.budget.has_room(question.most_usd):
            return False
        reserved.enter_context(self.budget.reserved_now(question.most_usd))
        return True

    async def _submitted(self, questions: Sequence[_Question]) -> str:
        """The name of a new batch. It is stored before anything else happens.

        A request that may have arrived is not sent again.
        """
        bodies = {each.key: self.provider.body(each.request, self.client.dialect, in_batch=True) for each in questions}
        backoff = Backoff(self.settings.name, self.settings.timeouts)
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                async with asyncio.timeout(self.settings.timeouts.request_s):
                    batch = await self.batches.submit(bodies)
            except TimeoutError:
                raise Stopped("timeout", "the endpoint did not say whether it took a batch; re-run later") from None
            except ProviderError as problem:
                if problem.endpoint_failed:
                    raise Stopped("unavailable", f"no batch could be submitted ({problem}); re-run later") from None
                if not problem.retryable or attempt == _ATTEMPTS:
                    raise
                await asyncio.sleep(backoff.after(problem, attempt))
                continue
            self._items.add(batch, bodies)
            self.client.known_replies.asked_with(self.settings.max_output_tokens)
            _log.warning("%s: batch %s submitted, %d questions", self.settings.name, batch, len(bodies))
            return batch
        raise AssertionError("the last attempt returns or raises")

    async def _wait_for(self, batch: str, questions: Sequence[_Question]) -> None:
        """Wait until a batch has ended, and book its replies."""
        try:
            await self._ended(batch)
            expected = self._items.of(batch)
            answered, unread = await self._results(batch, expected, {each.key: each for each in questions})
        except BatchGone:
            _log.warning(
                "%s: the endpoint has no batch %s any more, or no results of it; its questions are asked again",
                self.settings.name,
                batch,
            )
            expected, answered, unread = self._items.of(batch), {}, {}
        except ProviderError as problem:  # it may be answered and billed: nothing of it is asked again
            raise Stopped("unavailable", f"batch {batch} cannot be read ({problem}); re-run later") from None
        lost = expected - answered.keys()
        self._items.forget(batch, lost)
        self._fail([question for question in questions if question.key in lost], unread)
        _log.warning("%s: batch %s ended, %d answered, %d not", self.settings.name, batch, len(answered), len(lost))
        for question in questions:
            if question.key in answered and not question.answered.done():
                entry = answered[question.key]
                question.answered.set_result(Answered(question.key, entry, from_ledger=entry.run != self.client.run))

    async def _results(
        self, batch: str, expected: frozenset[str], asked: Mapping[str, _Question]
    ) -> tuple[dict[str, Entry], dict[str, ProviderError]]:
        """The replies of a batch, booked, and why others cannot be read, by question.

        Results that break off, as more is missing than lines that cannot be read, are read again.
        """
        answered: dict[str, Entry] = {}
        for attempt in range(1, _READS + 1):
            broken, missing = 0, set(expected) - answered.keys()
            unread: dict[str, ProviderError] = {}
            async for key, item in self.batches.results(batch):
                if key is None:  # it is one of those that have no line
                    broken += 1
                    continue
                missing.discard(key)
                if isinstance(item, ProviderError):
                    unread[key] = item
                elif key in expected - answered.keys() and item is not None:
                    answered[key] = await self._booked(key, batch, item, asked.get(key))
            if not 0 < broken < len(missing) or attempt == _READS:
                return answered, unread | (dict.fromkeys(missing, unread_item()) if broken else {})
            await asyncio.sleep(self.settings.timeouts.batch_poll_s)
        raise AssertionError("the last attempt returns")

    def _fail(self, questions: Sequence[_Question], unread: Mapping[str, ProviderError]) -> None:
        """Pay at most for replies that cannot be read; they are not asked for again in this run."""
        for question in questions:
            if question.key in unread and not question.answered.done():
                self.budget.pay(question.most_usd)
                with suppress(LedgerError):  # this process knows it
                    self.ledger.add_unread(self.client.run, question.most_usd)
                self._asked.pop(question.key, None)
                question.answered.set_exception(unread[question.key])

    async def _ended(self, batch: str) -> None:
        """Ask how far it is until it has ended, for as long as the endpoint answers."""
        clock, timeouts = asyncio.get_running_loop().time, self.settings.timeouts
        told: tuple[int, float] = (-1, clock())
        answered = clock()
        while True:
            try:
                async with asyncio.timeout(timeouts.request_s):
                    state = await self.batches.state(batch)
                answered = clock()
                if state.ended:
                    return
                if state.done != told[0] or clock() - told[1] > _SAY_EVERY_S:
                    told = state.done, clock()
                    _log.warning("%s: batch %s: %d of %d done", self.settings.name, batch, state.done, state.total)
            except (ProviderError, TimeoutError) as problem:
                final = isinstance(problem, ProviderError) and not problem.retryable
                if final or clock() - answered > timeouts.outage_s:
                    raise Stopped("unavailable", f"batch {batch} cannot be reached ({problem}); re-run later") from None
            await asyncio.sleep(timeouts.batch_poll_s)

    async def _booked(self, key: str, batch: str, reply: Reply, question: _Question | None) -> Entry:
        """Store a reply at the batch price, once: another process may read the same batch."""
        while not self.ledger.claim(key):
            await asyncio.sleep(_POLL_S)
        if key not in self._items.under_way([key]):
            self.ledger.release(key)
            return self.ledger.entries(key)[0]
        if question is not None:
            reply = believed(reply, question.request)
        price = batch_price(self.pricing.cost(reply.usage))
        if price is None and question is not None:
            price = question.most_usd
        own = self.settings
        entry = self.ledger.commit(
            key,
            run=self.client.run,
            provider=own.provider,
            model=own.model,
            reply=reply,
            cost_usd=price,
            latency_ms=0.0,
            attempts=1,
        )
        self.budget.pay(price)
        return entry

    @property
    def _items(self) -> BatchItems:
        return BatchItems(self.ledger)
