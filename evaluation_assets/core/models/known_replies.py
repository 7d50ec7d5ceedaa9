"""Replies that were paid for: looked up by their question, also where another limit of output tokens was set."""

import hashlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from evaluation_assets.core.models.errors import LedgerError
from evaluation_assets.core.models.json_text import dumped
from evaluation_assets.core.models.ledger import Entry, Ledger
from evaluation_assets.core.models.settings import ModelSettings

_MOST_LIMITS = 16
"""Limits that are remembered of a model; a settings' value in the ledger has 255 characters."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A reply, the address of its question, and whether it was paid for before."""

    key: str
    entry: Entry
    from_ledger: bool


Usable = Callable[[Sequence[Entry]], Entry | None]
"""Picks the stored reply that will do, of all to a question, newest first."""


class KnownReplies:
    """The replies of one model in a ledger.

    The limit of output tokens is part of a question's address, because a reply that was cut is asked for again with
    another one. A whole reply is the same under any limit. So the ledger remembers which limits there were.
    """

    def __init__(self, settings: ModelSettings, ledger: Ledger) -> None:
        self._ledger = ledger
        of_whom = dumped([settings.provider, settings.endpoint, settings.model])
        self._name = f"output limits {hashlib.sha256(of_whom).hexdigest()[:48]}"
        self._limits: tuple[int, ...] = ()
        with suppress(LedgerError):
            self._limits = self._remembered()

    def find(self, key_of: Callable[[int], str], limit: int, usable: Usable) -> Answered | None:
        """The reply that will do; of those to the question under another limit, only a whole one.

        Raises:
            LedgerError: the ledger cannot be read.
        """
        own = self._at(key_of(limit), usable)
        if own is not None and own.entry.reply.finish != "length":
            return own

        def whole(entries: Sequence[Entry]) -> Entry | None:
            return usable([each for each in entries if each.reply.finish != "length"])

        under_others = (self._at(key_of(other), whole) for other in self._limits if other != limit)
        return next(filter(None, under_others), own)

    def _at(self, key: str, usable: Usable) -> Answered | None:
        entry = usable(self._ledger.entries(key))
        return None if entry is None else Answered(key, entry, from_ledger=True)

    def asked_with(self, limit: int) -> None:
        """Remember that a reply was paid for under a limit."""
        if limit in self._limits:
            return
        with suppress(LedgerError):  # the reply is found under its own limit
            self._limits = (*(each for each in self._remembered() if each != limit), limit)[-_MOST_LIMITS:]
            self._ledger.remember(self._name, " ".join(map(str, self._limits)))

    def _remembered(self) -> tuple[int, ...]:
        return tuple(map(int, (self._ledger.remembered(self._name) or "").split()))
