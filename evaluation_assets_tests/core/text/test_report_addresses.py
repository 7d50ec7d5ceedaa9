"""Addresses in reports, read back as the viewer reads them."""

from urllib.parse import parse_qs, unquote

from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.text.report_addresses import ReportAddress, condition, runs_place, trajectory_place

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


@given(TEXTS, st.none() | st.integers(0, 99))
def test_a_trajectory_is_one_part_of_its_address(trajectory_id: str, clip: int | None) -> None:
    path, _, query = trajectory_place(trajectory_id, clip).partition("?")
    root, view, argument = path.split("/")
    assert (root, view, unquote(argument)) == ("#", "run", trajectory_id)
    assert query == ("" if clip is None else f"clip={clip}")


@given(TEXTS)
def test_a_query_comes_back_as_it_was(query: str) -> None:
    place = runs_place(query)
    assert place.startswith("#/runs?")
    assert parse_qs(place.removeprefix("#/runs?"), keep_blank_values=True) == {"q": [query]}


def test_a_condition_holds_names_with_spaces_and_no_quotation_marks() -> None:
    assert condition("tool", "look up") == 'tool:"look up"'
    assert condition("tool", 'a"b') == 'tool:"ab"'


def test_an_address_is_relative_without_a_url() -> None:
    assert ReportAddress.of(None, "d").section("gate") == "report.html#gate"
    assert not ReportAddress.of(None, "d").is_url
    served = ReportAddress.of("https://example.com/reports", "team/a b")
    assert served.is_url
    assert served.task("x/y") == "https://example.com/reports/team/a%20b/report.html#/compare/x%2Fy"
    assert served.runs("outcome:fail") == "https://example.com/reports/team/a%20b/report.html#/runs?q=outcome%3Afail"
