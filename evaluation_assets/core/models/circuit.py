"""A circuit breaker: a dead endpoint must not cost requests and minutes for every question."""

MOST_FAILURES = 6
"""Failures in a row after which a client stops: the five pauses between them, 0.5 to 8 s, outlast a restart behind a
load balancer. A question gives up one failure earlier, so that one prompt an endpoint cannot take never stops a
client."""

_LONGEST_PAUSE_S = 30.0


class Circuit:
    """Counts failures in a row. Times are those of the event loop's clock.

    Failures of requests that were under way together count once: what was sent before the last failure says nothing
    new. While it is `suspicious` requests go out one by one, each after a longer pause; an answer closes the circuit.
    It opens after `MOST_FAILURES`, or when nothing was answered for `outage_s`; refusals because of too many requests
    count for the latter alone.
    """

    def __init__(self, first_pause_s: float, outage_s: float, *, suspicious: bool = False) -> None:
        self._first_pause_s = first_pause_s
        self._outage_s = outage_s
        self._failures = MOST_FAILURES - 1 if suspicious else 0
        self._failed_at = 0.0
        self._answered_at = 0.0
        self._failing_since: float | None = None
        self.is_open = False

    @property
    def suspicious(self) -> bool:
        """Whether the last thing known of the endpoint is a failure."""
        return self._failures > 0

    @property
    def due(self) -> float:
        """When the next request may go out while it is suspicious."""
        if self._failed_at == 0.0:
            return 0.0
        return self._failed_at + min(_LONGEST_PAUSE_S, self._first_pause_s * 2 ** (self._failures - 1))

    def answered(self, now: float) -> None:
        """The endpoint gave an answer, be it that it does not like the request."""
        self._failures, self._answered_at, self._failing_since = 0, now, None
        self.is_open = False

    def failed(self, sent: float, now: float, *, refused: bool = False) -> None:
        """A request that was sent then got no answer; `refused`: because there were too many."""
        if self._failing_since is None:
            self._failing_since = max(sent, self._answered_at)
        if not refused and sent >= self._failed_at:
            self._failures += 1
            self._failed_at = now
        self.is_open = self._failures >= MOST_FAILURES or now - self._failing_since >= self._outage_s
