"""Translate SDK errors. A message ends with the server's own reason, short and without keys."""

import errno
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from json import JSONDecodeError
from socket import gaierror
from typing import Any

from pydantic import ValidationError

from evaluation_assets.core.models.errors import ErrorKind, ProviderError, unreadable
from evaluation_assets.core.models.providers.base import parsed
from evaluation_assets.core.models.providers.refusals import is_too_long, reason_in, refused_feature, texts_in
from evaluation_assets.core.text.masking import masked
from evaluation_assets.core.text.plain_text import plain

_QUOTA = re.compile(r"insufficient_quota|quota|billing|credit", re.IGNORECASE)

THE_KEY = "the model's key variable"
"""What messages call the variable where they do not know it."""

_FINAL: Mapping[int, tuple[ErrorKind, str]] = {
    401: ("auth", f"the key was refused (401): check {THE_KEY}"),
    402: ("quota", "the account has no credit (402)"),
    403: ("auth", "the key may not use this model (403)"),
    404: ("not_found", "no such model or endpoint (404): check model and base_url"),
    413: ("context_length", "the request is larger than the endpoint accepts (413)"),
}
_REFUSED_KEY = (401, 402, 403)

_BUSY = (
    (re.compile(r"rate.?limit|too.?many.?requests|throttl|resource.?exhausted", re.IGNORECASE), 429),
    (re.compile(r"overload|at.?capacity", re.IGNORECASE), 529),
)
"""What says that an endpoint is busy, in the name of an error or in its message."""

_NAMED = (
    *_BUSY,
    (re.compile(r"insufficient_quota", re.IGNORECASE), 429),
    (re.compile(r"billing|credit|payment", re.IGNORECASE), 402),
    (re.compile(r"authentication|unauthorized|api_key", re.IGNORECASE), 401),
    (re.compile(r"permission|forbidden", re.IGNORECASE), 403),
    (re.compile(r"not_found", re.IGNORECASE), 404),
    (re.compile(r"timeout", re.IGNORECASE), 504),
    (re.compile(r"unavailable", re.IGNORECASE), 503),
    (re.compile(r"server_error|internal|api_error", re.IGNORECASE), 500),
)
"""The statuses of errors by their names, the first that is found."""

_EVENTS = re.compile(r"\s*(?:data|event|id|retry|):")
"""How a stream of server-sent events begins."""

_DISCONNECTED = "ServerDisconnectedError"
"""The class of aiohttp, by its name: to load the package takes longer than all else here."""

_NO_REPLY = "it is not a reply of the protocol"

_LONGEST_PLACE = 80

_UNREACHED = (errno.ECONNREFUSED, errno.EHOSTUNREACH, errno.ENETUNREACH)
"""Errors of the system before there is a connection on which something could be sent."""

_REPLIES = ("choices", "content", "data", "answers")
"""Where the protocols have what was asked for."""


def with_variable(said: str, key_variable: str | None) -> str:
    """What a problem says, with the name of the model's own variable."""
    return said if key_variable is None else said.replace(THE_KEY, key_variable)


@contextmanager
def in_our_words(
    *,
    status: type[Exception],
    connection: type[Exception],
    timeout: type[Exception],
    other: type[Exception],
    mask: Callable[[str], str],
) -> Iterator[None]:
    """What one of the SDKs raises inside, as a `ProviderError`. Their exceptions have the same shape in both.

    Args:
        status: The endpoint answered with an HTTP status that is an error.
        connection: There was no answer.
        timeout: A kind of `connection`: not in time.
        other: Everything else of the SDK.
        mask: Takes the endpoint's key out of the server's reason.

    Raises:
        ProviderError: instead of the SDK's own.
    """
    try:
        yield
    except status as problem:
        answer: Any = problem
        raise status_error(answer.status_code, answer.response.headers, answer.body, mask) from None
    except connection as problem:
        if isinstance(problem.__cause__, ProviderError):  # of our own client; not both SDKs let it through
            raise problem.__cause__ from None
        raise connection_error(problem, timed_out=isinstance(problem, timeout)) from None
    except (other, ValueError, OverflowError, RecursionError) as problem:
        raise unreadable(_why_unreadable(problem), is_billed=True) from None


class NestedTooDeeply(ValueError):
    """A body that is nested more deeply than it can be read."""


def _why_unreadable(problem: Exception) -> str:
    """What is wrong with the body of an answer with HTTP 200."""
    match problem:
        case JSONDecodeError(doc=str(text)) if _EVENTS.match(text):
            return "it is a stream of events, and not one JSON object"
        case JSONDecodeError(doc=str(text)):
            return "it is not JSON" if text.strip() else "it is empty"
        case UnicodeDecodeError():
            return "it is not UTF-8"
        case ValidationError():
            place = ".".join(map(str, problem.errors(include_url=False, include_input=False)[0]["loc"]))
            return f"`{plain(place)[:_LONGEST_PLACE]}` is missing or not of the protocol's form" if place else _NO_REPLY
        case NestedTooDeeply() | RecursionError():
            return "it is nested too deeply"
    return _NO_REPLY


