"""Cost estimates: the expected value and an upper bound for a set of questions.

Expected: replies as long as this model's were (or as assumed), and every conversation's beginning served by the
provider's prefix cache. At most: nothing cached, the densest text, every reply as long as it may be, also in the
conversations that go on from it, and every reply asked for twice more: with twice the limit because it was cut, and
again because it was not valid. A decision model writes nothing that could be cut: it is asked once.
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING, TypeVar

import orjson

from evaluation_assets.core.judging.answer_claims import CLAIMS, CLAIMS_TOKENS
from evaluation_assets.core.judging.replies import scored_criteria
from evaluation_assets.core.judging.selection import IN_BATCHES
from evaluation_assets.core.models.budget import LEAST_BYTES_PER_TOKEN, longest_reply, most_usd
from evaluation_assets.core.models.messages import Message, Request
from evaluation_assets.core.models.providers.capabilities import capabilities_of
from evaluation_assets.core.models.settings import ModelSettings
from evaluation_assets.core.models.sizes import size_of, text_of_question
from evaluation_assets.core.text.nullable import sum_of
from evaluation_assets.core.traces.prices import Pricing, batch_price
from evaluation_assets.core.traces.token_usage import TokenUsage

if TYPE_CHECKING:
    from evaluation_assets.core.models.ledger import Entry

_T = TypeVar("_T", bound=Hashable)

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
    the tokens it can have at most, `images` those of its images; `assumed` replies in it are not known yet. `reply` are
    the output tokens that are expected, `bytes_per_token` those of the tokenizer.
    """

    level: str
    size: int
    shared: int
    most_input: int
    images: int = 0
    assumed: int = 0
    reply: int = 0
    bytes_per_token: float = BYTES_PER_TOKEN


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
    """What questions cost: as expected, as expected without the provider's prefix cache (US dollars), and at most."""

    expected: Amount
    uncached_usd: float | None
    most: Amount


def in_batches(quotes: Mapping[str, Quote]) -> Quote:
    """The sum of quotes by level, where those of `IN_BATCHES` are asked in batches, which read no cache."""
    return in_total(
        replace(each, expected=replace(each.expected, usd=batch_price(each.uncached_usd), cached_tokens=0))
        if level in IN_BATCHES
        else each
        for level, each in quotes.items()
    )


NOTHING = Quote(Amount(), 0.0, Amount())
"""No questions."""


def in_total(quotes: Iterable[Quote]) -> Quote:
    """The sum of several quotes; an unknown price makes the sum unknown."""
    every_quote = list(quotes)
    return Quote(
        expected=_sum([each.expected for each in every_quote]),
        uncached_usd=_total([each.uncached_usd for each in every_quote]),
        most=_sum([each.most for each in every_quote]),
    )


def least_usd(quotes: Iterable[Quote]) -> float:
    """US dollars that quotes are expected to cost at least: those whose price is unknown cost something besides."""
    return sum_of(each.expected.usd for each in quotes) or 0.0


def _sum(amounts: Sequence[Amount]) -> Amount:
    return Amount(
        calls=sum(each.calls for each in amounts),
        input_tokens=sum(each.input_tokens for each in amounts),
        cached_tokens=sum(each.cached_tokens for each in amounts),
        output_tokens=sum(each.output_tokens for each in amounts),
        usd=_total([each.usd for each in amounts]),
    )


class ReplyLengths:
    """Output tokens of a model's verdicts in the ledger, by the criteria that they score."""

    def __init__(self, entries: Iterable["Entry"]) -> None:
        self._by_criteria: dict[frozenset[str], list[int]] = {}
        for entry in entries:
            tokens, scored = entry.reply.usage.output_tokens, scored_criteria(entry.reply.text)
            if tokens is not None and scored:
                self._by_criteria.setdefault(scored, []).append(tokens)
        known = [tokens for lengths in self._by_criteria.values() for tokens in lengths]
        self.typical = fmean(known) if known else None

    def expected(self, criteria: Collection[str]) -> int:
        """Output tokens that a question for these criteria is expected to bring."""
        known = self._by_criteria.get(frozenset(criteria))
        if known:
            return round(fmean(known))
        scores = round(self.typical) if self.typical is not None else reply_tokens(len(criteria))
        return scores + (CLAIMS_TOKENS if CLAIMS in criteria else 0)


