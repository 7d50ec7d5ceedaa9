"""Cost estimates: the expected value and an upper bound for a set of questions.

Expected: replies as long as this model's were (or as assumed), and every conversation's beginning served by the
provider's prefix cache. At most: nothing cached, the densest text, every reply as long as it may be, also in the
conversations that go on from it, and every reply asked for twice more: with twice the limit because it was cut, and
again because it was not valid.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from evaluation_assets.core.llm.budget import LEAST_BYTES_PER_TOKEN, longest_reply, most_usd
from evaluation_assets.core.llm.messages import TokenUsage
from evaluation_assets.core.llm.prices import Pricing
from evaluation_assets.core.llm.providers.capabilities import capabilities_of
from evaluation_assets.core.llm.settings import ModelSettings
from evaluation_assets.core.nullable import sum_of

if TYPE_CHECKING:
    from evaluation_assets.core.llm.ledger import Entry

BYTES_PER_TOKEN = 3.7
"""Assumed where no reply to this drop's questions tells: between English (4) and code, JSON and tables (3 to 3.5)."""

_TOKENS_A_REPLY, _TOKENS_A_CRITERION = 40, 45
"""Assumed where the ledger has no reply of the model: a summary, and reasoning with a score for each criterion."""

_LEAST_CACHED, _CACHE_STEP = 1024, 128
_REPAIR_TOKENS = 300
"""What asks for a reply again, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question that would be asked.

    `size` are its bytes, `shared` those that the question before it in the conversation began with too, `most_input`
    the tokens it can have at most; `assumed` replies in it are not known yet. `criteria` is how many it asks for.
    """

    size: int
    shared: int
    most_input: int
    assumed: int
    criteria: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """Calls with their tokens and US dollars, `None` where the price is unknown."""

    calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = 0.0


@dataclass(frozen=True, slots=True)
class Quote:
    """What questions cost: as expected, and at most."""

    expected: Amount
    most: Amount


def typical_reply(entries: Sequence["Entry"]) -> float | None:
    """Mean output tokens of a model's verdicts among the replies of a ledger; `None` without any."""
    tokens = [entry.reply.usage.output_tokens for entry in entries if '"scores"' in entry.reply.text]
    known = [count for count in tokens if count is not None]
    return fmean(known) if known else None


def reply_tokens(criteria: int, typical: float | None) -> int:
    """Output tokens that a question for so many criteria is expected to bring."""
    return round(typical) if typical is not None else _TOKENS_A_REPLY + criteria * _TOKENS_A_CRITERION


def quote(
    questions: Sequence[Question],
    settings: ModelSettings,
    pricing: Pricing,
    typical: float | None = None,
    bytes_per_token: float | None = None,
) -> Quote:
    """What questions to a model cost.

    Args:
        questions: What would be asked.
        settings: The model.
        pricing: Its price.
        typical: Output tokens of a reply, where measured.
        bytes_per_token: Of its tokenizer on these texts, where measured.
    """
    writes = capabilities_of(settings.provider, settings.model).protocol == "anthropic"
    expected = [_expected(each, typical, bytes_per_token or BYTES_PER_TOKEN, writes=writes) for each in questions]
    most = [_most(each, settings) for each in questions]
    longer = [(tokens, 2 * reply) for tokens, reply in most]
    repaired = [(tokens + reply + _REPAIR_TOKENS, reply) for tokens, reply in longer]
    all_of_them = [*most, *longer, *repaired]
    costs = [most_usd(pricing, *each) for each in all_of_them]
    return Quote(
        expected=Amount(
            calls=len(expected),
            input_tokens=sum(usage.input_tokens or 0 for usage in expected),
            cached_tokens=sum(usage.cached_tokens or 0 for usage in expected),
            output_tokens=sum(usage.output_tokens or 0 for usage in expected),
            usd=_total([pricing.cost(usage) for usage in expected]),
        ),
        most=Amount(
            calls=len(all_of_them),
            input_tokens=sum(tokens for tokens, _ in all_of_them),
            output_tokens=sum(reply for _, reply in all_of_them),
            usd=_total(costs),
        ),
    )


def _expected(question: Question, typical: float | None, bytes_per_token: float, *, writes: bool) -> TokenUsage:
    tokens = round(question.size / bytes_per_token)
    cached = round(question.shared / bytes_per_token) // _CACHE_STEP * _CACHE_STEP
    cached = cached if cached >= _LEAST_CACHED else 0
    return TokenUsage(
        input_tokens=tokens,
        cached_tokens=cached,
        cache_write_tokens=tokens - cached if writes and tokens >= _LEAST_CACHED else 0,
        output_tokens=reply_tokens(question.criteria, typical),
    )


def _most(question: Question, settings: ModelSettings) -> tuple[int, int]:
    """Tokens in and out. Conversations that outgrow the window are folded, so that it bounds them."""
    reply = longest_reply(settings.max_output_tokens, settings.parameters)
    window = round(settings.max_input_tokens * 3 / LEAST_BYTES_PER_TOKEN)
    grown = min(question.most_input + question.assumed * 2 * reply, window)
    return max(question.most_input, grown), reply


def _total(costs: Sequence[float | None]) -> float | None:
    return None if None in costs else sum_of(costs) or 0.0
