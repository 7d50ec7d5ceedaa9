"""Read token counts and costs under the field names of providers and frameworks."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

from evaluation_assets.core.text.nullable import sum_of
from evaluation_assets.core.traces.formats.stated import Comparisons
from evaluation_assets.core.traces.formats.transcript import total
from evaluation_assets.core.traces.formats.unmapped_fields import Fields
from evaluation_assets.core.traces.formats.untyped import as_number, in_both_cases
from evaluation_assets.core.traces.prices import cost_of
from evaluation_assets.core.traces.trajectories.model import Usage

_FOR_5_MINUTES, _FOR_AN_HOUR = "ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens"
"""Anthropic's names of tokens written to its cache, by the time that they are kept for."""

INPUT = ("prompt_tokens", "input_tokens", "promptTokens", "inputTokens", "input_token_count", "inputTokenCount")
OUTPUT = (
    "completion_tokens", "output_tokens", "completionTokens", "outputTokens", "output_token_count", "outputTokenCount",
)  # fmt: skip
"""The last two are those of Microsoft's frameworks for agents."""

CACHED = (
    "prompt_cache_hit_tokens",
    *in_both_cases("cached_tokens", "cached_input_tokens", "cached_prompt_tokens", "cache_read_tokens", "cache_read"),
)
_CACHE_WRITES = in_both_cases("cache_write_tokens", "cache_creation_tokens", "cache_write")
_OF_CACHES = "cache"
"""In the name of a count that is no count of a cache that we know: the input may be without it."""
_SHORT_INPUT, _SHORT_OUTPUT = ("input", "prompt", "in"), ("output", "completion", "out")
COSTS = in_both_cases("cost", "total_cost", "cost_usd", "total_cost_usd", "token_cost")

UNKNOWN = Usage()
"""The usage of a run of which some answers lack theirs: the sum of the others is no total."""

ESTIMATED = "is_estimate"
"""Field of a usage whose tokens its source only estimates, which an envelope sets."""

TOO_MANY = 10**12
"""Upper limit for plausible token counts; sums of smaller counts fit 64 bits."""


