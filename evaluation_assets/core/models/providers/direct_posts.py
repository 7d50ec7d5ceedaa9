"""Posts to one endpoint again and again, without what an SDK repeats for each of them.

Address and headers are those of the first request to a path, which the SDK made. Making, copying and wrapping each
request takes the SDK longer than sending it.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import httpx2

_OF_ONE_REQUEST = ("content-length", "transfer-encoding")


class DirectPosts:
    """The posts of an SDK's client. They raise the same errors as the SDK."""

    def __init__(self, sdk: Any, http_client: httpx2.AsyncClient) -> None:
        self._sdk = sdk
        self._http_client = http_client
        self._first: dict[str, httpx2.Request] = {}
        http_client.event_hooks["request"].append(self._keep)

    async def _keep(self, request: httpx2.Request) -> None:
        """Keep the first request to an address; redirected ones come after it."""
        if request.method == "POST" and request.url.path not in self._first:
            self._first[request.url.path] = request

    async def post(self, by_sdk: Callable[..., Awaitable[Any]], path: str, content: Any, **options: Any) -> Any:
        """The answer to a post: what the SDK makes of it, and the body from the second post of bytes to a path on."""
        first = next((request for sent, request in self._first.items() if sent.endswith(path)), None)
        if first is None or not isinstance(content, bytes):
            return await by_sdk(path, content=content, **options)
        return await self._send(first, content)

    async def _send(self, first: httpx2.Request, content: bytes) -> bytes | str:
        headers = [(name, value) for name, value in first.headers.raw if name.lower().decode() not in _OF_ONE_REQUEST]
        request = httpx2.Request("POST", first.url, headers=headers, content=content, extensions=first.extensions)
        try:
            response = await self._http_client.send(request)
        except httpx2.TimeoutException as problem:
            raise self._sdk.APITimeoutError(request=request) from problem
        except (httpx2.RequestError, OSError) as problem:
            raise self._sdk.APIConnectionError(request=request) from problem
        if not response.is_success:
            said = f"HTTP {response.status_code}"
            raise self._sdk.APIStatusError(said, response=response, body=_error_in(response))
        return response.content if response.charset_encoding in (None, "utf-8") else response.text


def _error_in(response: httpx2.Response) -> Any:
    try:
        return response.json()
    except ValueError:
        return response.text.strip()
