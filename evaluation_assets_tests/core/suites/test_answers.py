"""Answers against the reference answer."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.suites.answers import AnswerOutcome, agreement, compare_answer, given_in
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


@pytest.mark.parametrize(
    ("reference", "given_value", "shown"),
    [
        ("30", "It is 28.", "It is 28."),
        ("30", r"Therefore \boxed{28}.", "28"),
        ("Paris", "FINAL ANSWER: Lyon\nGoodbye", "Lyon"),
        (
            "30",
            f"{'All steps were checked. ' * 9}There are 28 stops.{' Let us end here. 1. Thanks.' * 2}",
            "There are 28 stops.",
        ),
        (
            "Paris",
            f"{'All steps were checked. ' * 9}The city is **Lyon**. Please end the conversation.",
            "The city is **Lyon**.",
        ),
        ("Paris", f"a{'b' * 200}c", f"a{'b' * 98}…{'b' * 59}c"),
        ("Paris", f"{'All steps were checked. ' * 9}The city is:\n\n**Lyon**\n\nLet us end here.", "**Lyon**"),
        ("Paris", "Next we look it up.\n```python\nprint('city')\n```", None),
        ("30", f"{'All steps were checked. ' * 9}Run this:\n```\nprint(28)\n```", None),
        ("Paris", f"{'All steps were checked. ' * 9}\n1. **Open the map**: find the city\nIs this right?", None),
        ("Paris", f"{'All steps were checked. ' * 9}\n**Next steps**\nLet us go on.", None),
        ("Paris", f"{'All steps were checked. ' * 9}\n- **Output**:\nWe end here.", None),
        ("Paris", "All steps were checked. " * 9, None),
    ],
)
def test_a_wrong_answer_is_shown_by_what_it_gives(reference: str, given_value: str, shown: str | None) -> None:
    assert given_in(given_value, reference) == shown


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_can_be_compared(reference: str, answer: str) -> None:
    same = compare_answer(ReferenceAnswer(value=reference), reference)
    assert same == ("exact" if reference.strip() else "missing")
    assert compare_answer(ReferenceAnswer(value=reference), answer) in get_args(AnswerOutcome)


@pytest.mark.parametrize(
    ("reference", "answer", "found"),
    [
        ("Paris", "Paris.", "equals"),
        ("CSI: Cyber", "CSI Cyber", "equals"),
        ("17,000", "17000 €", "equals"),
        ("60", "60%", "equals"),
        ("Ann Lee\nBo Chi\nCy Day", "Ann Lee, Bo Chi, Cy Day", "equals"),
        ("Georges Bizet\nBizet", "It was Georges Bizet.", "states"),
        ("3776 m", "It is 3776m high.", "states"),
        ("17,000", "It takes 17000 hours.", "states"),
        ("Paris", "We looked at Lyon and Nice. The final answer is: **Paris**.", "states"),
        ("Paris", "Die Antwort lautet Paris.", "states"),
        ("Brazil", "The Cup that they first qualified for was that of 2014, hosted in Brazil.", "states"),
        ("Never Let Me Go", "It is Never Let Me Go.", "states"),
        ("Richmond", "Richmond River", "states"),
        ("no", "No - one is in Michigan, the other is not.", "states"),
        ("yes", "The answer is yes.", "states"),
        ("yes", "No, they are in two states.", "differs"),
        ("yes", "I cannot say yes or no.", "unclear"),
        ("no", "No one knows, but yes.", "unclear"),
        ("yes", "They are the same.", "unclear"),
        ("2", "The 2 options were compared; the answer is 7.", "differs"),
        ("17", "It takes about 17,000 hours.", "differs"),
        ("17", "It takes seventeen hours.", "unclear"),
        ("0.5", "1/2", "unclear"),
        ("2", "Iteration 1 gives 5, iteration 2 gives 4.", "unclear"),
        ("Paris", "It is not Paris, it is Lyon.", "unclear"),
        ("Paris", "Es ist nicht Paris, sondern Lyon.", "unclear"),
        ("Badly Drawn Boy", "Neither Badly Drawn Boy nor Wolf Alice is known for that.", "unclear"),
        ("Badly Drawn Boy", "Both Badly Drawn Boy and Wolf Alice have that ratio.", "unclear"),
        ("Coahuila, Mexico", "Nacimiento, Coahuila, Mexico; Oklahoma; and Texas", "unclear"),
        ("Paris", "Paris, Lyon, or Nice", "unclear"),
        ("Paris", "- Lyon\n- Nice\n- Paris", "unclear"),
        ("Paris", "Is it Paris? It is Lyon.", "unclear"),
        ("Paris", "Paris was considered. The answer is Lyon.", "unclear"),
        ("Paris", "It was hard. Paris is near Lyon. It is Lyon.", "unclear"),
        ("Paris", "Lyon has more museums than Paris.", "unclear"),
        ("C", "C++", "unclear"),
        ("3776 m", "3776 mm", "unclear"),
        ("$40", "€40", "differs"),
        ("Seven Days Battles", "The battle of the seven days", "unclear"),
        ("Mount Fuji", "富士山", "unclear"),
        ("Mount Fuji", "It is Everest.", "differs"),
        ("Paris", "NOT_FOUND", "differs"),
        ("NOT_FOUND", "not_found.", "equals"),
    ],
)
def test_an_answer_in_any_words_agrees_only_where_that_can_be_told(reference: str, answer: str, found: str) -> None:
    assert agreement(reference, answer) == found
    assert agreement(reference, f"{answer}\nLet me know if you need anything else!") == found


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_answer_in_any_words_can_be_compared(reference: str, answer: str) -> None:
    assert agreement(reference, answer)
    assert not reference.strip() or agreement(reference, reference) == "equals"
