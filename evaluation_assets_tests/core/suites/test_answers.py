"""Answers against the reference answer."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.suites.answers import AnswerOutcome, compare_answer
from evaluation_assets.core.suites.suite import ReferenceAnswer


@pytest.mark.parametrize(
    ("reference", "answer", "outcome"),
    [
        ("11614.72", " 11614.72\n", "exact"),
        ("11614.72", "$11,614.72", "normalised"),
        ("11614.72", "11 614.72 USD", "normalised"),
        ("11614.72", r"So it is \boxed{\$11,614.72}.", "normalised"),
        ("-5", "-$5.00", "normalised"),
        ("3.61e-19", "3.610E-19", "normalised"),
        ("2", "2.", "normalised"),
        ("New York", "new  york", "normalised"),
        (r"\frac{1}{2}", r"\boxed{\frac{1}{2}}", "normalised"),
        ("Paris", "**Paris.**", "normalised"),
        ("1.5 GB", "1.5GB", "normalised"),
        ("1250.5", "1.250,50 €", "normalised"),
        ("1250.5", "Die Summe beträgt 1.250,50 €.", "number_in_text"),
        ("1250", "1,250", "normalised"),
        ("1.25", "1,25", "normalised"),
        ("12", "答案是12。", "number_in_text"),
        ("12", "答えは12です。", "number_in_text"),
        ("12", "12月です。", "different"),
        ("$40", "€40", "different"),
        ("40 EUR", "€40", "normalised"),
        ("42", "43", "different"),
        ("42", "", "missing"),
        ("42", None, "missing"),
        ("42", "NOT_FOUND", "not_found"),
        ("42", r"\boxed{NOT_FOUND}", "not_found"),
        ("NOT_FOUND", "NOT_FOUND", "exact"),
        ("NOT_FOUND", r"\boxed{NOT_FOUND}", "normalised"),
        ("NOT_FOUND", "not_found.", "normalised"),
        ("72", "The answer is 72, in total, from 3 ovens.", "number_in_text"),
        ("72", "The answer is 72 million.", "different"),
        ("72000000", "The answer is 72 million.", "number_in_text"),
        ("72", "The answer is not 72.", "different"),
        ("72", "72 is wrong; I could not compute it.", "different"),
        ("72", "It isn't the sum, but the answer is 72.", "number_in_text"),
        ("72", "There are 3 ovens, so the answer is **72**.", "number_in_text"),
        ("72", "48 + 24\n#### 72", "number_in_text"),
        ("72", "The answer is based on 3 ovens: 72.", "different"),
        ("72", "It is 71 or 72.", "different"),
        ("60%", "ANSWER: 60%", "number_in_text"),
        ("60%", "ANSWER: 60", "different"),
        ("60", "It is 60%", "different"),
        ("20%", "20% of the 100 parcels", "number_in_text"),
        ("1250000", "There were 1,250,000 people.", "number_in_text"),
        ("1250000", "There were $1,250,000.", "number_in_text"),
        ("1.5", "It took 1.50 s", "number_in_text"),
        ("5", "-5 degrees", "different"),
        ("5", "minus 5 degrees", "different"),
        ("-5", "minus 5 degrees", "number_in_text"),
        ("10", "100 bolts", "different"),
        ("9007199254740992", "It is 9007199254740993.", "different"),
        ("2", "It is version 1.2.3 of 2024-02-03 at 10:02.", "different"),
        ("2", "model-2 and B2", "different"),
        ("2", "print(2)", "different"),
        ("2", "between 1-2 days", "different"),
        ("1,2", "12", "different"),
        ("0.5", ".50", "normalised"),
        ("0", "-0.00", "normalised"),
    ],
)
def test_answers_compare_exactly_first_then_normalised(reference: str, answer: str | None, outcome: str) -> None:
    assert compare_answer(ReferenceAnswer(value=reference), answer) == outcome


def test_an_answer_can_be_held_to_its_exact_text_or_given_tolerance() -> None:
    assert compare_answer(ReferenceAnswer(value="42", compare="exact"), "42.0") == "different"
    assert compare_answer(ReferenceAnswer(value="42", compare="exact"), "It is 42") == "different"
    assert compare_answer(ReferenceAnswer(value="3.14", tolerance=0.01), "It is about 3.149 m") == "within_tolerance"
    assert compare_answer(ReferenceAnswer(value="3.14", tolerance=0.01), "3.149") == "within_tolerance"
    assert compare_answer(ReferenceAnswer(value="3.14", tolerance=0.01), "3.16") == "different"


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_can_be_compared(reference: str, answer: str) -> None:
    same = compare_answer(ReferenceAnswer(value=reference), reference)
    assert same == ("exact" if reference.strip() else "missing")
    assert compare_answer(ReferenceAnswer(value=reference), answer) in get_args(AnswerOutcome)
