"""The formulas, each with all its parts and without some."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.sections.sessions.session_scores import (
    AGENT_WEIGHTS,
    SESSION_WEIGHTS,
    Components,
    Detection,
    agent_score,
    capped,
    counts,
    detection,
    is_frequent,
    session_score,
    turn_score,
    weighted,
)
from evaluation_assets.core.text.nullable import mean_of

SHARES = st.none() | st.floats(0, 1)


def test_the_session_formula_with_all_parts() -> None:
    found = session_score(conversation=0.8, tool_use=0.9, coordination=0.7, reasoning=0.6, intent_drift=0.1)
    assert found.value == pytest.approx(0.30 * 0.8 + 0.25 * 0.9 + 0.20 * 0.7 + 0.15 * 0.6 + 0.10 * 0.9)
    assert found.parts == ("conversation", "tool_use", "coordination", "reasoning", "on_task")


def test_without_tools_and_reasoning_the_other_weights_are_scaled_to_one() -> None:
    found = session_score(conversation=0.8, tool_use=None, coordination=0.7, reasoning=None, intent_drift=0.1)
    assert found.value == pytest.approx((0.30 * 0.8 + 0.20 * 0.7 + 0.10 * 0.9) / 0.60)
    assert found.parts == ("conversation", "coordination", "on_task")


def test_one_part_is_the_score_and_none_is_no_score() -> None:
    assert session_score(
        conversation=None, tool_use=0.4, coordination=None, reasoning=None, intent_drift=None
    ).value == pytest.approx(0.4)
    nothing = session_score(conversation=None, tool_use=None, coordination=None, reasoning=None, intent_drift=None)
    assert (nothing.value, nothing.parts) == (None, ())


def test_the_agent_formula_with_all_parts_and_without_handoff_and_reasoning() -> None:
    whole = agent_score(Components(tool_use=0.95, reasoning=0.90, handoff=0.88, response_quality=0.9))
    assert whole.value == pytest.approx(0.35 * 0.95 + 0.25 * 0.90 + 0.20 * 0.88 + 0.20 * 0.9)
    last = agent_score(Components(tool_use=0.92, reasoning=None, handoff=None, response_quality=0.8))
    assert last.value == pytest.approx((0.35 * 0.92 + 0.20 * 0.8) / 0.55)
    assert last.parts == ("tool_use", "response_quality")


def test_weights_sum_to_one() -> None:
    assert sum(SESSION_WEIGHTS.values()) == pytest.approx(1)
    assert sum(AGENT_WEIGHTS.values()) == pytest.approx(1)


@given(st.fixed_dictionaries(dict.fromkeys(SESSION_WEIGHTS, SHARES)))
def test_a_weighted_mean_lies_between_its_parts(parts: dict[str, float | None]) -> None:
    found = weighted(parts, SESSION_WEIGHTS)
    known = [value for value in parts.values() if value is not None]
    if found.value is None:
        assert not known
    else:
        assert min(known) - 1e-9 <= found.value <= max(known) + 1e-9


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ((0.1, 0.1, 0.1, 0.1), Detection(True, "rdm", 0.9)),
        ((0.8, 0.2, 0.1, 0.1), Detection(True, "ccm", 0.8)),
        ((None, 0.8, 0.3, 0.1), Detection(True, "hallucination", 0.7)),
        ((None, None, None, 0.4), Detection(True, "llm_judge", 0.6)),
        ((0.9, 0.8, None, 0.7), Detection(False, "none", 0.7)),
        ((None, None, None, 0.5), Detection(False, "none", 0.5)),
        ((None, None, None, None), Detection(None, "none", None)),
    ],
)
def test_the_first_bad_one_wins_and_nothing_judged_is_neither_good_nor_bad(
    scores: tuple[float | None, ...], expected: Detection
) -> None:
    satisfaction, settled, faithfulness, progress = scores
    found = detection(satisfaction=satisfaction, settled=settled, faithfulness=faithfulness, progress=progress)
    assert (found.is_bad, found.type) == (expected.is_bad, expected.type)
    assert found.confidence == (None if expected.confidence is None else pytest.approx(expected.confidence))


def test_counts_have_a_bucket_for_everything_and_add_up() -> None:
    found = [
        Detection(True, "rdm", 0.9),
        Detection(True, "ccm", 0.8),
        Detection(True, "hallucination", 0.7),
        Detection(True, "llm_judge", 0.6),
        Detection(False, "none", 0.7),
        Detection(None, "none", None),
    ]
    counted = counts(found)
    assert counted.total_responses == counted.good_responses + counted.bad_responses + counted.not_judged == 6
    assert counted.bad_responses == sum(
        (
            counted.rdm_detections,
            counted.ccm_detections,
            counted.hallucination_detections,
            counted.llm_judge_detections,
        )
    )
    assert counted.bad_responses == 4
    assert [turn_score(each) for each in found] == [0, 0, 0, 0, 1, None]


def test_a_missing_value_is_not_in_a_mean() -> None:
    assert mean_of([0.5, None, 1.0]) == pytest.approx(0.75)
    assert mean_of([None]) is None


@pytest.mark.parametrize(("detected", "possible", "frequent"), [(1, 5, True), (1, 6, False), (0, 0, False)])
def test_a_fifth_of_the_turns_that_could_show_it_is_frequent(detected: int, possible: int, frequent: bool) -> None:
    assert is_frequent(detected, possible) is frequent


def test_a_judged_score_is_capped_by_the_measured_one() -> None:
    assert capped(0.9, 0.5) == 0.5
    assert capped(0.4, 1.0) == 0.4
    assert (capped(None, 0.5), capped(0.4, None), capped(None, None)) == (0.5, 0.4, None)
