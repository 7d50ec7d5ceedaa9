"""Values that are compared whatever their notation."""

import pytest

from evaluation_assets.core.sections.findings.evidence.given import Texts
from evaluation_assets.core.sections.findings.evidence.values import misreadings, values_in


@pytest.mark.parametrize(
    ("written", "given"),
    [
        ("May 20, 2024", "2024-05-20"),
        ("20. Mai 2024", "2024-05-20"),
        ("le 20 mai 2024", "20/05/2024"),
        ("20 de mayo de 2024", "2024-05-20"),
        ("2024年5月20日", "5月20日"),
        ("May 20th", "2024-05-20T10:30:00Z"),
        ("on May **20**, **2024**", "2024-05-20"),
        ("**20** May 2024", "2024-05-20"),
        ("May\u00a020, 2024", "2024-05-20"),
        ("$1,155", r'{"text": "Price:\n1155\tUSD"}'),
        ("6:00 PM", '{"time": "18:00:00"}'),
        ("$3,538.00", '{"price": 3538}'),
        ("1.234,50 €", "1234.5"),
        ("order W2378156", "#W2378156"),
        ("the card ending in 7803", "credit_card_7803"),
        ("gift card_7359776", "gift_card_7359776"),
        ("in 2024", "2024-05-20"),
        ("总价是1,250元", "1250"),
        ("총액은1,250원", '{"total": 1250}'),
        ("ราคา1250บาท", "1,250"),
        ("Das macht 1 250,50 Euro.", "1250.5"),
        ("Il y en a 1 250 en stock.", '{"count": 1250}'),
        ("€1,250.50", "Prix : 1 250,50 €"),
        ("125 300 475", "seats 125, 300 and 475"),
        ("Die Quote beträgt 25,5 %.", '{"rate": 0.255}'),
        ("rate 0.255", "25.5 percent"),
        ("가격은 1만2500원입니다.", "12500"),
        ("人口是1250万。", "12500000"),
        ("125 Tsd. Einwohner", "125000"),
        ("2.5 million people", "2500000"),
        ("45.3k followers", "45300"),
        ("DE89 3704 0044 0532 0130 00", '{"iban": "DE89370400440532013000"}'),
        ("card 4111 1111 1111 1111", "4111111111111111"),
        ("um 14h30", "14:30"),
        ("下午2点30分", "14:30"),
        ("15.40 Uhr", "15:40"),
        ("Am 25. Jänner 2026.", "2026-01-25"),
        ("2026-03-05", "day 20260305"),
        ("after 11:00 AM", "not before 11am, please"),
        ("longer than 42", "at least 42mm"),
        ("March 5, 2026", '{"created": 1772668800}'),
        ("March 5, 2026", "on March 5"),
        ("March 5", "2026-03-05"),
    ],
)
def test_a_value_is_found_in_another_notation(written: str, given: str) -> None:
    texts = Texts()
    texts.add(given)
    index = texts.given_to(0)
    values = list(values_in(written))
    assert values
    assert all(index.holds(value) for value in values)


@pytest.mark.parametrize(
    ("written", "given"),
    [
        ("May 21, 2024", "2024-05-20"),
        ("May 20, 2023", "May 20, which is 2024-05-20"),
        ("6:00 AM", "6:00 PM"),
        ("$241", "$214"),
        ("W2378165", "W2378156"),
        ("1 350,50 €", "1250.5"),
        ("24.5%", "0.255"),
    ],
)
def test_another_value_is_not_found_and_may_be_a_misreading(written: str, given: str) -> None:
    texts = Texts()
    texts.add(given)
    index = texts.given_to(0)
    (value,) = values_in(written)
    assert not index.holds(value)
    assert index.holds_nearly(value)


def test_words_with_digits_that_are_no_codes_have_no_value() -> None:
    assert [value.kind for value in values_in("the 3rd of 50kg, in a B2, by 10min")] == []
    assert list(values_in("no digits at all")) == []


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("I set 20 alarms.", ["number"]),
        ("20 out of 30", ["number", "number"]),
        ("the whole set\n6 of them", ["number"]),
        ("am 3 set 2026, 12 out 2026", ["date", "date"]),
        ("5 de agosto de 2026 and Sept. 3", ["date", "date"]),
        ("Mayo 25, agosto 7", ["date", "date"]),
    ],
)
def test_words_of_english_that_are_months_elsewhere_make_no_date(text: str, kinds: list[str]) -> None:
    assert [value.kind for value in values_in(text)] == kinds


def test_a_number_below_one_has_no_thousands() -> None:
    (value,) = values_in("0.744")
    assert value.forms == ("0.744",)


def test_a_misreading_differs_in_one_place() -> None:
    assert {"13", "21", "2", "112", "1"} <= set(misreadings("12"))
    assert "12" not in set(misreadings("12"))
