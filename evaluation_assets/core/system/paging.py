"""Items that a server gives page by page."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")

_MOST_EMPTY = 100
"""Pages in a row without an item; a server that filters after it pages may give some."""


def paged(page_at: Callable[[str | None], tuple[Iterable[Item], str | None]], error: type[Exception]) -> Iterator[Item]:
    """The items of all pages. `page_at` gets a cursor, `None` for the first page, and gives that of the next one too.

    Raises:
        error: a server gives a cursor twice, or page after page without an item, and would do so for ever.
    """
    cursor, known, empty = None, set[str](), 0
    while True:
        items, cursor = page_at(cursor)
        empty += 1
        for item in items:
            empty = 0
            yield item
        if not cursor:
            return
        if empty == _MOST_EMPTY:
            raise error(f"the server gave {empty} empty pages; update it, or report this to its makers")
        if cursor in known:
            raise error("the server gives the same page again and again; update it, or report this to its makers")
        known.add(cursor)