def usage_of(fields: Fields) -> Usage | None:
    """Read an OpenAI, Anthropic, Bedrock, AI SDK or LangChain usage object; `None` if it has no figures.

    Anthropic and Bedrock count cached tokens separately from the input, others include them; here they are always
    included.
    """
    if next(fields.filled(), None) is None:  # as of most messages
        return None
    if fields.flag(ESTIMATED):
        fields.note_estimate()
    given = _tokens(fields, *INPUT, *_SHORT_INPUT)
    written = _tokens(fields, *OUTPUT, *_SHORT_OUTPUT)
    details = fields.object("prompt_tokens_details", "input_tokens_details", "input_token_details", "inputTokenDetails")
    cached = _tokens(details, "cached_tokens", "cache_read", "cacheReadTokens")
    if cached is None:
        cached = _tokens(fields, *CACHED)
    from_cache = _tokens(fields, "cache_read_input_tokens", "cacheReadInputTokens")
    to_cache = _tokens(fields, "cache_creation_input_tokens", "cacheCreationInputTokens", "cacheWriteInputTokens")
    if to_cache is None and fields.is_object("cache_creation"):  # the whole may be left out
        by_lifetime = fields.object("cache_creation")
        names = (_FOR_5_MINUTES, _FOR_AN_HOUR, "input_tokens")
        to_cache = sum_of([_tokens(by_lifetime, name) for name in names])
    if from_cache is None and to_cache is None and fields.is_object("cache"):
        from_cache, to_cache = (_tokens(fields.object("cache"), name) for name in ("read", "write"))
    is_beside = from_cache is not None or to_cache is not None
    cached = from_cache if is_beside else cached
    thoughts = fields.object(
        "completion_tokens_details", "output_tokens_details", "output_token_details", "outputTokenDetails"
    )
    reasoning = _tokens(thoughts, "reasoning_tokens", "reasoning", "reasoningTokens")
    reasoning = reasoning if reasoning is not None else _tokens(fields, "reasoningTokens")
    thoughts.rest()
    of_litellm = details.object("cache_creation_token_details")
    within = to_cache
    if not is_beside:
        # LangChain counts writes by their lifetime, and what it counts so no more under `cache_creation`.
        names = ("cache_write_tokens", "cache_creation", "cacheWriteTokens", "cache_creation_tokens")
        lifetimes_of = (_tokens(details, name) for name in (_FOR_5_MINUTES, _FOR_AN_HOUR))
        within = sum_of(
            [
                _tokens(details, *names),
                *lifetimes_of,
                _tokens(fields, *_CACHE_WRITES),
            ]
        )
    lifetimes = fields.object("cache_creation") if "cache_creation" in fields else of_litellm
    for_an_hour = _tokens(lifetimes, _FOR_AN_HOUR)
    if for_an_hour is None:
        for_an_hour = _tokens(details, _FOR_AN_HOUR)
    written_for = {part.text("ttl"): _tokens(part, "inputTokens") for part in fields.objects("cacheDetails")}  # Bedrock
    if for_an_hour is None:
        for_an_hour = written_for.get("1h")
    lifetimes.set_aside(_FOR_5_MINUTES)
    details.set_aside("audio_tokens", "text_tokens", "image_tokens", "noCacheTokens")
    fields.set_aside("service_tier", "inference_geo", "prompt_cache_miss_tokens")
    stated = _tokens(fields, "total_tokens", "totalTokens", "total_token_count", "totalTokenCount", "total")
    of_bedrock = "cacheReadInputTokens" in fields or "cacheWriteInputTokens" in fields
    if given is None and written is None:  # a sum alone says nothing of either
        fields.stated.compare("token", stated or None, 0)
    part = (cached or 0) + (to_cache or 0)
    if "prompt_tokens" in fields and given is not None and is_beside and stated != given + part + (written or 0):
        # LiteLLM adds what is read from a cache to the prompt, and in some versions what is written to it. Its total
        # is the sum of prompt and completion.
        given += 0 if part <= given else (to_cache or 0) if (cached or 0) <= given else part
        part, stated = 0, None
    counts = settled(
        fields.stated,
        None if of_bedrock else stated,  # which leaves the cached tokens out
        Count(given, part, is_beside or part > (given or 0)),
        Count(written, reasoning or 0),
    )
    for name in fields.unread():
        if _OF_CACHES in name.lower() and as_number(fields.peek(name)):
            fields.note_unknown(name)
    own = usage(*counts, fields.number(*COSTS), cached, within, for_an_hour)
    return total([own, *_compactions(fields)]) if fields.is_list("iterations") else own


def _compactions(fields: Fields) -> list[Usage | None]:
    """The usage of summaries that Anthropic made of a long conversation before it answered, and does not add to it."""
    compactions: list[Usage | None] = []
    for request in fields.objects("iterations"):
        if request.text("type") == "compaction":
            compactions.append(usage_of(request))
        request.rest()
    return compactions


@dataclass(frozen=True, slots=True)
class Count:
    """Tokens, and those of a part of them: cached input, or reasoning in the output.

    `is_beside` is whether by the source's convention the part comes on top of the tokens.
    """

    tokens: int | None
    part: int = 0
    is_beside: bool = False

    @property
    def ways(self) -> tuple[int, ...]:
        """The tokens with the part, by the source's convention first. What is beside and larger cannot be within."""
        within, beside = self.tokens or 0, (self.tokens or 0) + self.part
        if self.is_beside and self.part > within:
            return (beside,)
        return (beside, within) if self.is_beside else (within, beside)


def settled(
    stated: Comparisons, total: int | None, input_tokens: Count, output_tokens: Count
) -> tuple[int | None, int | None]:
    """Input and output tokens with all their parts.

    Under the same names some sources count a part within the tokens and others beside them: the stated total tells. One
    that fits no way is a difference in `stated`, unless it is the sum of the tokens without these parts.
    """
    inputs, outputs = input_tokens.ways, output_tokens.ways
    likeliest = inputs[0], outputs[0]
    is_whole = input_tokens.tokens is not None and output_tokens.tokens is not None
    if total and is_whole:  # frameworks write 0 for an unknown total
        likeliest = next((way for way in product(inputs, outputs) if sum(way) == total), likeliest)
        if total != (input_tokens.tokens or 0) + (output_tokens.tokens or 0):  # else it leaves out what is beside
            stated.compare("token", total, sum(likeliest))
    return (
        None if input_tokens.tokens is None else likeliest[0],
        None if output_tokens.tokens is None else likeliest[1],
    )


