"""Errors of model calls."""

from typing import Literal

from evaluation_assets.core.models.dialects import Feature
from evaluation_assets.core.text.user_error import UserError

ErrorKind = Literal[
    "rate_limit",
    "timeout",
    "auth",
    "not_found",
    "quota",
    "refusal",
    "content_filter",
    "context_length",
    "server",
    "unavailable",
    "ledger",
    "budget",
]

UnusableKind = Literal["invalid_json", "out_of_range", "missing_criterion", "truncated"]
"""Why a reply cannot be used, where that is the model's doing and not the question's."""

REFUSED_FOR_ALL: tuple[ErrorKind, ...] = ("auth", "not_found", "quota")
"""A key, model or account that is refused for one question is refused for all."""


class ProviderError(Exception):
    """A request that got no reply.

    `retryable`: the same request may succeed later. `retry_after`: seconds to wait, as requested by the provider.
    `endpoint_failed`: the endpoint failed, not this request. `refuses`: the feature that the endpoint does not take;
    `unclear` where it gave no reason that is known. `is_billed`: there was a reply, which could not be read. `is_sent`:
    the endpoint may have got the request: there was a connection, or it is unknown whether there was one. The message
    may end with the server's own reason, short, without keys and control characters.
    """

    def __init__(
        self,
        kind: ErrorKind,
        message: str,
        *,
        retryable: bool,
        retry_after: float | None = None,
        endpoint_failed: bool = False,
        refuses: Feature | Literal["unclear"] | None = None,
        is_billed: bool = False,
        is_sent: bool = True,
    ) -> None:
        super().__init__(message)
        self.kind: ErrorKind = kind
        self.retryable = retryable
        self.retry_after = retry_after
        self.is_billed = is_billed
        self.is_sent = is_sent
        self.endpoint_failed = endpoint_failed
        self.refuses: Feature | Literal["unclear"] | None = refuses

    def after_replies(self) -> "ProviderError":
        """The same of an endpoint that has replied: it knows the model, so that `not_found` is a failure to repeat."""
        if self.kind != "not_found":
            return self
        return ProviderError("server", str(self), retryable=True, endpoint_failed=True)


def unreadable(why: str, *, is_billed: bool) -> ProviderError:
    """The error for a response that arrived and cannot be read."""
    message = f"unreadable response: {why}"
    return ProviderError("server", message, retryable=True, endpoint_failed=True, is_billed=is_billed)


class Stopped(Exception):
    """No more questions are asked in this run: `kind` and the message say why."""

    def __init__(self, kind: ErrorKind | UnusableKind, message: str) -> None:
        super().__init__(message)
        self.kind: ErrorKind | UnusableKind = kind


class LedgerError(UserError):
    """The ledger cannot be read or written; the message says which one and what to do, without a password."""


class UnusableLedger(LedgerError):
    """A part of the ledger cannot be read, or nothing be written, now or later: no wait mends that."""


class LedgerAway(LedgerError):
    """The database server of the ledger does not answer; it may be starting."""
