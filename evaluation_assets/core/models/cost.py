"""What questions that belong together took and cost."""

from dataclasses import dataclass, field
from typing import TypeVar

from evaluation_assets.core.models.ledger import Entry
from evaluation_assets.core.text.nullable import sum_of
from evaluation_assets.core.traces.token_usage import TokenUsage
from evaluation_assets.core.traces.trajectories.model import Usage

N = TypeVar("N", int, float)


@dataclass(slots=True)
class Cost:
    """What some questions took, as the budget counts it.

    Tokens and cost are what this run paid; if all replies are from the ledger, what was paid for them before. A reply
    that does not say its tokens, or cannot be read, costs the most that it can, and leaves the tokens unknown.
    """

    usage: Usage = field(default_factory=Usage)
    latency_ms: float = 0.0
    attempts: int = 0
    keys: list[str] = field(default_factory=list)
    all_from_ledger: bool = True
    served_model: str | None = None
    usage_problem: str | None = None
    _replies: int = 0

    def add(self, key: str, entry: Entry, *, from_ledger: bool) -> None:
        """Count the answer to one of them."""
        self._count(entry.reply.usage, entry.cost_usd, from_ledger=from_ledger)
        self.latency_ms += entry.latency_ms
        self.attempts += not from_ledger
        self.keys.append(key)
        self.served_model = entry.reply.served_model
        self.usage_problem = self.usage_problem or entry.reply.usage_problem

    def add_failed(self, cost_usd: float | None, *, is_billed: bool) -> None:
        """Count a request without an answer that can be used; a billed one costs so much, where that is known."""
        self.attempts += 1
        if is_billed:
            self._count(TokenUsage(), cost_usd, from_ledger=False)

    def _count(self, tokens: TokenUsage, cost_usd: float | None, *, from_ledger: bool) -> None:
        if self.all_from_ledger and not from_ledger:
            self.usage, self._replies, self.all_from_ledger = Usage(), 0, False
        if from_ledger and not self.all_from_ledger:
            return
        self._replies += 1
        first, own = self._replies == 1, self.usage
        inputs = _total(own.input_tokens, tokens.input_tokens, first=first)
        self.usage = Usage(
            input_tokens=inputs,
            cached_tokens=None if inputs is None else sum_of((own.cached_tokens, tokens.cached_tokens)),
            output_tokens=_total(own.output_tokens, tokens.output_tokens, first=first),
            cost_usd=_total(own.cost_usd, cost_usd, first=first),
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be said about it."""
        return () if self.usage_problem is None else (f"Tokens are unknown: {self.usage_problem}.",)


def _total(before: N | None, more: N | None, *, first: bool) -> N | None:
    """A sum of which no part is missing; `None` where one is."""
    if first:
        return more
    return None if before is None or more is None else before + more
