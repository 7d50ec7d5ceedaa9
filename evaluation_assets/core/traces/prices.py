"""Prices of replies: from the settings, else from public price data, else unknown. Unknown is never 0."""

import re
from typing import Protocol

from pydantic import Field

from evaluation_assets.core.system.configuration import Section
from evaluation_assets.core.traces.token_usage import TokenUsage
from evaluation_assets.core.traces.trajectories.model import Usage as RecordedUsage


class Price(Section):
    """US dollars per million tokens.

    Attributes:
        input: Price of input tokens.
        output: Price of output tokens.
        cached_input: Price of input tokens that the provider reads from its cache. `null`: that of `input`.
        cache_write: Price of input tokens that the provider writes to its cache. `null`: that of `input`.
        cache_write_1h: Price of input tokens that the provider keeps in its cache for an hour. `null`: that of
            `cache_write`.
    """

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached_input: float | None = Field(default=None, ge=0)
    cache_write: float | None = Field(default=None, ge=0)
    cache_write_1h: float | None = Field(default=None, ge=0)


class Pricing(Protocol):
    """How a model's replies are priced."""

    def cost(self, usage: TokenUsage) -> float | None:
        """US dollars, or `None` when tokens or price are unknown."""
        ...

    @property
    def cliff(self) -> int | None:
        """Input tokens from which on every token of a request costs more; `None` when there is no such point."""
        ...


class OwnPrice:
    """A price from the settings."""

    def __init__(self, price: Price) -> None:
        self._price = price

    @property
    def cliff(self) -> int | None:
        """The settings know one price."""
        return None

    def cost(self, usage: TokenUsage) -> float | None:
        if usage.input_tokens is None or usage.output_tokens is None:
            return None
        price, cached, written = self._price, usage.cached_tokens or 0, usage.cache_write_tokens or 0
        for_an_hour = usage.cache_write_1h_tokens or 0
        read_price = price.input if price.cached_input is None else price.cached_input
        write_price = price.input if price.cache_write is None else price.cache_write
        hour_price = write_price if price.cache_write_1h is None else price.cache_write_1h
        plain = usage.input_tokens - cached - written
        total = plain * price.input + cached * read_price + usage.output_tokens * price.output
        return (total + (written - for_an_hour) * write_price + for_an_hour * hour_price) / 1e6


class PublicPrice:
    """The list price of a provider's model."""

    def __init__(self, provider_id: str | None, model: str) -> None:
        self._provider_id = provider_id
        self._model = model

    @property
    def cliff(self) -> int | None:
        """Where the next tier of the list price begins."""
        if self._provider_id is None:
            return None
        from genai_prices import Usage, calc_price  # noqa: PLC0415  (with httpx2 0.1 s to import)
        from genai_prices.types import TieredPrices  # noqa: PLC0415

        try:
            calculated = calc_price(Usage(input_tokens=1), model_ref=self._model, provider_id=self._provider_id)
        except LookupError:
            return None
        price = calculated.model_price.input_mtok
        if not isinstance(price, TieredPrices):
            return None
        return min((tier.start for tier in price.tiers if tier.price > price.base), default=None)

    def cost(self, usage: TokenUsage | RecordedUsage) -> float | None:
        if self._provider_id is None or usage.input_tokens is None or usage.output_tokens is None:
            return None
        from genai_prices import Usage, calc_price  # noqa: PLC0415  (see `cliff`)

        tokens = Usage(
            input_tokens=usage.input_tokens,
            cache_read_tokens=usage.cached_tokens or 0,
            cache_write_tokens=usage.cache_write_tokens or 0,
            cache_write_1h_tokens=usage.cache_write_1h_tokens or 0,
            output_tokens=usage.output_tokens,
        )
        try:
            return float(calc_price(tokens, model_ref=self._model, provider_id=self._provider_id).total_price)
        except (LookupError, ValueError):  # an unknown model; counts that contradict each other
            return None


_PROVIDERS = (
    (re.compile(r"claude"), "anthropic"),
    (re.compile(r"gpt|o\d|codex"), "openai"),
    (re.compile(r"gemini"), "google"),
    (re.compile(r"grok"), "x-ai"),
    (re.compile(r"deepseek"), "deepseek"),
)
"""Whose list price is meant, by the beginning of the model's name. For other names it is unknown."""

_BY_PREFIX = {
    **{name: name for name in ("openai", "anthropic", "azure", "mistral", "groq", "deepseek", "openrouter", "x-ai")},
    **dict.fromkeys(("azure_openai", "azure_ai"), "azure"),
    **dict.fromkeys(("google", "gemini", "google_genai", "google_vertexai", "vertex_ai", "models"), "google"),
    **dict.fromkeys(("bedrock", "bedrock_converse"), "aws"),
    **dict.fromkeys(("together", "together_ai"), "together"),
    "xai": "x-ai",
}
"""Whose list price is meant, by what stands before the name of a model in LiteLLM, LangChain and others."""
_PREFIX = re.compile(r"([a-z_-]+)[/:](.+)", re.IGNORECASE)
_OF_BEDROCK = re.compile(r"(?:[a-z]{2,6}\.)?(?:anthropic|amazon|meta|mistral|cohere|deepseek)\.")


def provider_of(model: str) -> tuple[str | None, str]:
    """Whose list price is meant, if the name of a model tells, and the name without that of the provider before it."""
    prefixed = _PREFIX.fullmatch(model)
    if prefixed is not None and (known := _BY_PREFIX.get(prefixed[1].lower())) is not None:
        return known, prefixed[2]
    name = model.lower()
    if _OF_BEDROCK.match(name):
        return "aws", model
    return next((provider for pattern, provider in _PROVIDERS if pattern.match(name)), None), model


def list_price_of(model: str | None) -> PublicPrice:
    """The list price of a model that a trajectory names; its cost is unknown if the name tells no provider."""
    return PublicPrice(*provider_of(model or ""))


def cost_of(used: RecordedUsage, model: str | None) -> float | None:
    """What a request cost: as recorded, else at the list price of its model."""
    return list_price_of(model).cost(used) if used.cost_usd is None else used.cost_usd


BATCH_SHARE = 0.5
"""What OpenAI and Anthropic charge for a batch, as a share of the usual price of input, cache and output."""


def batch_price(usd: float | None) -> float | None:
    """The price in a batch of what usually costs this much; `None` where that is unknown."""
    return None if usd is None else usd * BATCH_SHARE
