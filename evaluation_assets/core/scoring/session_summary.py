"""Counts and means over the sessions of a drop, as metadata for the UI."""

from collections import Counter
from collections.abc import Iterator
from statistics import fmean

from evaluation_assets.core.models.embeddings import Taken
from evaluation_assets.core.scoring.analysed_sessions import PANEL, Row

_COUNTS = (
    "responses",
    "bad_responses",
    "judged_responses",
    "unauthorized_calls",
    "ungrounded_values",
    "failed_calls",
)
SCORES = (
    "overall_score",
    "conversation_score",
    "tool_use_score",
    "coordination_score",
    "reasoning_score",
    "intent_drift_score",
    "tool_chain",
)


class SessionSummary:
    """Sums the panel's analyses as they stream through. `taken` is the usage of embeddings."""

    def __init__(self) -> None:
        self.taken = Taken()
        self._values: dict[str, list[float]] = {}
        self._signals: Counter[str] = Counter()
        self._sums: Counter[str] = Counter()

    def over(self, rows: Iterator[Row]) -> Iterator[Row]:
        """Yield the rows unchanged and add them up."""
        for row in rows:
            if row["analyst"] == PANEL:
                self._sums["sessions"] += 1
                for name in _COUNTS:
                    self._sums[name] += row[name]
                self._signals[row["signal"] or "nothing done"] += 1
                for name in SCORES:
                    if row[name] is not None:
                        self._values.setdefault(name, []).append(row[name])
            yield row

    def metadata(self) -> dict[str, float | int | str | None]:
        """The means as numbers, which the UI plots over drops, or a note that the drop has no sessions."""
        if not self._sums["sessions"]:
            return {"sessions": 0, "note": "no trajectory has several agents or several user turns"}
        return {
            **dict(sorted(self._sums.items())),
            **{f"mean_{name}": fmean(values) for name, values in sorted(self._values.items())},
            "courses": ", ".join(f"{signal}: {count}" for signal, count in sorted(self._signals.items())),
            **self._embedded(),
        }

    def _embedded(self) -> dict[str, float | int | str | None]:
        """Usage of embeddings; empty without any. Unknown tokens and costs are null."""
        taken = self.taken
        figures: dict[str, float | int | str | None] = {}
        if taken.texts:
            figures |= {"embedded_texts": taken.texts, "embeddings_from_ledger": taken.from_ledger}
            figures |= {"embedding_tokens": taken.input_tokens, "embedding_cost_usd": taken.cost_usd}
        if taken.over_budget:
            figures["over_budget"] = taken.over_budget
        return figures
