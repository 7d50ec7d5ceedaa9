"""What agents take a user for, and the user's record."""

import pytest

from evaluation_assets.core.sections.findings.detectors.attributes import DETECTOR
from evaluation_assets_tests.core.sections.findings.finding import asked, found, run
from evaluation_assets_tests.core.sections.sessions.making import call

POLICY = (
    "Gold members get a certificate, regular members get none. Mitglied: Gold-Member, Regular-Member. Statut membre"
    " gold ou membre regular. Membro gold, membro regular. Premium plan and free plan."
)
AGENTS = [{"id": "agent", "role": POLICY}]
PROFILE = call("get_user", '{"name": {"first": "Ann"}, "membership": "regular", "city": "Rome"}', id="u1")


def said(answer: str, *calls: dict, message: str = "I am a gold member.") -> list[tuple[str, str]]:
    """What is found in an answer after the record of a regular member was read."""
    return found(DETECTOR, run(asked(message, *(calls or (PROFILE,)), answer=answer), agents=AGENTS))


@pytest.mark.parametrize(
    "answer",
    [
        "Since you are a Gold member, I can offer a certificate.",
        "As a gold member, you get a certificate.",
        "You're a Gold member and get a certificate.",
        "Sie sind Gold-Member und erhalten einen Gutschein.",
        "Vous êtes membre Gold et recevez un bon.",
        "Você é membro gold e recebe um vale.",
        "Lei è membro gold e riceve un buono.",
    ],
)
def test_to_take_a_user_for_what_the_record_does_not_have_is_contradicted(answer: str) -> None:
    assert said(answer) == [("contradicted_answer", answer)]


@pytest.mark.parametrize(
    "answer",
    [
        "As a regular member, you get none.",
        "If you are a Gold member, you get a certificate.",
        "As a gold member, you would get a certificate.",
        "You said that you are a Gold member.",
        "Are you a Gold member?",
        "You are not a gold member.",
        "You are a valued member.",
        "As a loyal member, you get our thanks.",
        "Gold members get a certificate.",
        "You are a gold customer.",
    ],
)
def test_what_is_true_supposed_or_about_others_contradicts_nothing(answer: str) -> None:
    assert said(answer) == []


def test_before_a_record_is_read_or_with_two_records_nothing_is_known() -> None:
    answer = "Since you are a Gold member, I can offer a certificate."
    other = call("get_user", '{"membership": "gold"}', id="u2")
    assert said(answer, PROFILE, other) == []
    assert said(answer, call("get_user", error="not found", id="u1")) == []
    assert said(answer, call("get_user", '{"tier": "regular"}', id="u1")) == []


def test_a_value_that_nobody_speaks_of_is_no_value_of_the_field() -> None:
    profile = call("get_user", '{"plan": "free"}', id="u1")
    assert said("As a premium plan user, you get it.", profile) == [
        ("contradicted_answer", "As a premium plan user, you get it.")
    ]
    assert said("As a payment plan user, you get it.", profile) == []
