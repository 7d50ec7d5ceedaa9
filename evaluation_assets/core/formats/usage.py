"""Read token counts and costs under the field names of providers and frameworks."""

from dataclasses import replace

from evaluation_assets.core.formats.unmapped_fields import Fields
from evaluation_assets.core.llm.messages import TokenUsage
from evaluation_assets.core.llm.prices import list_price_of
from evaluation_assets.core.nullable import sum_of
from evaluation_assets.core.trajectories.model import Usage

_FOR_5_MINUTES, _FOR_AN_HOUR = "ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens"
"""Anthropic's names of tokens written to its cache, by the time that they are kept for."""

_TOO_MANY = 10**12
"""Upper limit for plausible token counts; sums of smaller counts fit 64 bits."""


def usage_of(fields: Fields) -> Usage | None:
    """Read an OpenAI, Anthropic, Bedrock, AI SDK or LangChain usage object; `None` if it has no figures.

    Anthropic and Bedrock count cached tokens separately from the input, others include them; here they are always
    included.
    """
    input_tokens = _tokens(fields, "prompt_tokens", "input_tokens", "promptTokens", "inputTokens")
    output_tokens = _tokens(fields, "completion_tokens", "output_tokens", "completionTokens", "outputTokens")
    details = fields.object("prompt_tokens_details", "input_tokens_details", "input_token_details", "inputTokenDetails")
    lifetimes = fields.object("cache_creation")
    cached = _tokens(details, "cached_tokens", "cache_read", "cacheReadTokens")
    if cached is None:
        cached = _tokens(fields, "cached_tokens", "prompt_cache_hit_tokens", "cachedInputTokens")
    read = _tokens(fields, "cache_read_input_tokens", "cacheReadInputTokens")
    written = _tokens(fields, "cache_creation_input_tokens", "cacheWriteInputTokens")
    if read is not None or written is not None:
        cached = read
        input_tokens = None if input_tokens is None else input_tokens + (read or 0) + (written or 0)
    else:
        # LangChain counts writes by their lifetime, and what it counts so no more under `cache_creation`.
        names = ("cache_write_tokens", "cache_creation", "cacheWriteTokens")
        written = sum_of(
            [_tokens(details, *names), *(_tokens(details, name) for name in (_FOR_5_MINUTES, _FOR_AN_HOUR))]
        )
    for_an_hour = _tokens(lifetimes, _FOR_AN_HOUR)
    if for_an_hour is None:
        for_an_hour = _tokens(details, _FOR_AN_HOUR)
    lifetimes.set_aside(_FOR_5_MINUTES)
    details.set_aside("audio_tokens", "text_tokens", "image_tokens", "noCacheTokens")
    fields.set_aside(
        "total_tokens", "totalTokens", "completion_tokens_details", "output_tokens_details", "output_token_details",
        "outputTokenDetails", "reasoningTokens", "service_tier", "inference_geo",
        "prompt_cache_miss_tokens",
    )  # fmt: skip
    return usage(input_tokens, output_tokens, fields.number("cost", "total_cost"), cached, written, for_an_hour)


def usage(
    input_tokens: int | None = None,
    output_tokens: int | None = None,
    cost_usd: float | None = None,
    cached_tokens: int | None = None,
    cache_write_tokens: int | None = None,
    cache_write_1h_tokens: int | None = None,
) -> Usage | None:
    """Build a usage. Negative figures are dropped, and a cost of 0 is unknown, since the source had no price."""
    counts = [
        count if count is not None and 0 <= count < _TOO_MANY else None
        for count in (input_tokens, cached_tokens, cache_write_tokens, cache_write_1h_tokens, output_tokens)
    ]
    found = Usage(
        input_tokens=counts[0],
        cached_tokens=counts[1],
        cache_write_tokens=counts[2],
        cache_write_1h_tokens=counts[3],
        output_tokens=counts[4],
        cost_usd=cost_usd if cost_usd is not None and cost_usd > 0 else None,
    )
    return None if found == Usage() else found


def at_list_price(used: Usage | None, model: str | None) -> Usage | None:
    """Usage of one request of a model, with the list price of its tokens where no cost is recorded and it is known.

    Only of one request: a price may depend on the size of a request.
    """
    if used is None or used.cost_usd is not None:
        return used
    tokens = TokenUsage(
        input_tokens=used.input_tokens,
        cached_tokens=used.cached_tokens,
        cache_write_tokens=used.cache_write_tokens,
        cache_write_1h_tokens=used.cache_write_1h_tokens,
        output_tokens=used.output_tokens,
    )
    cost = list_price_of(model).cost(tokens)
    return used if cost is None else replace(used, cost_usd=cost, is_list_price=True)


def _tokens(fields: Fields, *keys: str) -> int | None:
    found = fields.whole(*keys)
    if found is None and (strange := next((key for key in keys if key in fields), None)) is not None:
        fields.note_unknown(strange)  # an unknown count is no count of 0
    return found if found is not None and 0 <= found < _TOO_MANY else None
