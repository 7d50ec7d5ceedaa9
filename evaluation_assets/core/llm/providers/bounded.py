"""HTTP clients that limit where requests go, redirected ones too, and the size of a response."""

import time
from typing import Any

import httpx2

from evaluation_assets.core.llm.allowed_hosts import refusal_of
from evaluation_assets.core.llm.errors import ProviderError

LARGEST_REPLY = 32 * 2**20
"""Bytes of an answer, unpacked: thousands of times a usual reply, several times the longest output of today's
models with every character escaped, and little enough to be held for each request in flight."""


def bounded(client: type[httpx2.AsyncClient]) -> type[httpx2.AsyncClient]:
    """The class of a client, with answers that are cut off while they are read."""

    class Bounded(client):
        def __init__(self) -> None:
            super().__init__(event_hooks={"request": [_check_host]})

        async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
            """Send a request, and read its answer in full."""
            options["stream"] = True
            response = await super().send(request, **options)
            try:
                return await _in_full(response)
            except BaseException:
                await response.aclose()
                raise

    return Bounded


def bounded_in_threads(client: type[httpx2.Client], seconds: float) -> type[httpx2.Client]:
    """The same for a client without an event loop, which has to end a slow answer by itself too."""

    class Bounded(client):
        def __init__(self) -> None:
            super().__init__(event_hooks={"request": [_check_host_now]})

        def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
            """Send a request, and read its answer in full."""
            options["stream"] = True
            response = super().send(request, **options)
            until = time.monotonic() + seconds
            parts, size = [], 0
            try:
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

    return Bounded


async def _check_host(request: httpx2.Request) -> None:
    _check_host_now(request)


def _check_host_now(request: httpx2.Request) -> None:
    if refusal := refusal_of(str(request.url)):
        raise ProviderError("auth", refusal, retryable=False)


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
