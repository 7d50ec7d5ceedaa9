"""Connect to the endpoint of a model, with the key or the credentials that the environment holds."""

import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from evaluation_assets.core.judging.providers.base import Provider, ProviderError
from evaluation_assets.core.judging.providers.capabilities import Capabilities

REQUEST_TIMEOUT_S = 180.0
"""The SDKs wait 600 s by default, and a hanging connection would hold its slot that long."""

# The SDKs take a second each to import, which a panel of rules need not wait for: hence the imports in the functions.
# ruff: noqa: PLC0415


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where a model is. `key_variable` is `None` where no key is needed; `project` and `location` are Google's."""

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

    from evaluation_assets.core.judging.providers.openai_chat import OpenAIChat

    client = openai.AsyncOpenAI(
        api_key=_google_token() if endpoint.abilities.credentials == "google" else key_in(endpoint.key_variable),
        base_url=endpoint.base_url,
        max_retries=0,
        timeout=REQUEST_TIMEOUT_S,
        http_client=openai.DefaultAioHttpClient(),
        default_headers=openai_headers(),
    )
    return OpenAIChat(client, endpoint.model, endpoint.abilities)


def _anthropic(endpoint: Endpoint) -> Provider:
    import anthropic
    from anthropic.lib.vertex import AsyncAnthropicVertex

    from evaluation_assets.core.judging.providers.anthropic_messages import AnthropicMessages

    if endpoint.abilities.credentials == "google":
        token = _google_token()

        class Vertex(AsyncAnthropicVertex):
            """The SDK's own way would fetch a token for every request that finds none, all at once."""

            async def _ensure_access_token(self) -> str:
                return await token()

        client = Vertex(
            region=endpoint.location,
            project_id=endpoint.project,
            base_url=endpoint.base_url,
            max_retries=0,
            timeout=REQUEST_TIMEOUT_S,
            http_client=anthropic.DefaultAioHttpClient(),
        )
        return AnthropicMessages(client, endpoint.model, endpoint.abilities)
    key = key_in(endpoint.key_variable)
    client = anthropic.AsyncAnthropic(
        api_key=key,
        base_url=endpoint.base_url,
        max_retries=0,
        timeout=REQUEST_TIMEOUT_S,
        http_client=anthropic.DefaultAioHttpClient(),
        default_headers={"x-api-key": key} if endpoint.abilities.base_url is None else None,
    )
    return AnthropicMessages(client, endpoint.model, endpoint.abilities)


def key_in(variable: str | None) -> str:
    """The key that a variable of the environment holds.

    Raises:
        ProviderError: it holds none.
    """
    if not variable:
        return "none"  # local servers need none, the SDKs do
    key = os.environ.get(variable, "")
    if not key:
        raise ProviderError("auth", f"there is no key: set the variable {variable}", retryable=False)
    return key


def openai_headers() -> Any:
    """Organisation and project from the environment would go to any server, not only to OpenAI's: without them."""
    import openai

    return {"OpenAI-Organization": openai.Omit(), "OpenAI-Project": openai.Omit()}


def _google_token() -> Callable[[], Awaitable[str]]:
    try:
        from evaluation_assets.core.judging.providers.google_cloud import AccessToken, credentials
    except ImportError:
        message = "models on Vertex need the extra: pip install 'evaluation-assets[vertex]'"
        raise ProviderError("auth", message, retryable=False) from None
    return AccessToken(credentials())
