"""Likeness of texts, and drift from the goal."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.sections.sessions.intent_drift import change_point, drift_of, lexical_drift
from evaluation_assets.core.sections.sessions.similarity import LexicalSimilarity
from evaluation_assets_tests.core.sections.sessions.making import example, part, session, turn

MEASURE = LexicalSimilarity()


@given(st.lists(st.text(max_size=30), min_size=1, max_size=6))
def test_likeness_is_symmetric_and_between_0_and_1(texts: list[str]) -> None:
    matrix = MEASURE.matrix(texts)
    assert matrix.shape == (len(texts), len(texts))
    assert np.allclose(matrix, matrix.T)
    assert matrix.min() >= 0
    assert matrix.max() <= 1


def test_a_text_is_like_itself_and_an_empty_one_like_nothing() -> None:
    matrix = MEASURE.matrix(["book a train", "book a train", "", "zzzz qqqq"])
    assert matrix[0, 1] == pytest.approx(1)
    assert matrix[2].max() == 0
    assert matrix[0, 3] == 0


@pytest.mark.parametrize(
    ("series", "expected"),
    [([0, 0, 0, 0.9, 0.9], 3), ([0.1, 0.8], 1), ([0.3, 0.4, 0.35], None), ([0.9, 0.9, 0], None), ([0.5], None)],
)
def test_the_change_point_is_where_drift_rises(series: list[float], expected: int | None) -> None:
    assert change_point(series) == expected


@pytest.mark.parametrize(
    ("series", "score", "kind"),
    [
        ([0.0, 0.1, 0.2], 0.1, "none"),
        ([0.1, 0.1, 0.9, 0.9], 0.9, "tangent"),
        ([0.1, 0.1, 0.5, 0.5], 0.5, "scope_creep"),
        ([0.8, 0.8, 0.8], 0.8, "wrong_problem"),
        ([0.1, 0.8, 0.1, 0.1], 0.275, "recovery"),
        ([None, 0.0, None, 0.9], 0.9, "tangent"),
    ],
)
def test_kinds_of_drift(series: list[float | None], score: float, kind: str) -> None:
    found = drift_of(series)
    assert found.type == kind
    assert found.score == pytest.approx(score)


def test_the_change_point_counts_all_interactions() -> None:
    assert drift_of([None, 0.0, None, 0.9]).change_point == 3


def test_nothing_measured_is_no_drift_score() -> None:
    assert drift_of([None, None]).score is None


def test_work_about_something_else_drifts_and_work_that_leads_on_does_not() -> None:
    churn = lexical_drift(example("churn-question"), MEASURE)
    assert (churn.type, churn.change_point) == ("tangent", 2)
    assert churn.score is not None
    assert churn.score > 0.8
    incident = lexical_drift(example("incident-checkout"), MEASURE)
    assert incident.score is not None
    assert incident.score < 0.5


def test_following_a_user_to_another_subject_is_no_drift() -> None:
    trajectory = session(
        turn("Book a train to Hanoi", part("a", "The train to Hanoi is booked")),
        turn("Now write a poem about roses", part("a", "A poem about roses: red roses bloom")),
        initial_task="Book a train to Hanoi",
    )
    values = [value for value in lexical_drift(trajectory, MEASURE).values if value is not None]
    assert max(values) < 0.5
