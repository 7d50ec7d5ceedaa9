"""Progress of the judges of a level: frequent on a terminal, rare in Dagster's log."""

import logging
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from math import ceil

from evaluation_assets.core.judging.judge import Judgement
from evaluation_assets.core.text.counted import to_a_hundredth_cent
from evaluation_assets.core.text.nullable import sum_of

LOG = logging.getLogger("evaluation_assets.judging")
"""Each record's `judged` is a `Judged`. Nobody listens unless a terminal does."""

LOG_SECONDS = 10.0
"""A line in Dagster's log costs 4 ms: one now and then, never one a verdict."""

SHOW_SECONDS = 0.2

_RECENT = 50
"""Verdicts whose rate tells how much longer it takes: the first come from the ledger, or while the rate is learned."""


@dataclass(slots=True)
class Judged:
    """What one judge has done at one level so far. `total` is unknown while a judge works that is no model."""

    level: str
    judge: str
    total: int | None
    say: Callable[[str], object]
    asks_model: bool = True
    done: int = 0
    failed: int = 0
    from_ledger: int = 0
    unpriced: int = 0
    cost_usd: float | None = None
    input_tokens: int = 0
    cached_tokens: int = 0
    clock: Callable[[], float] = time.monotonic
    _times: deque[float] = field(init=False)
    _said: float = field(init=False)
    _shown: float = 0.0

    def __post_init__(self) -> None:
        self._said = self.clock()
        self._times = deque([self._said], _RECENT + 1)

    def add(self, judgement: Judgement) -> None:
        """Count a verdict."""
        verdict = judgement.verdict
        self.done += 1
        self.failed += verdict.outcome == "failed"
        self.from_ledger += verdict.from_ledger
        self.input_tokens += verdict.usage.input_tokens or 0
        self.cached_tokens += verdict.usage.cached_tokens or 0
        if not verdict.from_ledger:
            self.unpriced += verdict.attempts > 0 and verdict.usage.cost_usd is None
            self.cost_usd = sum_of((self.cost_usd, verdict.usage.cost_usd))
        now = self.clock()
        self._times.append(now)
        if now - self._shown > SHOW_SECONDS:
            self._shown = now
            self.show()
        if now - self._said > LOG_SECONDS:
            self._said = now
            self.say(f"{self.judge}: {self.figures()}")

    def end(self) -> None:
        """There are no more verdicts."""
        self.total = self.done
        self.show()

    def show(self) -> None:
        """Tell the terminal, where there is one."""
        LOG.debug("judged", extra={"judged": self})

    def figures(self, earlier: Iterable["Judged"] = ()) -> str:
        """How far, how fast, how much longer, what failed, for how much: a narrow terminal cuts the end.

        With the levels that it has judged `earlier`, the cost is that of the drop.
        """
        rate = (len(self._times) - 1) / max(self.clock() - self._times[0], 1e-3)
        parts = [f"{self.done}{'' if self.total is None else f' of {self.total}'} verdicts", f"{rate:.1f}/s"]
        if self.total is not None and rate and (left := self.total - self.done) > 0:
            parts.append(_duration(left / rate))
        if self.failed:
            parts.append(f"{self.failed} failed")
        if self.asks_model:
            levels = (self, *earlier)
            cost_usd = sum_of(each.cost_usd for each in levels)
            is_unknown = cost_usd is None and any(each.unpriced for each in levels)
            parts.append("cost unknown" if is_unknown else to_a_hundredth_cent(cost_usd or 0))
            if self.input_tokens:
                parts.append(f"{self.cached_tokens / self.input_tokens:.0%} of the input cached")
            parts.append(f"{self.from_ledger} from the ledger")
        return ", ".join(parts)


def _duration(seconds: float) -> str:
    return f"~{ceil(seconds / 10) * 10} s left" if seconds < 60 else f"~{ceil(seconds / 60)} min left"
