"""Which addresses were named before they were visited."""

import re
from collections.abc import Collection, Sequence

_START = re.compile(r"https?://", re.IGNORECASE)
_LONGEST = 512
"""Characters of an address that is looked up in one pass with all others; a longer one is searched for by itself."""


class SeenAddresses:
    """Where addresses stand in texts, found in one pass over the texts: a search for each would read them all again."""

    def __init__(self, addresses: Collection[str], texts: Sequence[str]) -> None:
        self._texts = texts
        self._first: dict[str, int] = {}
        wanted = {address for address in addresses if len(address) <= _LONGEST and _START.match(address)}
        self._looked_up = wanted
        lengths = sorted({len(address) for address in wanted})
        for number, text in enumerate(texts):
            if not wanted:
                break
            for match in _START.finditer(text):
                for length in lengths:
                    piece = text[match.start() : match.start() + length]
                    if piece in wanted:
                        self._first.setdefault(piece, number)

    def seen_before(self, address: str, end: int) -> bool:
        """Whether one of the texts up to `end`, included, names the address."""
        if address not in self._looked_up:
            self._looked_up.add(address)
            first = next((number for number, text in enumerate(self._texts) if address in text), None)
            if first is not None:
                self._first[address] = first
        return self._first.get(address, end + 1) <= end
