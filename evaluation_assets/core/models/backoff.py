"""Pauses between the attempts at one question."""

import random

from evaluation_assets.core.models.errors import ProviderError
from evaluation_assets.core.models.timeouts import Timeouts
from evaluation_assets.core.system.logs import log_of

_LONGEST_S = 30.0

_log = log_of(__name__)


class Backoff:
    """Exponential backoff with jitter. A pause that the endpoint requests is kept, up to `pause_s`."""

    def __init__(self, name: str, timeouts: Timeouts) -> None:
        self._name = name
        self._timeouts = timeouts
        self._cut_a_pause = False

    def after(self, problem: ProviderError, attempt: int) -> float:
        """Seconds to wait after a failed attempt; the first is 1."""
        own = min(_LONGEST_S, self._timeouts.first_backoff_s * 2 ** (attempt - 1))
        return self.requested(problem.retry_after) or _spread(own)

    def requested(self, retry_after: float | None) -> float | None:
        """Seconds to wait as the endpoint requests; the first time that it is more than `pause_s` is logged."""
        if retry_after is None:
            return None
        longest = self._timeouts.pause_s
        if retry_after > longest and not self._cut_a_pause:
            self._cut_a_pause = True
            _log.warning(
                "%s: the endpoint requested a pause of %.0f s; waiting %.3g s", self._name, retry_after, longest
            )
        return _spread(min(retry_after, longest))


def _spread(seconds: float) -> float:
    """A little longer, by chance: workers and processes that were refused together must not come back together."""
    return seconds * (1 + random.random() * 0.25)  # noqa: S311
