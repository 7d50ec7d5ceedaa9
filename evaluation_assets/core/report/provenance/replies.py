"""Raw replies of models, by their keys in the ledger."""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from evaluation_assets.core.system.installation import Installation

if TYPE_CHECKING:
    from evaluation_assets.core.models.ledger import Ledger

RepliesTo = Callable[[Collection[str]], Mapping[str, str]]
"""The newest reply to each of some questions, by key. Questions to which the ledger has none are left out."""


@contextmanager
def replies_of(home: Installation) -> Iterator[RepliesTo]:
    """Replies in the ledger of an installation, which is opened for the first question.

    Raises:
        LedgerError: the ledger cannot be read.
    """
    opened: list[Ledger] = []

    def replies_to(keys: Collection[str]) -> Mapping[str, str]:
        if not keys:
            return {}
        if not opened:
            if not home.has_ledger:
                return {}
            from evaluation_assets.core.models.ledger import Ledger  # noqa: PLC0415  (SQLAlchemy: 0.2 s to import)

            opened.append(Ledger(home.ledger_url))
        return {key: reply.text for key, reply in opened[0].newest(keys).items()}

    try:
        yield replies_to
    finally:
        for ledger in opened:
            ledger.close()
