"""What the questions of a verdict took."""

from dataclasses import replace

from evaluation_assets.core.judging.verdicts import Verdict
from evaluation_assets.core.models.cost import Cost


def with_cost(verdict: Verdict, cost: Cost) -> Verdict:
    """The verdict with what its questions took and cost."""
    return replace(
        verdict,
        usage=cost.usage,
        latency_ms=cost.latency_ms or None,
        attempts=cost.attempts,
        from_ledger=bool(cost.keys) and cost.all_from_ledger,
        ledger_key=cost.keys[-1] if cost.keys else None,
        served_model=cost.served_model,
        notes=(*cost.notes, *verdict.notes),
    )
