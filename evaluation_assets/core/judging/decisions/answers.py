"""The replies of decision models as evaluations. A distribution that is none gives no score."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from evaluation_assets.core.judging.decisions.questions import OF_ANSWER, options_of
from evaluation_assets.core.judging.replies import InvalidReply, ignored, refuse_unfinished
from evaluation_assets.core.judging.rubrics.model import Criterion, Rubric
from evaluation_assets.core.judging.subjects import Subject
from evaluation_assets.core.judging.verdicts import Distribution, ScoreProbability, Verdict, outcome_of
from evaluation_assets.core.models.messages import Reply

_ROUNDED = 0.05
"""What rounding ten probabilities to two digits can add up to."""

_TINY = 1e-6
"""What arithmetic in single precision can be off by."""


@dataclass(slots=True)
class _Given:
    """What was answered about the criteria of one rubric."""

    scores: dict[str, float | None] = field(default_factory=dict)
    distributions: dict[str, Distribution] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)


def evaluation_of(reply: Reply, subject: Subject) -> Verdict:
    """The verdict in the answers about a subject: of each criterion the expected score, without reasons.

    A judge that refuses every question abstains.

    Raises:
        InvalidReply: a question was not answered, or an answer is no distribution over its points.
    """
    refuse_unfinished(reply)
    answers = orjson.loads(reply.text)
    own = _given(answers, subject.criteria, subject.rubric, "")
    of_answer = _Given()
    if subject.answer is not None:
        of_answer = _given(answers, subject.answer_criteria, subject.answer, OF_ANSWER)
    refused = ", ".join((*own.refused, *of_answer.refused))
    notes = [f"The model refused to answer: {refused}."] if refused else []
    return Verdict(
        outcome=outcome_of(own.scores),
        scores=own.scores,
        distributions=own.distributions,
        answer_scores=None if subject.answer is None else of_answer.scores,
        answer_distributions=None if subject.answer is None else of_answer.distributions,
        notes=(*notes, *ignored(name for name in answers if name not in subject.asked)),
    )


def _given(answers: Mapping[str, Any], criteria: Sequence[Criterion], rubric: Rubric, prefix: str) -> _Given:
    if missing := [criterion.key for criterion in criteria if prefix + criterion.key not in answers]:
        raise InvalidReply("missing_criterion", f"no answer for {', '.join(missing)}.")
    given = _Given()
    for criterion in criteria:
        key, answer = criterion.key, answers[prefix + criterion.key]
        if answer is None:
            given.scores[key] = None
            given.refused.append(key)
            continue
        options = options_of(criterion, rubric.scale).items()
        distribution = _distribution(key, answer, {name: rubric.scale.to_share(point) for name, point in options})
        given.distributions[key] = distribution
        given.scores[key] = _score(distribution, is_choice=rubric.scale.aggregate == "majority")
    return given


def _score(distribution: Distribution, *, is_choice: bool) -> float:
    """The expected score; of categories, which have no mean, the most likely one."""
    if is_choice:
        return max(distribution, key=lambda each: each.probability).score
    return min(1.0, math.fsum(each.score * each.probability for each in distribution))


def _distribution(key: str, answer: Mapping[str, Any], options: Mapping[str, float]) -> Distribution:
    """The answer over the options, each with its score."""
    if answer.keys() != options.keys():
        raise InvalidReply("invalid_json", f"the answer to {key} is not about the points {', '.join(options)}.")
    given = [answer[option] for option in options]
    if not all(isinstance(each, int | float) and -_TINY <= each <= 1 + _TINY for each in given):
        raise InvalidReply("out_of_range", f"a probability of {key} is not a number from 0 to 1.")
    given = [min(max(each, 0.0), 1.0) for each in given]
    total = math.fsum(given)
    if abs(total - 1) > _ROUNDED:
        raise InvalidReply("out_of_range", f"the probabilities of {key} add up to {total:.3g}, not to 1.")
    return tuple(ScoreProbability(score, each / total) for score, each in zip(options.values(), given, strict=True))
