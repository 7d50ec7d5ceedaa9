"""Read token counts and costs under the field names of providers and frameworks."""

from evaluation_assets.core.formats.unmapped_fields import Fields
from evaluation_assets.core.trajectories.model import Usage

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
    cached = _tokens(details, "cached_tokens", "cache_read", "cacheReadTokens")
    if cached is None:
        cached = _tokens(fields, "cached_tokens", "prompt_cache_hit_tokens", "cachedInputTokens")
    read = _tokens(fields, "cache_read_input_tokens", "cacheReadInputTokens")
    written = _tokens(fields, "cache_creation_input_tokens", "cacheWriteInputTokens")
    if read is not None or written is not None:
        cached = read
        input_tokens = None if input_tokens is None else input_tokens + (read or 0) + (written or 0)
    details.set_aside(
        "audio_tokens", "cache_creation", "text_tokens", "image_tokens", "noCacheTokens", "cacheWriteTokens"
    )
    fields.set_aside(
        "total_tokens", "totalTokens", "completion_tokens_details", "output_tokens_details", "output_token_details",
        "outputTokenDetails", "reasoningTokens", "cache_creation", "service_tier", "inference_geo",
        "prompt_cache_miss_tokens",
    )  # fmt: skip
    return usage(input_tokens, output_tokens, fields.number("cost", "total_cost"), cached)


def usage(
    input_tokens: int | None = None,
    output_tokens: int | None = None,
    cost_usd: float | None = None,
    cached_tokens: int | None = None,
) -> Usage | None:
    """Build a usage. Negative figures are dropped, and a cost of 0 is unknown, since the source had no price."""
    counts = [
        count if count is not None and 0 <= count < _TOO_MANY else None
        for count in (input_tokens, cached_tokens, output_tokens)
    ]
    found = Usage(
        input_tokens=counts[0],
        cached_tokens=counts[1],
        output_tokens=counts[2],
        cost_usd=cost_usd if cost_usd is not None and cost_usd > 0 else None,
    )
    return None if found == Usage() else found


def _tokens(fields: Fields, *keys: str) -> int | None:
    found = fields.whole(*keys)
    if found is None and (strange := next((key for key in keys if key in fields), None)) is not None:
        fields.note_unknown(strange)  # an unknown count is no count of 0
    return found if found is not None and 0 <= found < _TOO_MANY else None
