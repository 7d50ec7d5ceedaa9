"""Verdicts as rows of the tables of verdicts."""

from typing import Any

from evaluation_assets.core.judging.judge import Judge, Judgement

Row = dict[str, Any]


def verdict_row(drop: str, judge: Judge, judgement: Judgement) -> Row:
    """A row of the table of the subject's level."""
    subject, verdict = judgement.subject, judgement.verdict
    if subject.level == "clip":
        place: Row = {"clip_index": subject.focus[0].index, "tool_type": subject.focus[0].tool_type}
    else:
        place = {"subject": subject.name}
    return {
        "drop": drop,
        "trajectory_id": subject.trajectory.id,
        **place,
        "judge": judge.name,
        "sample": judgement.sample,
        "provider": judge.provider,
        "model": judge.model,
        "rubric": subject.rubric.name,
        "rubric_version": subject.rubric.version_name,
        "outcome": verdict.outcome,
        "scores": dict(verdict.scores),
        "probabilities": None if verdict.probabilities is None else dict(verdict.probabilities),
        "summary": verdict.summary,
        "reasoning": verdict.reasoning,
        "error_kind": verdict.error_kind,
        "error": verdict.error,
        "input_tokens": verdict.usage.input_tokens,
        "cached_tokens": verdict.usage.cached_tokens,
        "output_tokens": verdict.usage.output_tokens,
        "cost_usd": verdict.usage.cost_usd,
        "latency_ms": verdict.latency_ms,
        "attempts": verdict.attempts,
        "from_ledger": verdict.from_ledger,
        "share_seen": verdict.share_seen,
        "ledger_key": verdict.ledger_key,
        "served_model": verdict.served_model,
    }
