"""Pauses between the attempts at one question."""

import logging
import random

from evaluation_assets.core.llm.errors import ProviderError
from evaluation_assets.core.llm.settings import ModelSettings

_LONGEST_S = 30.0

_log = logging.getLogger(__name__)


class Backoff:
    """Exponential backoff with jitter. A pause that the endpoint requests is kept, up to `pause_s`."""

    def __init__(self, settings: ModelSettings) -> None:
        self._name = settings.name
        self._timeouts = settings.timeouts
        self._cut_a_pause = False

    def after(self, problem: ProviderError, attempt: int) -> float:
        """Seconds to wait after a failed attempt; the first is 1."""
        own = min(_LONGEST_S, self._timeouts.first_backoff_s * 2 ** (attempt - 1))
        wait = self.capped(problem.retry_after) or own
        return wait * (1 + random.random() * 0.25)  # noqa: S311  (jitter, so that workers do not come back together)

    def capped(self, retry_after: float | None) -> float | None:
        """What the endpoint requests, up to `pause_s`; the first time that it is more is logged."""
        longest = self._timeouts.pause_s
        if retry_after is None or retry_after <= longest:
            return retry_after
        if not self._cut_a_pause:
            self._cut_a_pause = True
            _log.warning(
                "%s: the endpoint requested a pause of %.0f s; waiting %.3g s", self._name, retry_after, longest
            )
        return longest
