"""Options that a call takes in the place of the one that is spoken of."""

import pytest

from evaluation_assets.core.sections.findings.detectors.options import DETECTOR
from evaluation_assets_tests.core.sections.findings.finding import asked, found, run
from evaluation_assets_tests.core.sections.sessions.making import call

READ = call("get_trip", '{"cabin": "business", "fare": {"cabin": "economy"}, "insured": "yes"}', trip="T1")


@pytest.mark.parametrize(
    ("cabin", "answer", "is_wrong"),
    [
        ("business", "The trip is in economy now.", True),
        ("economy", "The trip is in economy now.", False),
        ("business", "The trip was changed from business to economy.", False),
        ("business", "It is done.", False),
        ("first_class", "The trip is in economy now.", True),
    ],
)
def test_a_call_takes_another_option_than_the_agent_says(cabin: str, answer: str, *, is_wrong: bool) -> None:
    trajectory = run(asked("Change it to economy.", READ, call("update_trip", "done", cabin=cabin), answer=answer))
    assert found(DETECTOR, trajectory) == ([("contradicted_argument", cabin)] if is_wrong else [])


def test_what_nobody_asked_for_before_the_call_is_no_option() -> None:
    made = call("update_trip", "done", cabin="business")
    assert found(DETECTOR, run(asked("Change it.", READ, made, answer="It is no longer in economy."))) == []


def test_a_lookup_and_a_failed_call_may_have_any_option() -> None:
    for made in (call("get_fares", "none", cabin="business"), call("update_trip", error="locked", cabin="business")):
        assert found(DETECTOR, run(asked("In economy?", READ, made, answer="There is none in economy."))) == []


def test_yes_is_said_of_other_things_too() -> None:
    made = call("update_trip", "done", insured="no")
    assert found(DETECTOR, run(asked("Yes, do it.", READ, made, answer="Yes, it is done."))) == []
