"""Criteria as the typed questions of a decision model."""

from collections.abc import Iterator, Sequence

from evaluation_assets.core.judging.rubrics.model import Criterion, Rubric, Scale
from evaluation_assets.core.judging.subjects import Subject
from evaluation_assets.core.models.messages import DecisionQuestion, QuestionKind

MOST_LEVELS = 10
"""Ordered levels that the protocols take."""

_LEVELS_BETWEEN_ENDS = 6
"""Levels of a continuous scale without anchors between its ends: fifths of the range."""

OF_ANSWER = "answer."
"""Before the name of a criterion of the final answer that is asked in the same request as the trajectory's."""


def questions_of(subject: Subject) -> tuple[DecisionQuestion, ...]:
    """One question for each criterion of a subject."""
    own = _questions(subject.criteria, subject.rubric, "")
    of_answer = () if subject.answer is None else _questions(subject.answer_criteria, subject.answer, OF_ANSWER)
    return (*own, *of_answer)


def options_of(criterion: Criterion, scale: Scale) -> dict[str, float]:
    """The points that can be chosen, by their names, from the lowest up, at most ten.

    These are the points with an anchor, of more than ten some at equal distances. Of a continuous scale with anchors at
    its ends alone, they are points at equal distances.
    """
    points = sorted(criterion.anchors)
    last = len(points) - 1
    if scale.continuous and last == 1:
        steps = _LEVELS_BETWEEN_ENDS - 1
        points = [scale.to_points(place / steps) for place in range(_LEVELS_BETWEEN_ENDS)]
    elif last >= MOST_LEVELS:
        points = [points[round(place * last / (MOST_LEVELS - 1))] for place in range(MOST_LEVELS)]
    return {f"{point:.6g}": point for point in points}


def _questions(criteria: Sequence[Criterion], rubric: Rubric, prefix: str) -> Iterator[DecisionQuestion]:
    for criterion in criteria:
        yield DecisionQuestion(
            name=prefix + criterion.key,
            kind=_kind(rubric),
            instructions=criterion.question,
            options=tuple(
                (name, criterion.anchors.get(point, f"{name} on the scale from {rubric.scale}"))
                for name, point in options_of(criterion, rubric.scale).items()
            ),
        )


def _kind(rubric: Rubric) -> QuestionKind:
    """Numbers that are verdicts or categories have no order; a scale of two numbers is a yes or a no."""
    if rubric.scale.aggregate == "majority":
        return "choice"
    is_yes_no = rubric.scale.max - rubric.scale.min == 1 and not rubric.scale.continuous
    return "yes_no" if is_yes_no else "score"
