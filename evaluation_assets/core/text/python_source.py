"""Python as agents write it and tools print it: parsed, never run."""

import ast
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def parsed_module(source: str) -> ast.Module:
    """The statements of a source.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: it cannot be parsed.
    """
    with _quiet():
        return ast.parse(source)


def parsed_expression(source: str) -> ast.expr:
    """The one expression of a source; raises as `parsed_module` does."""
    with _quiet():
        return ast.parse(source.strip(), mode="eval").body


def literal(source: str) -> Any:
    """The value of a literal.

    Raises:
        TypeError: a key of it has no hash.
        SyntaxError, ValueError, RecursionError, MemoryError: it is something else, or cannot be parsed.
    """
    with _quiet():
        return ast.literal_eval(source)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without Python's warnings of escapes that it may refuse one day: they are of a text that is not ours."""
    with warnings.catch_warnings(action="ignore"):
        yield
