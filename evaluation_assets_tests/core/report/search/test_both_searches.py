"""The search of the page of runs and that of the terminal read a query alike: conditions, phrases and words."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluation_assets.core.report.search.run_conditions import query_of
from evaluation_assets.core.report.viewer.script import module
from evaluation_assets_tests.browser import chromium

if TYPE_CHECKING:
    from playwright.sync_api import Page

KINDS = ["ignored_error", "loop"]
TOOLS = ["browser_Search", "Straßen suche", "call\u0301"]
ROW = {"passed": None, "success": False, "tools": TOOLS, "words": {"finding": KINDS}}
READ = "given.queries.map(parsed).map(({ matches, words }) => [matches(given.row), words])"

Read = tuple[bool, list[str]]


@pytest.fixture(scope="module")
def page() -> Iterator["Page"]:
    with chromium() as browser:
        yield browser.new_page()


def on_the_page(page: "Page", *queries: str) -> list[Read]:
    """Whether the run meets the conditions of each query, and its words."""
    read = page.evaluate(f"(given) => {{ {module('query')}\n return {READ}; }}", {"queries": queries, "row": ROW})
    return [(matches, words) for matches, words in read]


def on_the_terminal(query: str) -> Read:
    read = query_of(query)
    return all(each.holds(KINDS, False, TOOLS) for each in read.conditions), list(read.terms)


@pytest.mark.parametrize(
    ("query", "matches", "words"),
    [
        ("finding:loop", True, []),
        ("finding:LOOP -finding:refusal", True, []),
        ("finding:loo", False, []),
        ('finding:"ignored_error"', True, []),
        ("-finding:loop timeout", False, ["timeout"]),
        ("outcome:fail", True, []),
        ("outcome:Pass", False, []),
        ("-outcome:unknown", True, []),
        ("tool:search", True, []),
        ("tool:hotels", False, []),
        ('tool:"straßen suche"', True, []),
        ("tool:STRASSEN", True, []),
        ("tool:CALL\u00cd", False, []),
        ("tool:cal\u013a", True, []),
        ("tool:CALL\u0301", True, []),
        ('tool:""', True, []),
        ('tool:"search', True, []),
        ('tool:sea"rch"', True, []),
        ("tool: search", True, ["tool:", "search"]),
        ("TOOL:search", True, ["tool:search"]),
        ("--tool:search", True, ["--tool:search"]),
        ("mytool:search", True, ["mytool:search"]),
        ('"tool:search"', True, ["tool:search"]),
        ('"no such file" Retry', True, ["no such file", "retry"]),
        ('un"closed phrase', True, ["unclosed", "phrase"]),
        ('a"b c"', True, ["ab", "c"]),
        ('-"no such"', True, ["-no", "such"]),
        ('"" x', True, ["x"]),
        ("http://x.y", True, ["http://x.y"]),
        ("constructor:x toString:unknown", True, ["constructor:x", "tostring:unknown"]),
        ("ΣΟΦΟΣ σοφος Straße", True, ["σοφοσ", "σοφοσ", "strasse"]),
        ("Cafe\u0301 ＦＵＬＬ ﬁ", True, ["caf\u00e9", "full", "fi"]),
    ],
)
def test_a_query_is_read_alike(page: "Page", query: str, matches: bool, words: list[str]) -> None:
    assert on_the_terminal(query) == (matches, words)
    assert on_the_page(page, query) == [(matches, words)]


_PIECES = ["finding:", "tool:", "outcome:", "-", '"', " ", "loop", "fail", "Suche", "ß", ":", "x", "Σ", "constructor:"]


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(queries=st.lists(st.lists(st.sampled_from(_PIECES), max_size=8).map("".join), min_size=20, max_size=60))
def test_any_query_is_read_alike(page: "Page", queries: list[str]) -> None:
    assert on_the_page(page, *queries) == [on_the_terminal(query) for query in queries]