def confirm(stated: Comparisons, whole: Usage | None, read: Usage | None) -> None:
    """Compare the usage that a source states for all of a run with what was read of it. 0 is taken as unknown.

    A list price is ours, and confirms nothing.
    """
    if whole is not None and read is not None:
        if not (whole.is_list_price or read.is_list_price):
            stated.compare("US dollar", whole.cost_usd or None, read.cost_usd)
        stated.compare("input token", whole.input_tokens or None, read.input_tokens)
        stated.compare("output token", whole.output_tokens or None, read.output_tokens)


def at_most(used: Usage, stated: Usage) -> Usage:
    """Usage without what exceeds the stated one, for sources that may state only a part, as without sub-agents."""
    pairs = ((used.input_tokens, stated.input_tokens), (used.output_tokens, stated.output_tokens))
    inputs, outputs = (one if one is None or other is None else min(one, other) for one, other in pairs)
    return replace(used, input_tokens=inputs, output_tokens=outputs, cost_usd=None)


def with_cache_of(counted: Usage | None, other: Usage | None) -> Usage | None:
    """Usage with the cached tokens of another count of the same request, if it has none and both have one input."""
    if counted is None or other is None or counted.input_tokens != other.input_tokens:
        return counted
    if counted.cached_tokens is not None or counted.cache_write_tokens is not None:
        return counted
    return replace(counted, cached_tokens=other.cached_tokens, cache_write_tokens=other.cache_write_tokens)


def usage(
    input_tokens: int | None = None,
    output_tokens: int | None = None,
    cost_usd: float | None = None,
    cached_tokens: int | None = None,
    cache_write_tokens: int | None = None,
    cache_write_1h_tokens: int | None = None,
) -> Usage | None:
    """Build a usage. Negative figures are dropped, and a cost of 0 is unknown, since the source had no price.

    Of a usage with an impossible count nothing is known.
    """
    stated = (input_tokens, cached_tokens, cache_write_tokens, cache_write_1h_tokens, output_tokens)
    if any(count is not None and count >= TOO_MANY for count in stated):
        return None
    counts = [count if count is not None and count >= 0 else None for count in stated]
    counted = Usage(
        input_tokens=counts[0],
        cached_tokens=counts[1],
        cache_write_tokens=counts[2],
        cache_write_1h_tokens=counts[3],
        output_tokens=counts[4],
        cost_usd=cost_usd if cost_usd is not None and cost_usd > 0 else None,
    )
    return None if counted == Usage() else counted


def usage_named(
    fields: Fields, given: str, written: str, cached: Sequence[str] = (), cost: Sequence[str] = ()
) -> Usage | None:
    """Read a usage by the names of its figures."""
    return usage(fields.whole(given), fields.whole(written), fields.number(*cost), fields.whole(*cached))


def usage_beside(
    given: int | None, output: int | None, cached: int | None, written: int | None, cost_usd: float | None = None
) -> Usage | None:
    """Build a usage of a source that counts what is read from and written to a cache beside the input."""
    whole = None if given is None else given + (cached or 0) + (written or 0)
    return usage(whole, output, cost_usd, cached, written)


def at_list_price(used: Usage | None, model: str | None) -> Usage | None:
    """Usage of one request of a model, with the list price of its tokens where no cost is recorded and it is known.

    Only of one request: a price may depend on the size of a request.
    """
    if used is None or used.cost_usd is not None:
        return used
    cost = cost_of(used, model)
    return used if cost is None else replace(used, cost_usd=cost, is_list_price=True)


def _tokens(fields: Fields, *keys: str) -> int | None:
    number = fields.whole(*keys)
    if number is not None and number >= TOO_MANY:
        fields.note_unknown(next(key for key in keys if key in fields))
    elif number is None and (strange := next((key for key in keys if key in fields), None)) is not None:
        fields.note_unknown(strange)  # an unknown count is no count of 0
    return number if number is not None and number >= 0 else None