def reply_tokens(criteria: int) -> int:
    """Output tokens that are assumed for a reply that scores so many criteria."""
    return _TOKENS_A_REPLY + criteria * _TOKENS_A_CRITERION


def question_bytes(request: Request, turns: Sequence[Message]) -> int:
    """Bytes of a request with these of its turns, as they are counted against its tokens."""
    schema = len(orjson.dumps(request.schema)) + sum(map(size_of, map(text_of_question, request.questions)))
    return schema + size_of(request.system) + sum(size_of(turn.text) + len(turn.role) + 2 for turn in turns)


def quote(questions: Sequence[Question], settings: ModelSettings, pricing: Pricing) -> Quote:
    """What questions to a model cost."""
    abilities = capabilities_of(settings.provider, settings.model)
    expected = [_expected(each, marked=abilities.protocol == "anthropic") for each in questions]
    plain = [TokenUsage(input_tokens=each.input_tokens, output_tokens=each.output_tokens) for each in expected]
    most = [_most(each, settings) for each in questions]
    longer = [(tokens, 2 * reply) for tokens, reply in most]
    repaired = [(tokens + reply + _REPAIR_TOKENS, reply) for tokens, reply in longer]
    all_of_them = most if abilities.decides else [*most, *longer, *repaired]
    costs = _each_once(lambda each: most_usd(pricing, *each), all_of_them)
    return Quote(
        expected=Amount(
            calls=len(expected),
            input_tokens=sum(usage.input_tokens or 0 for usage in expected),
            cached_tokens=sum(usage.cached_tokens or 0 for usage in expected),
            output_tokens=sum(usage.output_tokens or 0 for usage in expected),
            usd=_total(_each_once(pricing.cost, expected)),
        ),
        uncached_usd=_total(_each_once(pricing.cost, plain)),
        most=Amount(
            calls=len(all_of_them),
            input_tokens=sum(tokens for tokens, _ in all_of_them),
            output_tokens=sum(reply for _, reply in all_of_them),
            usd=_total(costs),
        ),
    )


def _each_once(price: Callable[[_T], float | None], priced: Sequence[_T]) -> list[float | None]:
    """The price of each; equal ones are priced once, as a list price takes 0.1 ms to look up."""
    known = {each: price(each) for each in set(priced)}
    return [known[each] for each in priced]


def _expected(question: Question, *, marked: bool) -> TokenUsage:
    """Where the cache is written at marks, all up to the last mark is served; elsewhere it is served in steps.

    What is not served is written. Claude and, from gpt-5.6 on, OpenAI charge more for that than for other input.
    """
    tokens = round(question.size / question.bytes_per_token) + question.images
    cached = round(question.shared / question.bytes_per_token)
    cached = cached if marked else cached // _CACHE_STEP * _CACHE_STEP
    cached = cached if cached >= _LEAST_CACHED else 0
    return TokenUsage(
        input_tokens=tokens,
        cached_tokens=cached,
        cache_write_tokens=tokens - cached if tokens >= _LEAST_CACHED else 0,
        output_tokens=question.reply,
    )


def _most(question: Question, settings: ModelSettings) -> tuple[int, int]:
    """Tokens in and out. Conversations that outgrow the window are folded, so that it bounds them."""
    decides = capabilities_of(settings.provider, settings.model).decides
    reply = 0 if decides else longest_reply(settings.max_output_tokens, settings.parameters)
    window = round(settings.max_input_tokens * 3 / LEAST_BYTES_PER_TOKEN)
    grown = min(question.most_input + question.assumed * 2 * reply, window)
    return max(question.most_input, grown), reply


def _total(costs: Sequence[float | None]) -> float | None:
    return None if None in costs else sum_of(costs) or 0.0
