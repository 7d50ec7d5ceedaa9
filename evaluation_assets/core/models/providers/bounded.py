"""HTTP clients that send requests to one server only, redirected ones too, and limit the size of a response."""

import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import aiohttp
import httpx2

from evaluation_assets.core.models.allowed_hosts import refusal_of
from evaluation_assets.core.models.errors import ProviderError, unreadable
from evaluation_assets.core.system.one_origin import MOST_REDIRECTS, OtherOrigin, only_to

LARGEST_REPLY = 32 * 2**20
"""Bytes of an answer, unpacked: thousands of times a usual reply, several times the longest output of today's
models with every character escaped, and little enough to be held for each request in flight."""


def bounded(client: type[httpx2.AsyncClient], base_url: str) -> httpx2.AsyncClient:
    """A client for an endpoint, with answers that are cut off while they are read."""
    check = _check_of(base_url)

    async def check_soon(request: httpx2.Request) -> None:
        check(request)

    class Bounded(client):
        def __init__(self) -> None:
            super().__init__(
                event_hooks={"request": [check_soon]}, max_redirects=MOST_REDIRECTS, verify=_certificates()
            )

        async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
            """Send a request, and read its answer in full."""
            options["stream"] = True
            try:
                response = await super().send(request, **options)
            except httpx2.TooManyRedirects:
                raise _circle() from None
            except aiohttp.ClientResponseError:  # the transport lets it through
                raise unreadable("its head or its length is not HTTP", is_billed=True) from None
            try:
                with _reading(response):
                    return await _in_full(response)
            except BaseException:
                await response.aclose()
                raise

    return Bounded()


def bounded_in_threads(client: type[httpx2.Client], base_url: str, seconds: float) -> httpx2.Client:
    """The same for a client without an event loop, which has to end a slow answer by itself too."""

    class Bounded(client):
        def __init__(self) -> None:
            hooks = {"request": [_check_of(base_url)]}
            super().__init__(event_hooks=hooks, max_redirects=MOST_REDIRECTS, verify=_certificates())

        def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
            """Send a request, and read its answer in full."""
            options["stream"] = True
            try:
                response = super().send(request, **options)
            except httpx2.TooManyRedirects:
                raise _circle() from None
            until = time.monotonic() + seconds
            parts, size = [], 0
            try:
                with _reading(response):
                    for part in response.iter_bytes():
                        size += len(part)
                        if size > LARGEST_REPLY:
                            raise _too_long()
                        if time.monotonic() > until:
                            raise httpx2.ReadTimeout("the answer takes too long", request=request)
                        parts.append(part)
            finally:
                response.close()
            return _rebuilt(response, parts)

    return Bounded()


@cache
def _certificates() -> ssl.SSLContext:
    """Reading the certificates takes as long as a dozen requests: once in a process is enough."""
    return httpx2.create_ssl_context()


def _check_of(base_url: str) -> Callable[[httpx2.Request], None]:
    """What refuses requests to hosts that are not allowed, and to others than the endpoint."""
    refusal, check_origin = refusal_of(base_url), only_to(base_url)

    def check(request: httpx2.Request) -> None:
        if refusal is not None:
            raise ProviderError("auth", refusal, retryable=False)
        try:
            check_origin(request)
        except OtherOrigin as problem:
            raise ProviderError("auth", f"the endpoint {problem}", retryable=False) from None

    return check


@contextmanager
def _reading(response: httpx2.Response) -> Iterator[None]:
    """What goes wrong while a body is read, as a `ProviderError`: to SDKs it is as if nobody had answered."""
    try:
        yield
    except httpx2.DecodingError:
        raise unreadable("its content is not encoded as its head says", is_billed=response.is_success) from None
    except (httpx2.ReadError, httpx2.RemoteProtocolError):
        raise unreadable("it was cut off", is_billed=response.is_success) from None


async def _in_full(response: httpx2.Response) -> httpx2.Response:
    if _is_short(response.headers):
        await response.aread()
        return response
    parts, size = [], 0
    async for part in response.aiter_bytes():
        size += len(part)
        if size > LARGEST_REPLY:
            raise _too_long()
        parts.append(part)
    return _rebuilt(response, parts)


def _circle() -> ProviderError:
    message = f"the endpoint redirects more than {MOST_REDIRECTS} times, perhaps to itself: check base_url"
    return ProviderError("not_found", message, retryable=False)


def _too_long() -> ProviderError:
    message = f"the reply is longer than {LARGEST_REPLY // 2**20} MiB and was cut off"
    return ProviderError("server", message, retryable=False, endpoint_failed=True, is_billed=True)


def _rebuilt(response: httpx2.Response, parts: list[bytes]) -> httpx2.Response:
    headers = [(name, value) for name, value in response.headers.multi_items() if name not in _OF_THE_TRANSFER]
    return httpx2.Response(response.status_code, headers=headers, content=b"".join(parts), request=response.request)


_OF_THE_TRANSFER = ("content-encoding", "content-length", "transfer-encoding")


def _is_short(headers: httpx2.Headers) -> bool:
    """Whether it says how long it is, and is no archive."""
    length = headers.get("content-length", "")
    return length.isdecimal() and int(length[:12]) <= LARGEST_REPLY and "content-encoding" not in headers
