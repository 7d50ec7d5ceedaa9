"""Verdicts as rows of the tables of verdicts."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any

from evaluation_assets.core.judging.judge import Judge, Judgement
from evaluation_assets.core.judging.subjects import Subject
from evaluation_assets.core.judging.verdicts import Distribution, Verdict, outcome_of
from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.traces.trajectories.model import Usage


def verdict_rows(drop: str, judge: Judge, judgement: Judgement) -> Iterator[Row]:
    """The rows of a verdict: one, and a second one for the answer that was judged in the same call.

    What the call took is in the first row.
    """
    subject, verdict = judgement.subject, judgement.verdict
    if not subject.is_quick:
        yield verdict_row(drop, judge, judgement)
        return
    told = replace(verdict, reasoning=_with_wrong_clips(verdict))
    yield verdict_row(drop, judge, replace(judgement, verdict=told))
    if subject.answer is not None:
        yield verdict_row(drop, judge, _of_answer(judgement, subject))


def _of_answer(judgement: Judgement, subject: Subject) -> Judgement:
    verdict, rubric = judgement.verdict, subject.answer or subject.rubric
    scores = verdict.answer_scores
    outcome = verdict.outcome
    if scores is None:
        scores = dict.fromkeys(criterion.key for criterion in subject.answer_criteria)
    else:
        outcome = outcome_of(scores)
    return replace(
        judgement,
        subject=replace(subject, level="answer", name="answer", rubric=rubric),
        verdict=replace(
            verdict,
            outcome=outcome,
            scores=scores,
            probabilities=verdict.answer_probabilities,
            distributions=verdict.answer_distributions,
            claims=None,
            usage=_nothing_more(verdict.usage),
            latency_ms=None,
            attempts=0,
            notes=(),
        ),
    )


def _nothing_more(taken: Usage) -> Usage:
    """What a second verdict from the same call took: nothing, where it is known what the first one took."""
    inputs = None if taken.input_tokens is None else 0
    return Usage(
        input_tokens=inputs,
        cached_tokens=inputs,
        output_tokens=None if taken.output_tokens is None else 0,
        cost_usd=None if taken.cost_usd is None else 0.0,
    )


def _with_wrong_clips(verdict: Verdict) -> str | None:
    """The reasoning with the clips that went wrong, as the viewer numbers them."""
    if not verdict.wrong_clips:
        return verdict.reasoning
    wrong = (f"Clip {index}: {problem}" for index, problem in verdict.wrong_clips.items())
    return "\n".join([verdict.reasoning or "", "Wrong steps:", *wrong])


def _of_criteria(distributions: Mapping[str, Distribution] | None, value: Callable[[Distribution], Any]) -> Any:
    return distributions and {criterion: value(own) for criterion, own in distributions.items()}


def entropy(distribution: Distribution) -> float:
    """The entropy of a distribution as a share of the largest: 0 is certain, 1 that all scores are equally likely."""
    likely = [each.probability for each in distribution if each.probability > 0]
    return max(0.0, -math.fsum(each * math.log(each) for each in likely) / math.log(len(distribution)))


def _records(distribution: Distribution) -> list[Row]:
    return [each._asdict() for each in distribution]


def _with_notes(verdict: Verdict) -> str | None:
    return "\n".join(filter(None, (verdict.reasoning, *verdict.notes))) or verdict.reasoning


def verdict_row(drop: str, judge: Judge, judgement: Judgement) -> Row:
    """A row of the table of the subject's level."""
    subject, verdict = judgement.subject, judgement.verdict
    if subject.level == "clip":
        place: Row = {"clip_index": subject.focus[0].index, "tool_type": subject.focus[0].tool_type}
    else:
        place = {"subject": subject.name}
        if subject.level in ("trajectory", "answer"):
            place["claims"] = None if verdict.claims is None else [asdict(claim) for claim in verdict.claims]
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
        "distributions": _of_criteria(verdict.distributions, _records),
        "entropies": _of_criteria(verdict.distributions, entropy),
        "summary": verdict.summary,
        "reasoning": _with_notes(verdict),
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
        "prompt_length": verdict.prompt_length,
        "ledger_key": verdict.ledger_key,
        "served_model": verdict.served_model,
    }
