"""What results hold inside of what is put around them."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.sections.findings.evidence.results import as_read, document_of, table_of
from evaluation_assets.core.traces.trajectories.wrapped_results import text_inside

ORDER = {"id": "W21", "price": 5}


@pytest.mark.parametrize(
    ("result", "document"),
    [
        ('{"id": "W21", "price": 5}', ORDER),
        ('{"result": {"id": "W21", "price": 5}}', ORDER),
        ('{"result": "{\\"id\\": \\"W21\\", \\"price\\": 5}", "success": true}', ORDER),
        ('{"content": [{"type": "text", "text": "{\\"id\\": \\"W21\\", \\"price\\": 5}"}]}', ORDER),
        ('Result: {"id": "W21", "price": 5}', ORDER),
        ('{"id": "W21", "price": 5}\n\n[1 of 1]', ORDER),
        ("[{'id': 'W21', 'price': 5}]", [ORDER]),
        ('{"result": {"id": "W21"}, "price": 5}', {"result": {"id": "W21"}, "price": 5}),
        ("No order {W21}", None),
        ("{'id': open('x')}", None),
        ('{"result": 5}', {"result": 5}),
        ("[1]: see the list", None),
        ("", None),
    ],
)
def test_a_result_is_read_without_what_is_around_it(result: str, document: Any) -> None:
    assert document_of(result) == document


@pytest.mark.parametrize(
    ("result", "inner"),
    [
        ('{"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "isError": false}', "a\nb"),
        ('{"text": "a"}', "a"),
        ('{"result": {"a": 1}}', '{"a":1}'),
        ('{"result": null}', None),
        ('{"content": [{"type": "image"}]}', '[{"type":"image"}]'),
        ('{"output": "a", "exit_code": 0}', None),
        ('{"result": "a", "content": "b"}', None),
        ("plain", None),
    ],
)
def test_only_what_has_nothing_else_to_say_is_put_around(result: str, inner: str | None) -> None:
    assert text_inside(result) == inner


@given(st.text() | st.from_regex(r"[\\[{('\"a:,\\\\]{0,300}"))
def test_any_text_is_read(text: str) -> None:
    document_of(text)
    text_inside(text)


@pytest.mark.parametrize(
    "text",
    [
        "port,berths\nKiel,12\nRiga,30",
        "| port | berths |\n|---|---|\n| Kiel | 12 |\n| Riga | 30 |",
        "port\tberths\nKiel\t12\nRiga\t30\n\n(2 rows)",
        "<table><tr><th>port</th><th>berths</th></tr><tr><td>Kiel</td><td>12</td></tr><tr><td>Riga</td><td>30</td></tr>",
    ],
)
def test_a_table_with_headings_has_a_record_for_each_line(text: str) -> None:
    assert table_of(text) == [{"port": "Kiel", "berths": "12"}, {"port": "Riga", "berths": "30"}]


@pytest.mark.parametrize(
    "text", ["12,30\n14,20", "Kiel, 12 berths", "a,b\n" + '"' + "x" * 150_000, "<tr>" * 50_000, ""]
)
def test_other_texts_are_no_table(text: str) -> None:
    assert table_of(text) is None and as_read(text) == text


def test_cells_are_set_apart_and_no_line_of_a_result_is_lost() -> None:
    assert as_read("port,berths,ships\nKiel,12,30") == "port | berths | ships\nKiel | 12 | 30"
    printed = (
        "correct, kg/L  density=0.803  litres=   20089\nwrong, lb/L  density=1.77  litres=    4917\ntotal: 12599 L"
    )
    assert as_read(printed).split("\n")[2] == "total: 12599 L" and "20089" in as_read(printed)
    columns = "Works\t22 h\tpeak 85\nLake\t23 h\tpeak 50\nmissing: {'a': [1, 2]}"
    assert as_read(columns) == columns


@given(st.lists(st.lists(st.from_regex(r"[a-z0-9 ]{1,6}", fullmatch=True), min_size=1, max_size=4), max_size=5))
def test_setting_as_read_keeps_every_word(rows: list[list[str]]) -> None:
    text = "\n".join(",".join(row) for row in rows)
    assert re.findall(r"\w+", as_read(text)) == re.findall(r"\w+", text)


@given(st.text(alphabet='ab,;|\t"\n1<tr>td/', max_size=60))
def test_any_text_may_be_a_table(text: str) -> None:
    table_of(text)
    as_read(text)


def test_what_an_address_quotes_is_decoded() -> None:
    quoted = "https://de.example.org/w#:~:text=On%2013%20January%202004%2C%20the,2%0A3 is 100%25."
    assert as_read(quoted) == "https://de.example.org/w#:~:text=On 13 January 2004, the,2 3 is 100%25."
    assert as_read("50%20 of it") == "50%20 of it"
