"""Claims of agents, each with a verdict."""

from evaluation_assets.core.sections.findings.detecting import detected, detected_and_claimed
from evaluation_assets.core.sections.findings.finding_rows import claim_rows
from evaluation_assets_tests.core.sections.findings.finding import asked, run
from evaluation_assets_tests.core.sections.sessions.making import call

RESULT = '{"order_id": "W2378156", "price": 241.0, "sent": "2024-05-20"}'
ANSWER = (
    "Order W2378156 was sent on May 20. It costs $214. The museum was founded in 1887. I have cancelled your order. "
    "W2378156 was sent in 1887. Do you want W2378156?"
)


def test_each_claim_of_an_answer_has_a_verdict() -> None:
    _, claims = detected_and_claimed(run(asked("Where is it?", call("get_order", RESULT), answer=ANSWER)))
    assert [(claim.verdict, claim.text) for claim in claims] == [
        ("supported", "Order W2378156 was sent on May 20."),
        ("contradicted", "It costs $214."),
        ("not_found", "The museum was founded in 1887."),
        ("not_found", "I have cancelled your order."),
        ("not_found", "W2378156 was sent in 1887."),
    ]


def test_a_claim_that_a_call_does_is_supported_and_stands_at_its_place() -> None:
    read, cancel = call("get_order", RESULT), call("cancel_order", "{}", id="W2378156")
    trajectory = run(asked("Cancel it.", read, cancel, answer="I have cancelled W2378156."), asked("Thanks."))
    _, claims = detected_and_claimed(trajectory)
    (row,) = claim_rows("d", trajectory, claims)
    assert (row["verdict"], row["turn"], row["agent_id"]) == ("supported", 0, "agent")


def test_no_claim_is_found_where_nothing_can_be_checked() -> None:
    assert detected_and_claimed(run(asked("When was it founded?", answer="In 1887.")))[1] == []


def test_claims_take_nothing_from_findings() -> None:
    trajectory = run(asked("Where is it?", call("get_order", RESULT), answer=ANSWER))
    findings, claims = detected_and_claimed(trajectory)
    assert findings == detected(trajectory)
    wrong = {claim.text for claim in claims if claim.verdict != "supported"}
    assert {finding.evidence for finding in findings} == wrong - {"W2378156 was sent in 1887."}, "once is enough"
