"""Claims of final answers in the replies of judges: only quotations that stand where they must count."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.judging.answer_claims import AnswerClaim, read_claims
from evaluation_assets.core.judging.panel import InvalidPanel, judges_of, panel_of
from evaluation_assets_tests.core.sections.sessions.making import call, part, session, turn

ANSWER = "Berth 7 is  free from Monday.\nIt costs 40 euros."
RUN = session(
    turn(
        "Which berth is free? I pay at most 50 euros.", part("agent", ANSWER, call("berths", "Berth 7: free; 45 EUR"))
    ),
)


def entry(claim: Any, verdict: Any, quote: Any = None) -> dict[str, Any]:
    return {"claim": claim, "verdict": verdict, "quote": quote}


def test_the_answer_of_the_run_is_the_one_that_is_quoted() -> None:
    assert RUN.final_answer == ANSWER


def test_claims_count_whose_quotations_stand_in_the_run() -> None:
    told = [
        entry("Berth 7 is free", "supported", "Berth 7: free"),
        entry("It costs 40 euros.", "contradicted", "45  EUR"),
        entry("from Monday", "not_found", "made up, and not looked at"),
        entry("I pay at most", "supported", "Berth 7"),
    ]
    claims, notes = read_claims(told, RUN)
    assert claims == (
        AnswerClaim("Berth 7 is free", "supported", "Berth 7: free"),
        AnswerClaim("It costs 40 euros.", "contradicted", "45  EUR"),
        AnswerClaim("from Monday", "not_found", None),
    )
    assert notes == ("Ignored: 1 claim whose quotations do not stand in the run.",)


FORM, QUOTES = "not of the form that was asked for", "whose quotations do not stand in the run"


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (entry("Berth 8 is free", "supported", "Berth 7: free"), QUOTES),
        (entry("Berth 7 is free", "supported", "Berth 8: free"), QUOTES),
        (entry("Berth 7 is free", "supported", "Berth 7 is  free from Monday"), QUOTES),
        (entry("Berth 7 is free", "supported", None), FORM),
        (entry("Berth 7 is free", "supported", "  "), QUOTES),
        (entry("", "not_found"), QUOTES),
        (entry("Berth 7 is free", "Supported", "Berth 7: free"), FORM),
        (entry(7, "not_found"), FORM),
        ("Berth 7 is free", FORM),
        (entry("It costs 40 euros.", "supported", "0 euros"), QUOTES),
        (entry("e", "supported", "Berth 7: free"), QUOTES),
        (entry("It costs 4", "not_found"), QUOTES),
    ],
    ids=["no claim", "no quotation", "by the answer itself", "none", "empty", "nothing", "verdict", "number", "text",
         "half a number shows", "a letter", "half a number is claimed"],
)  # fmt: skip
def test_what_is_not_quoted_is_no_claim(wrong: Any, why: str) -> None:
    assert read_claims([wrong], RUN) == ((), (f"Ignored: 1 claim {why}.",))


def test_of_claims_that_are_listed_again_the_first_counts() -> None:
    told = [entry("Berth 7 is free", "not_found"), entry("Berth  7 is free", "contradicted", "Berth 7: free")]
    assert read_claims(told, RUN) == (
        (AnswerClaim("Berth 7 is free", "not_found", None),),
        ("Ignored: 1 claim listed before.",),
    )


def test_scripts_without_spaces_are_quoted_anywhere() -> None:
    run = session(turn("7号泊位是否空闲?", part("agent", "7号泊位空闲,每天45欧元。", call("berths", "空闲45欧元"))))
    told = [entry("泊位空闲", "supported", "空闲"), entry("45欧元", "supported", "45欧元")]
    assert [claim.claim for claim in read_claims(told, run)[0] or ()] == ["泊位空闲", "45欧元"]


def test_a_user_shows_a_claim_and_a_list_has_an_end() -> None:
    user = entry("40 euros", "contradicted", "at most 50 euros")
    assert [claim.quote for claim in read_claims([user], RUN)[0] or ()] == ["at most 50 euros"]
    claims, notes = read_claims([user] * 50, RUN)
    assert len(claims or ()) == 1
    assert notes == ("Ignored: 19 claims listed before.", "Ignored: 30 claims after the first 20.")


@pytest.mark.parametrize("value", [None, "none", {"claim": "Berth 7 is free"}])
def test_a_reply_without_a_list_has_no_claims_rather_than_none_at_all(value: Any) -> None:
    assert read_claims(value, RUN) == (None, ("The reply has no list of claims.",))


def test_an_answer_is_also_quoted_as_the_last_message_has_it() -> None:
    recorded = replace(RUN, final_answer="Berth 7, 40 euros")
    for words in ("Berth 7, 40 euros", "It costs 40 euros."):
        claims, _ = read_claims([entry(words, "not_found")], recorded)
        assert [claim.claim for claim in claims or ()] == [words]


VALUES = st.none() | st.booleans() | st.integers() | st.text()
FIELDS = st.sampled_from(["claim", "verdict", "quote"])


@given(st.recursive(VALUES, lambda inner: st.lists(inner) | st.dictionaries(FIELDS, inner)))
def test_any_json_gives_claims_that_are_quoted(value: Any) -> None:
    for claim in read_claims(value, RUN)[0] or ():
        assert " ".join(claim.claim.split()) in " ".join(ANSWER.split())


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"provider": "rules"}, "is not asked anything; remove claims"),
        ({"provider": "openai", "levels": ["clip"]}, "add the level trajectory"),
    ],
)
def test_judges_that_cannot_be_asked_for_claims_are_refused(fields: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidPanel, match=said):
        panel_of({"judges": [{"name": "one", "claims": True, **fields}]}, "panel.yaml")


def test_asking_for_claims_is_part_of_the_comparability_key() -> None:
    (judge,) = judges_of(
        panel_of({"judges": [{"name": "one", "provider": "openai", "claims": True}]}, "test"), "sqlite://"
    )
    assert judge.selection.described() == "claims 2"
    assert judge.selection.in_words == "claims of the final answer"
    assert judge.selection.described(("clip",)) == ""
