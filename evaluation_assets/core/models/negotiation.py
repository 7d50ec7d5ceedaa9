"""Find out which dialect an endpoint takes, by what it refuses, and remember it in the ledger."""

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, replace
from typing import TypeVar
from weakref import WeakKeyDictionary

import orjson

from evaluation_assets.core.models.dialects import Dialect, Feature, features_of
from evaluation_assets.core.models.errors import LedgerError, ProviderError
from evaluation_assets.core.models.json_text import dumped
from evaluation_assets.core.models.ledger import Ledger
from evaluation_assets.core.models.messages import Request
from evaluation_assets.core.models.settings import ModelSettings
from evaluation_assets.core.system.logs import log_of

REMEMBERED_S = 7 * 24 * 3600.0
"""A server may be updated, or another model be served under the same name: after a week it is found out again."""

_FAILURES_OF_A_SCHEMA = 2
"""Servers that fail with HTTP 500 at a schema always do so; one that has a bad moment does not, as a rule."""

T = TypeVar("T")
_Locks = WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, asyncio.Lock]]
_LOCKS: _Locks = WeakKeyDictionary()

_log = log_of(__name__)


class Negotiation:
    """The dialect of one endpoint and model.

    A feature that is refused by name is given up at once, for all requests. A refusal without a known reason (HTTP 400
    or 422, twice 500) may be meant for the JSON schema: simpler ways are tried once, and the one that is answered is
    taken. After failures (500) it is taken for this process only, because a server may have had a bad moment.
    """

    def __init__(self, settings: ModelSettings, ledger: Ledger) -> None:
        self.dialect = settings.dialect
        self._settings = settings
        self._ledger = ledger
        endpoint = [settings.provider, settings.endpoint, settings.model, asdict(settings.dialect)]
        self._name = f"dialect {hashlib.sha256(dumped(endpoint)).hexdigest()[:48]}"
        self._accepted: frozenset[str] = frozenset()
        self._refused_fields: set[str] = set()
        self._searched = False
        self._failures = 0
        self._lasting = True
        self._recall()

    @asynccontextmanager
    async def turn(self, request: Request) -> AsyncIterator[None]:
        """One request at a time while it is not known whether the endpoint takes all of its features."""
        if self._knows(request):
            yield
            return
        locks = _LOCKS.setdefault(asyncio.get_running_loop(), {})
        async with locks.setdefault(f"{self._ledger.name} {self._name}", asyncio.Lock()):
            if not self._knows(request):
                self._recall()  # another client of this endpoint may have found out
            if not self._knows(request):
                yield
                return
        yield

    async def ask(self, request: Request, send: Callable[[Dialect], Awaitable[T]]) -> T:
        """Send a request in the dialect that the endpoint takes. A refused attempt is none.

        Raises:
            ProviderError: there was no reply.
        """
        while True:
            sent = self.dialect
            try:
                answer = await send(sent)
            except ProviderError as problem:
                if problem.refuses is None:
                    raise
                if sent != self.dialect:  # another request found out while this one was under way
                    continue
                if problem.refuses == "unclear":
                    if not self._may_be_the_schema(request, problem):
                        raise
                    return await self._search(request, send, problem)
                simpler = self._without(problem.refuses, request)
                if simpler is None:
                    raise
                self._take(simpler, problem)
            else:
                self._accept(request)
                return answer

    def _knows(self, request: Request) -> bool:
        return features_of(request) <= self._accepted | self._settings.fixed

    def _accept(self, request: Request) -> None:
        if not self._knows(request):
            self._accepted |= features_of(request)
            self._remember()

    def _without(self, feature: Feature, request: Request) -> Dialect | None:
        """The dialect without a feature; `None` where the request does not use it, or the settings demand it."""
        own = self.dialect
        if feature in self._settings.fixed or feature not in features_of(request):
            return None
        if feature == "structured":
            ways = self._settings.ways
            later = ways[ways.index(own.structured) + 1 :]
            return replace(own, structured=later[0]) if later else None
        if feature == "max_tokens_field":
            self._refused_fields.add(own.max_tokens_field)
            other = "max_completion_tokens" if own.max_tokens_field == "max_tokens" else "max_tokens"
            return None if other in self._refused_fields else replace(own, max_tokens_field=other)
        if feature == "system_role":
            return replace(own, system_role=False) if own.system_role else None
        return replace(own, temperature=False) if own.temperature else None

    def _may_be_the_schema(self, request: Request, problem: ProviderError) -> bool:
        if self._searched or "structured" in self._accepted or self._without("structured", request) is None:
            return False
        self._failures += 1
        return not problem.endpoint_failed or self._failures >= _FAILURES_OF_A_SCHEMA

    async def _search(self, request: Request, send: Callable[[Dialect], Awaitable[T]], problem: ProviderError) -> T:
        self._searched = True
        ways = self._settings.ways
        for way in ways[ways.index(self.dialect.structured) + 1 :]:
            simpler = replace(self.dialect, structured=way)
            try:
                answer = await send(simpler)
            except ProviderError as other:
                if other.refuses is None:
                    raise
                continue
            self._lasting = not problem.endpoint_failed
            self._take(simpler, problem)
            self._accept(request)
            return answer
        raise problem

    def _take(self, dialect: Dialect, problem: ProviderError) -> None:
        before, self.dialect = asdict(self.dialect), dialect
        changes = [_TAKEN[name](after) for name, after in asdict(dialect).items() if after != before[name]]
        _log.warning("%s: %s from now on (%s)", self._settings.name, ", ".join(changes), problem)
        self._remember()

    def _recall(self) -> None:
        with suppress(LedgerError, ValueError, TypeError, LookupError):
            known = orjson.loads(self._ledger.remembered(self._name) or "")
            if time.time() - known.pop("at") < REMEMBERED_S:
                self._accepted = frozenset(known.pop("accepted"))
                self.dialect = Dialect(**known)

    def _remember(self) -> None:
        if not self._lasting:
            return
        known = asdict(self.dialect) | {"accepted": sorted(self._accepted), "at": round(time.time())}
        with suppress(LedgerError):  # it is found out again
            self._ledger.remember(self._name, dumped(known).decode())


_WAYS = {"json_schema": "json_schema", "json_object": "json_object", "prompted": "prompt"}
_TAKEN: dict[str, Callable[[str], str]] = {
    "structured": lambda way: f"structured: {_WAYS[way]} is used",
    "max_tokens_field": lambda field: f"max_tokens_field: {field} is used",
    "system_role": lambda _: "the system text stands in front of the first user message",
    "temperature": lambda _: "no temperature is sent",
}
