"""Errors of model calls."""

from typing import Literal

ErrorKind = Literal[
    "rate_limit",
    "timeout",
    "auth",
    "quota",
    "refusal",
    "content_filter",
    "context_length",
    "server",
    "unavailable",
    "ledger",
    "budget",
]


class ProviderError(Exception):
    """A request that got no reply.

    `retryable`: the same request may succeed later. `retry_after`: seconds to wait, as requested by the provider.
    `endpoint_failed`: the endpoint failed, not this request. `schema`: the endpoint does not support JSON schemas. The
    message never contains a key, a prompt or a response body.
    """

    def __init__(
        self,
        kind: ErrorKind,
        message: str,
        *,
        retryable: bool,
        retry_after: float | None = None,
        endpoint_failed: bool = False,
        schema: Literal["surely", "perhaps"] | None = None,
    ) -> None:
        super().__init__(message)
        self.kind: ErrorKind = kind
        self.retryable = retryable
        self.retry_after = retry_after
        self.endpoint_failed = endpoint_failed
        self.schema = schema


class Stopped(Exception):
    """No more questions are asked in this run: `kind` and the message say why."""

    def __init__(self, kind: ErrorKind, message: str) -> None:
        super().__init__(message)
        self.kind: ErrorKind = kind
