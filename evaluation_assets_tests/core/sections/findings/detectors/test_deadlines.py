"""What is said to be within hours or days of now."""

from dataclasses import replace

import pytest

from evaluation_assets.core.sections.findings.detectors.deadlines import DETECTOR
from evaluation_assets.core.traces.trajectories.model import Agent, Trajectory
from evaluation_assets_tests.core.sections.findings.finding import asked, found, run
from evaluation_assets_tests.core.sections.sessions.making import call

OLD = call("get_order", '{"id": "W2378156", "created_at": "2026-05-12T09:36:29", "ships_on": "2026-05-20"}')
NEW = call("get_order", '{"id": "W9999999", "created_at": "2026-05-14T23:36:29"}')
TOLD = "The current time is 2026-05-15 15:00:00 EST."


def at_noon(*steps: dict, said: str, told: str = TOLD) -> Trajectory:
    trajectory = run(asked("Cancel it.", *steps, answer=said))
    return replace(trajectory, agents=(Agent(id="agent", description=told),))


@pytest.mark.parametrize(
    "said",
    [
        "Your order was placed within the last 24 hours.",
        "As it was made on May 12, 2026, it is within the 24-hour cancellation window.",
        "It is within 2 days of your order, so it is free.",
        "It's within 24 hours of booking.",
    ],
)
def test_what_was_longer_ago_is_contradicted(said: str) -> None:
    assert found(DETECTOR, at_noon(OLD, said=said)) == [("contradicted_answer", said)]


@pytest.mark.parametrize(
    "said",
    [
        "Your order was placed within the last 7 days.",
        "Your order was placed more than 24 hours ago.",
        "Was it placed within the last 24 hours?",
        "Neither was your order placed within the last 24 hours, nor was it cancelled by us.",
        "None of your orders was placed within the last 24 hours.",
        "Had your order been placed within the last 24 hours, it would be free.",
        "It is too old to have been placed within the last 24 hours.",
        "Your payment was made within the last 24 hours.",
        "The status was updated within the last 24 hours.",
        "Your payment was received within 24 hours after booking.",
        "It is free only if it was placed within the last 24 hours.",
        "It was not placed within the last 24 hours.",
        "- It was placed within the last 24 hours,",
        "It will be refunded within 24 hours.",
        "Let me ensure that it is within the 24-hour window.",
        "It is within the 24-hour window, as it was placed on May 15.",
    ],
)
def test_rules_and_conditions_and_what_is_right_are_no_findings(said: str) -> None:
    assert found(DETECTOR, at_noon(OLD, said=said)) == []


def test_all_dates_that_it_may_be_about_have_to_be_too_old() -> None:
    said = "Order {} was placed within the last 24 hours."
    both = at_noon(OLD, NEW, said=said.format("W2378156")), at_noon(OLD, NEW, said=said.format("W9999999"))
    assert [len(found(DETECTOR, each)) for each in both] == [1, 0]
    assert found(DETECTOR, at_noon(OLD, NEW, said="It was placed within the last 24 hours.")) == []


def test_nothing_is_said_where_now_or_the_date_is_not_known() -> None:
    said = "It was placed within the last 24 hours."
    assert found(DETECTOR, at_noon(said=said)) == []
    assert found(DETECTOR, at_noon(OLD, said=said, told="Be kind.")) == []
