"""How long an endpoint, a question and the ledger are waited for."""

from pydantic import BaseModel, ConfigDict, Field


class Timeouts(BaseModel):
    """Seconds. Every wait of a judge ends by one of these.

    Attributes:
        request_s: One request, from sending to the last byte of its answer. The SDKs wait 600 s, and between bytes.
        question_s: Everything about one question: claims of other workers, requests, pauses, the request to put an
            invalid reply right. The time in line for a slot does not count: it is the judge's own pace, and ends when
            the judge stops.
        pause_s: The longest pause that `retry-after` can ask for. Rates are counted by the minute, so a minute is
            enough; whoever asks for a day is asked again until `outage_s` is over.
        first_backoff_s: The pause after a first failure; it doubles from failure to failure.
        outage_s: So long without any answer, while requests fail, and the judge stops.
        ledger_s: So long a ledger that cannot be written is tried again before the judge stops.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    request_s: float = Field(default=180.0, gt=0)
    question_s: float = Field(default=600.0, gt=0)
    pause_s: float = Field(default=60.0, gt=0)
    first_backoff_s: float = Field(default=0.5, gt=0)
    outage_s: float = Field(default=300.0, gt=0)
    ledger_s: float = Field(default=60.0, ge=0)
