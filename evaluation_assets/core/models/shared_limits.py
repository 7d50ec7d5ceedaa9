"""One limit for all clients of an endpoint: those in one event loop, and other processes."""

import asyncio
import hashlib
import math
from collections.abc import Iterable
from dataclasses import InitVar, dataclass, field
from weakref import WeakKeyDictionary

from evaluation_assets.core.models.json_text import dumped
from evaluation_assets.core.models.ledger import Ledger
from evaluation_assets.core.models.limits import AdaptiveLimit
from evaluation_assets.core.models.pace import Pace, SharedPace
from evaluation_assets.core.models.providers.capabilities import capabilities_of
from evaluation_assets.core.models.rate_in_ledger import RateInLedger
from evaluation_assets.core.models.reservations import Reservations
from evaluation_assets.core.models.settings import ModelSettings


def limited_together(own: ModelSettings) -> str:
    """The same text for all models that a provider limits together: those at one address with one key.

    Providers that limit each model on its own have the model in it.
    """
    by_model = capabilities_of(own.provider, own.model).limits_each_model
    of_whom = [own.provider, own.endpoint.rstrip("/"), own.key_variable, own.model if by_model else None]
    return hashlib.sha256(dumped(of_whom)).hexdigest()[:48]


def strictest(limits: Iterable[float | None]) -> float | None:
    """The lowest of some limits; `None` where there is none."""
    return min((limit for limit in limits if limit is not None), default=None)


@dataclass(slots=True)
class _Shared:
    """The limit of an endpoint, and the ledgers of the clients that use it now."""

    endpoint: str
    most: InitVar[int]
    ledgers: list[Ledger] = field(default_factory=list)
    requests: float | None = None
    tokens: float | None = None
    limit: AdaptiveLimit = field(init=False)

    def __post_init__(self, most: int) -> None:
        self.limit = AdaptiveLimit(most, store=RateInLedger(self.endpoint, lambda: self.ledger))

    @property
    def ledger(self) -> Ledger | None:
        """One that is open; `None` when all clients have left."""
        return self.ledgers[-1] if self.ledgers else None


_LIMITS: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[tuple[str, str], _Shared]] = WeakKeyDictionary()


class SharedLimit:
    """The part of one client in the limit of its endpoint. `leave` it before its ledger is closed.

    All clients of an event loop share slots and paces. Requests and tokens a minute, and the rate that is learned from
    refusals, are shared with other processes too, through the database of the ledger. Where clients have different
    limits the strictest holds.
    """

    def __init__(self, own: ModelSettings, ledger: Ledger) -> None:
        self._ledger = ledger
        endpoint = limited_together(own)
        known = _LIMITS.setdefault(asyncio.get_running_loop(), {})
        self._shared = known.setdefault((ledger.name, endpoint), _Shared(endpoint, own.max_concurrency))
        self._shared.ledgers.append(ledger)
        self._tighten(own)

    @property
    def limit(self) -> AdaptiveLimit:
        """The slots and paces of the endpoint."""
        return self._shared.limit

    def leave(self) -> None:
        """Make no more reservations in this client's ledger."""
        self._shared.ledgers.remove(self._ledger)
        if not self._shared.ledgers:  # an entry that refers to its loop would keep both for ever
            self._shared.limit.rest()

    def _tighten(self, own: ModelSettings) -> None:
        shared, limit = self._shared, self._shared.limit
        limit.at_most(own.max_concurrency)
        requests = strictest((shared.requests, own.requests_per_minute))
        tokens = strictest((shared.tokens, own.tokens_per_minute))
        if requests != shared.requests:
            limit.requests = self._pace("requests", requests)
        if tokens != shared.tokens:
            limit.tokens = self._pace("tokens", tokens)
        shared.requests, shared.tokens = requests, tokens

    def _pace(self, unit: str, a_minute: float | None) -> Pace:
        shared = self._shared

        def reserve(seconds: float, owed_s: float) -> float:
            if (ledger := shared.ledger) is None:
                return seconds
            return Reservations(ledger, shared.endpoint).reserve(unit, seconds, owed_s)

        return SharedPace((a_minute or math.inf) / 60, reserve)
