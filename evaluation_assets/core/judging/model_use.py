"""What the judges that are models were asked in a run, and what that took, from the metadata of their tables."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from evaluation_assets.core.text.counted import counted, to_a_hundredth_cent
from evaluation_assets.core.text.nullable import sum_of


def bound(unpriced: int, uncounted: int) -> str:
    """What a sum of costs is, before the number: exact, if no verdict lacks its price and none its tokens.

    A reply that does not say its tokens counts as the most that it can cost.
    """
    return ("about " if uncounted else "at least ") if unpriced else "at most " if uncounted else ""


@dataclass(slots=True)
class ModelUse:
    """The requests of one judge over all levels of a drop in one run, and the tokens and cost of their verdicts.

    `uncounted` verdicts have no known number of tokens, `unpriced` ones no known cost.
    """

    judge: str
    calls: int = 0
    from_ledger: int = 0
    uncounted: int = 0
    unpriced: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None

    def add(self, figures: Mapping[str, Any]) -> None:
        """Add the metadata of one of its tables."""
        self.calls += figures["calls"]
        self.from_ledger += figures["from_ledger"]
        self.uncounted += figures["uncounted_verdicts"]
        self.unpriced += figures["unpriced_verdicts"]
        self.input_tokens += figures.get("input_tokens", 0)
        self.cached_tokens += figures.get("cached_tokens", 0)
        self.output_tokens += figures.get("output_tokens", 0)
        self.cost_usd = sum_of((self.cost_usd, figures.get("cost_usd")))

    @classmethod
    def total(cls, every: Iterable[Self]) -> Self:
        """The use of all judges together."""
        total = cls("all")
        for each in every:
            figures = asdict(each)
            total.add(figures | {f"{name}_verdicts": figures[name] for name in ("uncounted", "unpriced")})
        return total

    @property
    def text(self) -> str:
        """In words: `74 requests, 3 verdicts from the ledger, 120,000 tokens in, 3,400 out, cost $0.1234`.

        A budget counts calls: replies that were paid for. Requests are also those without an answer, as after a 429.
        """
        parts = [counted(self.calls, "request")]
        if self.from_ledger:
            parts.append(f"{counted(self.from_ledger, 'verdict')} from the ledger")
        if self.calls:
            parts += [self._tokens, f"cost {self._cost}"]
        return ", ".join(parts)

    @property
    def _tokens(self) -> str:
        is_unsaid = self.uncounted or self.cost_usd is None
        if is_unsaid and not (self.input_tokens or self.output_tokens):
            return "tokens unknown"
        cached = f" ({self.cached_tokens:,} cached)" if self.cached_tokens else ""
        return f"{self._told(self.input_tokens)} tokens in{cached}, {self._told(self.output_tokens)} out"

    def _told(self, tokens: int) -> str:
        if not self.uncounted:
            return f"{tokens:,}"
        return f"at least {tokens:,}" if tokens else "unknown"

    @property
    def _cost(self) -> str:
        if self.cost_usd is None or (self.unpriced and not self.cost_usd):
            return "unknown"
        return f"{bound(self.unpriced, self.uncounted)}{to_a_hundredth_cent(self.cost_usd)}"


def model_use(metadata: Mapping[str, Mapping[str, Any]]) -> list[ModelUse]:
    """The use of each judge that is a model. `metadata` is by asset, such as `clip_verdicts/sonnet_clip_verdicts`."""
    by_judge: dict[str, ModelUse] = {}
    for judge, figures in _tables(metadata):
        if figures["calls"] or figures["from_ledger"]:
            by_judge.setdefault(judge, ModelUse(judge)).add(figures)
    return list(by_judge.values())


def _tables(metadata: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for asset, figures in metadata.items():
        level, _, name = asset.partition("/")
        if level.endswith("_verdicts"):
            yield name.removesuffix(f"_{level}"), figures
