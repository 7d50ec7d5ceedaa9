"""What a judge did at one level, counted while its verdicts pass."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evaluation_assets.core.judging.shortfall import Answers

COUNTED = (
    "outcome",
    "error_kind",
    "error",
    "share_seen",
    "cost_usd",
    "from_ledger",
    "attempts",
    "input_tokens",
    "cached_tokens",
    "output_tokens",
)
"""The columns that are counted."""


def has_reply(row: Mapping[str, Any]) -> bool:
    """Whether a verdict was paid for. A failed one without tokens and cost was refused, or got no answer."""
    is_answered = row["outcome"] in ("scored", "abstained")
    return is_answered or row["input_tokens"] is not None or row["cost_usd"] is not None


@dataclass
class Tally(Answers):
    """Outcomes and errors of rows of a verdict table, and what its calls took.

    Tokens and cost are those of verdicts for which `calls` were made now, not of those from the ledger. `uncounted`
    verdicts have no known number of tokens, `unpriced` ones no known cost.
    """

    share_seen: float = 0.0
    shown: int = 0
    cost_usd: float | None = None
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    from_ledger: int = 0
    calls: int = 0
    uncounted: int = 0
    unpriced: int = 0
    redacted: Counter[str] = field(default_factory=Counter)

    def add(self, row: Mapping[str, Any]) -> None:
        super().add(row)
        if row["share_seen"] is not None:
            self.share_seen += row["share_seen"]
            self.shown += 1
        self.from_ledger += row["from_ledger"]
        if row["from_ledger"]:
            return
        self.calls += row["attempts"]
        if has_reply(row):
            self.uncounted += row["input_tokens"] is None or row["output_tokens"] is None
            self.unpriced += row["cost_usd"] is None
        if row["cost_usd"] is not None:
            self.cost_usd = (self.cost_usd or 0.0) + row["cost_usd"]
        self.input_tokens += row["input_tokens"] or 0
        self.cached_tokens += row["cached_tokens"] or 0
        self.output_tokens += row["output_tokens"] or 0

    @property
    def over_budget(self) -> int:
        """Subjects that the budget left out."""
        return self.kinds["budget"]

    @property
    def coverage(self) -> float | None:
        """Share of subjects that were answered. `None` without subjects."""
        return self.answered / self.outcomes.total() if self.outcomes else None

    @property
    def cached_share(self) -> float | None:
        """Share of the input tokens that the provider's cache served."""
        return self.cached_tokens / self.input_tokens if self.input_tokens else None

    @property
    def text_seen(self) -> float | None:
        """Mean share of a subject's text the judge was shown."""
        return self.share_seen / self.shown if self.shown else None

    @property
    def most_common_errors(self) -> str:
        """The three most frequent kinds of error with their counts; empty where there are none."""
        return ", ".join(f"{count} {kind}" for kind, count in self.kinds.most_common(3))

    def metadata(self) -> dict[str, int | float | str]:
        """The figures as numeric metadata, which the UI plots over drops, without tokens of which none are known."""
        figures: dict[str, int | float | str] = {
            outcome: self.outcomes[outcome] for outcome in ("scored", "abstained", "failed", "not_run")
        }
        tokens = {"input_tokens": self.input_tokens, "cached_tokens": self.cached_tokens}
        tokens["output_tokens"] = self.output_tokens
        figures |= {name: count for name, count in tokens.items() if count or not self.uncounted}
        figures |= {"from_ledger": self.from_ledger, "calls": self.calls}
        figures |= {"uncounted_verdicts": self.uncounted, "unpriced_verdicts": self.unpriced}
        if self.over_budget:
            figures["over_budget"] = self.over_budget
        if self.cached_share is not None:
            figures["cached_share"] = self.cached_share
        if self.coverage is not None:
            figures["coverage"] = self.coverage
        if self.text_seen is not None:
            figures["share_seen"] = self.text_seen
        if self.cost_usd is not None:
            figures["cost_usd"] = self.cost_usd
        figures |= {f"redacted_{kind}": count for kind, count in sorted(self.redacted.items())}
        if self.errors:
            figures["errors"] = ", ".join(f"{kind}: {count}" for kind, count in sorted(self.kinds.items()))
        return figures
