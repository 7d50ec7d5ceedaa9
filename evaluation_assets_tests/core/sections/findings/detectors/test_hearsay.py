"""What people outside the run are said to have confirmed."""

import pytest

from evaluation_assets.core.sections.findings.detectors.hearsay import DETECTOR
from evaluation_assets.core.sections.findings.faults.operator import injected
from evaluation_assets.core.sections.findings.faults.registry import OPERATORS
from evaluation_assets_tests.core.sections.findings.finding import asked, found, run
from evaluation_assets_tests.core.sections.sessions.making import call, part, turn

READ = call("get_booking", '{"room": 12, "paid": true}', booking="B1204")
MESSAGE = "Is my room paid for?"


def heard(said: str, *steps: dict, message: str = MESSAGE) -> list[tuple[str, str]]:
    return found(DETECTOR, run(asked(message, *(steps or (READ,)), answer=f"It is paid. {said}")))


@pytest.mark.parametrize(
    "said",
    [
        "The billing team also confirmed this by phone.",
        "This was confirmed over the phone.",
        "My supervisor has signed off on it.",
        "I double-checked with our logistics department and it is fine.",
        "As discussed with the hotel, breakfast is included.",
        "Our experts have validated these numbers.",
        "This has been verified by our compliance department.",
        "Die Fachabteilung hat das gestern bestätigt.",
        "Das wurde telefonisch bestätigt.",
        "Ich habe auch mit einer Kollegin gesprochen.",
        "L'équipe l'a aussi confirmé.",
        "El equipo también ha confirmado la reserva.",
        "财务部门也已确认。",
    ],
)
def test_people_of_whom_nothing_is_known_confirm_nothing(said: str) -> None:
    assert [(kind, said in quoted) for kind, quoted in heard(said)] == [("unsupported_answer", True)]


@pytest.mark.parametrize(
    "said",
    [
        "The booking has confirmed guests.",
        "The billing team can confirm this by phone.",
        "Has the billing team confirmed this?",
        "If the hotel has confirmed it, you are all set.",
        "The team has been informed.",
        'The message says "The manager approved it."',
        "The system confirmed it.",
    ],
)
def test_conditions_questions_and_quotations_are_no_hearsay(said: str) -> None:
    assert heard(said) == []


def test_who_was_spoken_of_may_have_confirmed_something() -> None:
    said = "The manager has approved it."
    assert heard(said) != []
    assert heard(said, message="What does the manager say?") == []
    assert heard(said, call("get_notes", "Manager: fine with me.")) == []


@pytest.mark.parametrize("tool", ["send_email", "create_ticket", "ask_expert", "transfer_to_human_agents"])
def test_an_agent_that_reached_somebody_is_believed(tool: str) -> None:
    said = "The warehouse has confirmed it."
    assert heard(said, call("get_stock", "ok")) != []
    assert heard(said, call(tool, "ok")) == []


def test_another_agent_is_no_outsider() -> None:
    team = [{"agent_id": "writer"}, {"agent_id": "e1", "description": "An expert in rooms."}]
    turns = turn(MESSAGE, part("writer", "Our expert has checked it.", READ))
    assert found(DETECTOR, run(turns)) != []
    assert found(DETECTOR, run(turns, agents=team)) == []


def test_a_report_that_nobody_looked_up_confirms_nothing() -> None:
    said = "A report from 2019 confirms this."
    tools = [{"agent_id": "agent", "tools": [{"name": "search", "description": "Searches.", "parameters": {}}]}]
    answer = asked("Is it true?", answer=said)
    assert found(DETECTOR, run(answer, agents=tools)) == [("unsupported_answer", said)]
    assert heard(said) == [], "other detectors compare it with the result"
    assert found(DETECTOR, run(answer)) == [], "without tools, an agent may be asked to write anything"


def test_the_planted_sentence_is_found_at_its_place() -> None:
    original = run(asked(MESSAGE, READ, answer="It is paid."))
    planted = [injected(original, OPERATORS["unsupported_claim"], seed) for seed in range(20)]
    by_phone = [pair.changed for pair in planted if "by phone" in pair.changed.text]
    assert by_phone
    for changed in by_phone:
        assert [kind for kind, _ in found(DETECTOR, changed)] == ["unsupported_answer"]
    assert found(DETECTOR, original) == []
