"""What results hold inside of what is put around them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.sections.findings.results import document_of
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
