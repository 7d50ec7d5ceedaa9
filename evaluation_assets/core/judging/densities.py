"""Bytes per token of a model's tokenizer on questions of a level, measured in runs and kept in the ledger."""

from collections import Counter

from evaluation_assets.core.models.ledger import Ledger
from evaluation_assets.core.traces.trajectories.identity import digest

ENOUGH = 50
"""Questions of a level that are measured in a run; more would cost time and tell little."""


class Densities:
    """Bytes and input tokens of answered questions, by level."""

    def __init__(self) -> None:
        self._bytes: Counter[str] = Counter()
        self._tokens: Counter[str] = Counter()
        self._questions: Counter[str] = Counter()

    def wants(self, level: str) -> bool:
        """Whether too few questions of the level have been measured."""
        return self._questions[level] < ENOUGH

    def add(self, level: str, size: int, tokens: int) -> None:
        """Count an answered question."""
        self._questions[level] += 1
        self._bytes[level] += size
        self._tokens[level] += tokens

    def of(self, level: str) -> float | None:
        """Bytes per token at a level; `None` where nothing was measured."""
        return self._bytes[level] / self._tokens[level] if self._tokens[level] else None

    def remember(self, ledger: Ledger, provider: str, model: str) -> None:
        """Keep what was measured for later estimates.

        Raises:
            LedgerError: the ledger cannot be written.
        """
        for level in self._questions:
            if (density := self.of(level)) is not None:
                ledger.remember(_name(provider, model, level), f"{density:.4f}")


def remembered_density(ledger: Ledger, provider: str, model: str, level: str) -> float | None:
    """Bytes per token in the last run that measured it at this level; `None` if none did."""
    density = ledger.remembered(_name(provider, model, level))
    return None if density is None else float(density)


def _name(provider: str, model: str, level: str) -> str:
    return f"bytes per token {digest(provider, model, level)[:32]}"
