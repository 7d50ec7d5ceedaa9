"""Criteria as the typed questions of a decision model."""

from collections.abc import Iterator, Sequence

from evaluation_assets.core.judging.rubrics.model import Criterion, Rubric
from evaluation_assets.core.judging.subjects import Subject
from evaluation_assets.core.models.messages import DecisionQuestion, QuestionKind

MOST_LEVELS = 10
"""Ordered levels that the protocols take."""

OF_ANSWER = "answer."
"""Before the name of a criterion of the final answer that is asked in the same request as the trajectory's."""


def questions_of(subject: Subject) -> tuple[DecisionQuestion, ...]:
    """One question for each criterion of a subject."""
    own = _questions(subject.criteria, subject.rubric, "")
    of_answer = () if subject.answer is None else _questions(subject.answer_criteria, subject.answer, OF_ANSWER)
    return (*own, *of_answer)


def points_of(criterion: Criterion) -> list[int]:
    """The points of the scale that have an anchor, from the lowest up; of more than ten, ten at equal distances."""
    points = sorted(criterion.anchors)
    last = len(points) - 1
    if last < MOST_LEVELS:
        return points
    return [points[round(place * last / (MOST_LEVELS - 1))] for place in range(MOST_LEVELS)]


def _questions(criteria: Sequence[Criterion], rubric: Rubric, prefix: str) -> Iterator[DecisionQuestion]:
    for criterion in criteria:
        yield DecisionQuestion(
            name=prefix + criterion.key,
            kind=_kind(rubric),
            instructions=criterion.question,
            options=tuple((str(point), criterion.anchors[point]) for point in points_of(criterion)),
        )


def _kind(rubric: Rubric) -> QuestionKind:
    """Numbers that are verdicts or categories have no order; a scale of two numbers is a yes or a no."""
    if rubric.scale.aggregate == "majority":
        return "choice"
    return "yes_no" if rubric.scale.max - rubric.scale.min == 1 else "score"
