"""HTTP clients that talk to one server. A redirect would send prompts, traces and keys wherever a server says."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

MOST_REDIRECTS = 3
"""Redirects of a request within its server that are followed: for `http`, a moved path, and a slash at its end."""

_DEFAULT_PORTS = {"http": 80, "https": 443}


class OtherOrigin(Exception):
    """A request that a server sends on to another one; it was not sent. The message names both without credentials."""

    def __init__(self, own: str, other: str) -> None:
        super().__init__(f"{own} redirects to {other}, which was not followed; configure that address if you trust it")


def only_to(url: str) -> Callable[[Any], None]:
    """A hook for requests of httpx or requests: it refuses those to another scheme, host or port than that of a URL.

    The hook raises `OtherOrigin`.
    """
    own = origin_of(url)

    def check(request: Any) -> None:
        other = origin_of(str(request.url))
        if other != own:
            raise OtherOrigin(own, other)

    return check


def origin_of(url: str) -> str:
    """Scheme, host and port of a URL, without a user, a password, a path or a default port."""
    parts = urlsplit(url)
    host = (parts.hostname or "").rstrip(".")
    host = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{host}" + (
        "" if parts.port in (None, _DEFAULT_PORTS.get(parts.scheme)) else f":{parts.port}"
    )


def refusal_in(problem: BaseException) -> OtherOrigin | None:
    """The refusal that an SDK reports as an error of its own."""
    cause: BaseException | None = problem
    while cause is not None and not isinstance(cause, OtherOrigin):
        cause = cause.__cause__ or cause.__context__
    return cause
