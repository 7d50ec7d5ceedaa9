"""JSONPath (RFC 9535) on arguments and results, with limits on the work."""

from functools import cache, lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from evaluation_assets.core.suites.bounded import NotChecked

if TYPE_CHECKING:
    from jsonpath import CompoundJSONPath, JSONPath, JSONPathEnvironment

MOST_VALUES = 10_000
"""Values that one path may select in one document."""


@lru_cache(maxsize=1024)
def compiled(path: str) -> "JSONPath | CompoundJSONPath":
    """A JSONPath.

    Raises:
        ValueError: it is none, or uses `match` or `search`, which have no time limit.
    """
    from jsonpath import JSONPathError  # noqa: PLC0415  (0.2 s)

    try:
        return _environment().compile(path)
    except JSONPathError as problem:
        raise ValueError(f"not a JSONPath: {' '.join(str(problem).split())[:200]}") from None


def selected(path: str, document: Any) -> list[Any]:
    """The values that a JSONPath selects.

    Raises:
        NotChecked: they are too many, or the document is too deep.
    """
    from jsonpath import JSONPathError  # noqa: PLC0415  (see above)

    if not isinstance(document, dict | list):
        return []
    try:
        values = [match.obj for match in islice(compiled(path).finditer(document), MOST_VALUES + 1)]
    except (JSONPathError, RecursionError) as problem:
        raise NotChecked(f"the JSONPath {path[:80]!r} cannot be used here: {type(problem).__name__}") from None
    if len(values) > MOST_VALUES:
        raise NotChecked(f"the JSONPath {path[:80]!r} selects more than {MOST_VALUES:,} values")
    return values


@cache
def _environment() -> "JSONPathEnvironment":
    from jsonpath import JSONPathEnvironment  # noqa: PLC0415  (see above)

    environment = JSONPathEnvironment(strict=True)
    for name in ("match", "search"):
        del environment.function_extensions[name]
    return environment
