"""Untrusted texts, made well formed: lone surrogates, which UTF-8 lacks, become U+FFFD, so that any text can be stored.

JSON can hold them as escapes, and programs that cut texts in the middle of an emoji write them.
"""

from typing import Any


def well_formed(text: str) -> str:
    """The text without lone surrogates. The two halves of a character that were written one by one become one."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def well_formed_json(value: Any) -> Any:
    """A value with well-formed texts and keys; what JSON lacks stays as it is.

    Raises:
        RecursionError: it is nested too deeply.
    """
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, dict):
        return {well_formed_json(key): well_formed_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [well_formed_json(item) for item in value]
    return value