def status_error(status: int, headers: Mapping[str, str], body: Any, mask: Callable[[str], str]) -> ProviderError:
    """The error for an HTTP status, the response's headers and its parsed body."""
    code = _code(body)
    said = " ".join([code, *texts_in(body)])
    reason = reason_in(body, mask)
    told = f"; the server says: {reason}" if reason else ""
    if status in _REFUSED_KEY:
        kind, message = _FINAL[status]
        return ProviderError(kind, message + told, retryable=False)
    if status != 429 and is_too_long(said):
        message = f"the model's context window is too small (HTTP {status}){told}"
        return ProviderError("context_length", message, retryable=False)
    refuses = refused_feature(status, said)
    if status in _FINAL:
        kind, message = _FINAL[status]
        return ProviderError(kind, message + told, retryable=False, refuses=refuses)
    if status == 429 and _QUOTA.search(code):
        return ProviderError("quota", f"the account's quota is used up (429){told}", retryable=False)
    if status in (408, 409, 429) or status >= 500:
        kind = "rate_limit" if status in (429, 529) else "server"
        return ProviderError(
            kind,
            f"HTTP {status}{told}",
            retryable=True,
            retry_after=retry_after(headers),
            endpoint_failed=kind == "server" and refuses in (None, "unclear"),
            refuses=refuses,
        )
    return ProviderError(
        "server", f"the endpoint refused the request (HTTP {status}){told}", retryable=False, refuses=refuses
    )


def refuse_error_in(answer: Any, mask: Callable[[str], str]) -> None:
    """Check that an answer with HTTP 200 is no error: gateways send one when they have no other answer any more.

    Raises:
        ProviderError: it is one, and not billed. It may be retried if its code, its type or its words say so.
    """
    if not isinstance(answer, dict) or any(answer.get(name) for name in _REPLIES):
        return
    if answer.get("error") or "error" in (answer.get("object"), answer.get("type")):
        raise status_error(_meant(answer), {}, answer, mask)


def answer_in(given: Any, mask: Callable[[str], str]) -> Any:
    """The body of an answer with HTTP 200, with well-formed texts, and without the endpoint's key, should it repeat it.

    Raises:
        ProviderError: it is an error.
        NestedTooDeeply: it is nested too deeply.
        ValueError: it is not JSON.
    """
    try:
        answer = parsed(given)
        refuse_error_in(answer, mask)
        return masked(answer, mask)
    except RecursionError:
        raise NestedTooDeeply from None


def _meant(body: Any) -> int:
    """The HTTP status that an error in an answer stands for; 200 where it says none."""
    names = _code(body)
    said = " ".join(texts_in(body))
    stated = (int(word) for word in names.split() if re.fullmatch(r"[45]\d\d", word))
    named = (status for pattern, status in _NAMED if pattern.search(names))
    busy = (status for pattern, status in _BUSY if pattern.search(said))
    return next((status for kind in (stated, named, busy) for status in kind), 200)


def connection_error(problem: Exception, *, timed_out: bool) -> ProviderError:
    """The error for a request that got no response."""
    refused = _refused(problem)
    if any(type(cause).__name__ == _DISCONNECTED for cause in _causes(problem)):
        said = "the endpoint closed the connection without a reply"
        return ProviderError("server", said, retryable=True, endpoint_failed=True)
    if timed_out and refused is None:
        return ProviderError("timeout", "no response in time", retryable=True, endpoint_failed=True)
    cause = type(problem.__cause__ or problem).__name__ if refused is None else _reason(refused)
    is_sent = not isinstance(refused, gaierror) and (refused is None or refused.errno not in _UNREACHED)
    return ProviderError("server", f"no connection ({cause})", retryable=True, endpoint_failed=True, is_sent=is_sent)


def _refused(problem: BaseException) -> OSError | None:
    """The error of the system for which no connection was made: HTTP clients call that a timeout too."""
    of_system = [each for each in _causes(problem) if isinstance(each, OSError) and not isinstance(each, TimeoutError)]
    return of_system[-1] if of_system else None  # what HTTP clients raise in its place may be errors of the system too


def _causes(problem: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = problem
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__


def _reason(refused: OSError) -> str:
    if isinstance(refused, gaierror):  # its numbers are of another table
        return (refused.strerror or "unknown host").lower()
    return os.strerror(refused.errno).lower() if refused.errno else type(refused).__name__


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds the provider asks to wait, from `retry-after-ms` or `retry-after` (seconds or a date)."""
    if (milliseconds := _number(headers.get("retry-after-ms"))) is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    if (seconds := _number(value)) is not None:
        return seconds
    try:
        return max(0.0, (parsedate_to_datetime(value or "") - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None


def _number(value: str | None) -> float | None:
    try:
        return max(0.0, float(value)) if value is not None else None
    except ValueError:
        return None


def _code(body: Any) -> str:
    """The words by which programs tell errors apart, and the parameter that an error is about."""
    error = body.get("error", body) if isinstance(body, dict) else {}
    if not isinstance(error, dict):
        return ""
    return " ".join(str(error.get(name) or "")[:200] for name in ("code", "type", "param"))
