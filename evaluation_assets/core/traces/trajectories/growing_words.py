"""The words of a text that grows, and the scripts of all so far."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from evaluation_assets.core.traces.trajectories.words import count_scripts, main_scripts


class GrowingWords:
    """Distinct words, with how many of them are in each script.

    Asking for the scripts of all words again after each step would take time with the square of the steps.
    """

    def __init__(self, words: AbstractSet[str] = frozenset()) -> None:
        self.all: set[str] = set()
        self._counts: Mapping[str, int] = {}
        self.add(words)

    def add(self, words: AbstractSet[str]) -> None:
        """Add the words of the next part of the text."""
        new = words - self.all
        self.all |= new
        self._counts = _sum(self._counts, count_scripts(new))

    @property
    def scripts(self) -> frozenset[str]:
        """The scripts that the text so far is written in."""
        return main_scripts(self._counts)

    def scripts_with(self, words: AbstractSet[str]) -> frozenset[str]:
        """The scripts that the text so far and these words would be written in."""
        return main_scripts(_sum(self._counts, count_scripts(words - self.all)))


def _sum(some: Mapping[str, int], others: Mapping[str, int]) -> dict[str, int]:
    return {script: some.get(script, 0) + others.get(script, 0) for script in {**some, **others}}
