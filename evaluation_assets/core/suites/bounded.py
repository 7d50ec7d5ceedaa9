"""Check values against untrusted JSON Schemas and regular expressions, with limits on the work.

Three kilobytes of references that double at every level expand a million times, and a regular expression can take
practically forever.
"""

from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from typing import Any

import jsonschema
import regex
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend
from referencing import Registry
from referencing.exceptions import Unresolvable

from evaluation_assets.core.text.exact_json import is_long_integer

MOST_REFERENCES = 10_000
"""References followed to check one value; the largest real schemas of tools need some dozens."""

PATTERN_SECONDS = 1.0

_followed: ContextVar[int] = ContextVar("followed", default=0)
_VALIDATORS: Mapping[str, Any] = jsonschema.Draft202012Validator.VALIDATORS


class NotChecked(ValueError):
    """A value cannot be checked, because of a limit or an unusable schema. The message says why."""


def schema_errors(schema: Mapping[str, Any], value: Any) -> list[ValidationError]:
    """Why a value does not fit a schema.

    Nothing is fetched for a reference.

    Raises:
        NotChecked: it takes too many references, too much time for a pattern, or its references lead nowhere.
    """
    _followed.set(0)
    try:
        return list(_Bounded(schema, registry=Registry()).iter_errors(value))
    except NotChecked:
        raise
    except RecursionError:
        raise NotChecked("not checked: the JSON Schema refers to itself without end, or is too deep") from None
    except Unresolvable as problem:
        reference = str(problem.ref)[:80]
        raise NotChecked(f"not checked: the JSON Schema refers to {reference!r}, which is not in it") from None
    except Exception as problem:  # a reference can lead to what is no schema; the library raises what that ends in
        what = f"{type(problem).__name__}: {str(problem)[:80]}"
        raise NotChecked(f"not checked: the JSON Schema cannot be used: {what}") from problem


def matches(pattern: str, text: str, *, ignore_case: bool = False, whole: bool = True) -> bool:
    """Whether a regular expression matches a text, whole or anywhere in it.

    Raises:
        NotChecked: it takes too long.
    """
    flags = regex.IGNORECASE if ignore_case else 0
    match = regex.fullmatch if whole else regex.search
    try:
        return match(pattern, text, flags, timeout=PATTERN_SECONDS) is not None
    except TimeoutError:
        raise NotChecked(
            f"not checked: the regular expression {pattern[:80]!r} takes longer than {PATTERN_SECONDS:g} s"
        ) from None


def _counted(keyword: str) -> Any:
    def follow(validator: Any, reference: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        if (count := _followed.get()) >= MOST_REFERENCES:
            raise NotChecked(f"not checked: the JSON Schema takes more than {MOST_REFERENCES:,} references to check")
        _followed.set(count + 1)
        yield from _VALIDATORS[keyword](validator, reference, instance, schema)

    return follow


def _pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str) and not matches(pattern, instance, whole=False):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(validator: Any, patterns: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, dict):
        for pattern, below in patterns.items():
            for name, value in instance.items():
                if matches(pattern, name, whole=False):
                    yield from validator.descend(value, below, path=name, schema_path=pattern)


def _type(validator: Any, types: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    """As for all values; integers that 64 bits cannot hold are read as texts, and are integers."""
    known = [types] if isinstance(types, str) else types
    is_long = is_long_integer(instance) and not {"integer", "number"}.isdisjoint(known)
    if not is_long:
        yield from _VALIDATORS["type"](validator, types, instance, schema)


_Bounded = extend(
    jsonschema.Draft202012Validator,
    {
        "$ref": _counted("$ref"),
        "$dynamicRef": _counted("$dynamicRef"),
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "type": _type,
    },
)
