"""Python of others is parsed without a word about it."""

import ast
import warnings

import pytest

from evaluation_assets.core.text.python_source import literal, parsed_expression, parsed_module
from evaluation_assets.core.traces.formats.messages.bare_calls import bare_calls
from evaluation_assets.core.traces.formats.untyped import printed_value

ESCAPED = r"'\d'"


@pytest.mark.filterwarnings("error")
def test_escapes_of_others_are_no_warnings_of_ours() -> None:
    assert literal(ESCAPED) == r"\d"
    assert isinstance(parsed_expression(f" {ESCAPED} "), ast.Constant)
    assert len(parsed_module(f"{ESCAPED}\nx = 1").body) == 2
    assert printed_value(f"{{'a': {ESCAPED}}}") == {"a": r"\d"}
    assert bare_calls(f"[grep(pattern={ESCAPED})]") == [{"name": "grep", "arguments": {"pattern": r"\d"}}]


def test_the_filters_of_the_caller_stay() -> None:
    before = list(warnings.filters)
    literal(ESCAPED)
    assert warnings.filters == before


@pytest.mark.parametrize("source", ["f(", "(" * 300, "a" + ".b" * 5000, "-" * 5000 + "1", "'" + "x" * 9, "\0"])
def test_what_cannot_be_parsed_raises_what_is_said(source: str) -> None:
    with pytest.raises((SyntaxError, ValueError, RecursionError, MemoryError)):
        literal(source)
