"""Raw replies of models, by their keys in the ledger."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from evaluation_assets.core.system.installation import Installation

if TYPE_CHECKING:
    from evaluation_assets.core.models.ledger import Ledger

ReplyOf = Callable[[str], str | None]
"""The newest reply to a question; `None` if the ledger has none."""


@contextmanager
def replies_of(home: Installation) -> Iterator[ReplyOf]:
    """Replies in the ledger of an installation, which is opened for the first of them.

    Raises:
        LedgerError: the ledger cannot be read.
    """
    opened: list[Ledger] = []

    def reply_of(key: str) -> str | None:
        if not opened:
            if not home.has_ledger:
                return None
            from evaluation_assets.core.models.ledger import Ledger  # noqa: PLC0415  (SQLAlchemy: 0.2 s to import)

            opened.append(Ledger(home.ledger_url))
        found = opened[0].entries(key)
        return found[0].reply.text if found else None

    try:
        yield reply_of
    finally:
        for ledger in opened:
            ledger.close()
