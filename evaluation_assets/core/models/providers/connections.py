"""Connect to the endpoint of a model with a key or credentials from the environment."""

import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from evaluation_assets.core.models.addresses import secrets_in_query, split_password
from evaluation_assets.core.models.errors import ProviderError
from evaluation_assets.core.models.providers.base import Provider
from evaluation_assets.core.models.providers.capabilities import Capabilities
from evaluation_assets.core.system.commands import installing

if TYPE_CHECKING:
    from evaluation_assets.core.models.providers.openai_chat import OpenAIChat
    from evaluation_assets.core.models.providers.openai_decisions import OpenAIDecisions
    from evaluation_assets.core.models.providers.systemone import SystemOne

CONNECT_TIMEOUT_S = 10.0
"""Timeout for connecting to an endpoint. The timeout for the reply is set per request."""

# The SDKs take a second each to import, which a run without models need not wait for: imports are in the functions.
# ruff: noqa: PLC0415


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where a model is. `key_variable` is `None` where no key is needed; `project` and `location` are Google's.

    `base_url` may hold a user and a password.
    """

    abilities: Capabilities
    model: str
    base_url: str
    key_variable: str | None = None
    project: str = ""
    location: str = ""


def connect(endpoint: Endpoint) -> Provider:
    """A connection in the running event loop.

    Raises:
        ProviderError: the key or the credentials are missing.
    """
    if endpoint.abilities.protocol == "anthropic":
        return _anthropic(endpoint)
    return _openai(endpoint)


def _openai(endpoint: Endpoint) -> Provider:
    import openai

    from evaluation_assets.core.models.providers.bounded import bounded
    from evaluation_assets.core.models.providers.direct_posts import DirectPosts

    address, password = split_password(endpoint.base_url)
    google = endpoint.abilities.credentials == "google"
    key = None if google else key_in(endpoint.key_variable)
    http_client = bounded(openai.DefaultAioHttpClient, address)
    direct = DirectPosts(openai, http_client)

    class Direct(openai.AsyncOpenAI):
        async def post(self, path: str, *, content: Any = None, **options: Any) -> Any:
            return await direct.post(super().post, path, content, **options)

    # A token of Google is another one every hour.
    client = (openai.AsyncOpenAI if google else Direct)(
        api_key=_google_token() if key is None else key,
        base_url=address,
        max_retries=0,
        timeout=openai.Timeout(None, connect=CONNECT_TIMEOUT_S),
        http_client=http_client,
        default_headers=openai_headers(password),
    )
    return _spoken_by(endpoint.abilities)(
        client, endpoint.model, endpoint.abilities, secrets_of(endpoint.base_url, key)
    )


def _spoken_by(abilities: Capabilities) -> "type[OpenAIChat | OpenAIDecisions | SystemOne]":
    """The protocol of an endpoint that OpenAI's client sends requests to."""
    if abilities.protocol == "openai_decisions":
        from evaluation_assets.core.models.providers.openai_decisions import OpenAIDecisions

        return OpenAIDecisions
    if abilities.protocol == "systemone":
        from evaluation_assets.core.models.providers.systemone import SystemOne

        return SystemOne
    from evaluation_assets.core.models.providers.openai_chat import OpenAIChat

    return OpenAIChat


def _anthropic(endpoint: Endpoint) -> Provider:
    import anthropic
    from anthropic.lib.vertex import AsyncAnthropicVertex

    from evaluation_assets.core.models.providers.anthropic_messages import AnthropicMessages
    from evaluation_assets.core.models.providers.bounded import bounded
    from evaluation_assets.core.models.providers.direct_posts import DirectPosts

    address, password = split_password(endpoint.base_url)
    timeout = anthropic.Timeout(None, connect=CONNECT_TIMEOUT_S)
    http_client = bounded(anthropic.DefaultAioHttpClient, address)
    if endpoint.abilities.credentials == "google":
        token = _google_token()

        class Vertex(AsyncAnthropicVertex):
            """The SDK's own way would fetch a token for every request that finds none, all at once."""

            async def _ensure_access_token(self) -> str:
                return await token()

        client = Vertex(
            region=endpoint.location,
            project_id=endpoint.project,
            base_url=address,
            max_retries=0,
            timeout=timeout,
            http_client=http_client,
        )
        return AnthropicMessages(client, endpoint.model, endpoint.abilities)
    direct = DirectPosts(anthropic, http_client)

    class Direct(anthropic.AsyncAnthropic):
        async def post(self, path: str, *, content: Any = None, **options: Any) -> Any:
            return await direct.post(super().post, path, content, **options)

    key = key_in(endpoint.key_variable)
    headers = {"x-api-key": key} if endpoint.abilities.base_url is None else {}
    client = Direct(
        api_key=key,
        base_url=address,
        max_retries=0,
        timeout=timeout,
        http_client=http_client,
        default_headers=headers if password is None else headers | {"Authorization": password},
    )
    return AnthropicMessages(client, endpoint.model, endpoint.abilities, secrets_of(endpoint.base_url, key))


def key_in(variable: str | None) -> str:
    """The key that a variable of the environment holds.

    Raises:
        ProviderError: it holds none.
    """
    if not variable:
        return "none"  # local servers need none, the SDKs do
    key = os.environ.get(variable, "")
    if not key:
        raise ProviderError("auth", f"no API key: set the variable {variable}", retryable=False)
    return key


def secrets_of(base_url: str, key: str | None) -> list[str]:
    """What no message may repeat: the key, and the user and password of an address."""
    url = urlsplit(base_url)
    given = (key, url.password, unquote(url.password or ""), split_password(base_url)[1], *secrets_in_query(base_url))
    return [secret for secret in given if secret]


def openai_headers(password: str | None = None) -> Any:
    """Organisation and project from the environment would go to any server, not only to OpenAI's: without them.

    A user and password of the address stand in the place of the key, as for every HTTP client.
    """
    import openai

    own = {"OpenAI-Organization": openai.Omit(), "OpenAI-Project": openai.Omit()}
    return own if password is None else own | {"Authorization": password}


def _google_token() -> Callable[[], Awaitable[str]]:
    try:
        from evaluation_assets.core.models.providers.google_cloud import AccessToken, credentials
    except ImportError:
        message = f"models on Vertex need an extra package: {installing('vertex')}"
        raise ProviderError("auth", message, retryable=False) from None
    return AccessToken(credentials())
