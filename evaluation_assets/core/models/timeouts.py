"""Timeouts of endpoints, questions and the ledger."""

import asyncio

from pydantic import Field

from evaluation_assets.core.system.configuration import Section


class Timeouts(Section):
    """Seconds. Every wait for a model ends by one of these.

    Attributes:
        request_s: One request, from sending to the last byte of its reply.
        question_s: One question, with waiting for other workers that ask it, pauses, and the request to correct an
            invalid reply; without waiting for a free slot, or because the endpoint refuses too many requests.
        pause_s: The longest pause that `retry-after` can ask for. Longer ones are cut, until `outage_s` is over.
        first_backoff_s: The pause after a first failure; it doubles with each failure.
        outage_s: Time of failures without any reply after which the client stops. Where too many requests are refused,
            replies to other processes count too.
        ledger_s: Time for which writing to the ledger is retried before the client stops.
        batch_poll_s: Time between two requests for the state of a batch.
    """

    # The SDKs wait 600 s, and only between bytes.
    request_s: float = Field(default=180.0, gt=0)
    question_s: float = Field(default=600.0, gt=0)
    # Rates are counted by the minute, so a minute is enough.
    pause_s: float = Field(default=60.0, gt=0)
    first_backoff_s: float = Field(default=0.5, gt=0)
    outage_s: float = Field(default=300.0, gt=0)
    ledger_s: float = Field(default=60.0, ge=0)
    batch_poll_s: float = Field(default=30.0, gt=0)


class Deadline:
    """When a question has to be answered, on the clock of the event loop. Time in line does not count."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._at = asyncio.get_running_loop().time() + seconds

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return self._at - asyncio.get_running_loop().time()

    def postpone(self, seconds: float) -> None:
        """Leave time out that the question stood in line."""
        self._at += seconds
