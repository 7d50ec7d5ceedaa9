"""Verdicts as tables can hold them, whatever a model, a file, or code of other people says in them."""

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from evaluation_assets.core.judging.answer_claims import well_formed_claim
from evaluation_assets.core.judging.verdicts import Distribution, ScoreProbability, Verdict
from evaluation_assets.core.text.well_formed import well_formed

_MOST = 2**63 - 1


class NotStorable(ValueError):
    """A value that no table can hold; the message says which."""


def storable(verdict: Verdict) -> Verdict:
    """The verdict with well-formed texts.

    Raises:
        NotStorable: a score or a probability is not a number, a criterion is not text, or a count is too large.
    """
    used = verdict.usage
    for name, count in (
        ("input tokens", used.input_tokens),
        ("cached tokens", used.cached_tokens),
        ("output tokens", used.output_tokens),
        ("attempts", verdict.attempts),
    ):
        if count is not None and (not isinstance(count, int) or abs(count) > _MOST):
            raise NotStorable(f"the number of {name} cannot be stored")
    wrong = verdict.wrong_clips
    return replace(
        verdict,
        scores=_shares(verdict.scores),
        probabilities=_shares(verdict.probabilities),
        answer_scores=_shares(verdict.answer_scores),
        answer_probabilities=_shares(verdict.answer_probabilities),
        distributions=_distributions(verdict.distributions),
        answer_distributions=_distributions(verdict.answer_distributions),
        summary=_text(verdict.summary, "the summary"),
        reasoning=_text(verdict.reasoning, "the reasoning"),
        error=_text(verdict.error, "the error"),
        served_model=_text(verdict.served_model, "the name of the model"),
        claims=verdict.claims and tuple(map(well_formed_claim, verdict.claims)),
        notes=tuple(map(well_formed, verdict.notes)),
        wrong_clips=None if wrong is None else {clip: well_formed(problem) for clip, problem in wrong.items()},
    )


def _shares(given: Mapping[str, float | None] | None) -> Any:
    if given is None:
        return None
    shares: dict[str, float | None] = {}
    for criterion, share in given.items():
        shares[_named(criterion)] = None if share is None else _number(share, f"the score of {_shown(criterion)}")
    return shares


def _distributions(given: Mapping[str, Distribution] | None) -> Any:
    return given and {
        _named(criterion): tuple(
            ScoreProbability(*(_number(each, f"the distribution of {_shown(criterion)}") for each in pair))
            for pair in distribution
        )
        for criterion, distribution in given.items()
    }


def _number(given: Any, what: str) -> float:
    with suppress(OverflowError):
        if isinstance(given, int | float) and math.isfinite(given):
            return float(given)
    raise NotStorable(f"{what} is not a number")


def _shown(criterion: Any) -> str:
    return repr(str(criterion)[:100])


def _named(criterion: Any) -> str:
    if not isinstance(criterion, str):
        raise NotStorable(f"the criterion {_shown(criterion)} is not text")
    return well_formed(criterion)


def _text(given: Any, what: str) -> str | None:
    if given is not None and not isinstance(given, str):
        raise NotStorable(f"{what} is not text")
    return None if given is None else well_formed(given)
