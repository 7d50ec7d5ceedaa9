"""The words of a text that grows: where each stood first, and the scripts of all so far."""

from collections import Counter
from collections.abc import Iterable, Mapping

from evaluation_assets.core.trajectories.words import main_scripts, script_of


class GrowingWords:
    """Distinct words, with how many of them are in each script.

    Asking for the scripts of all words again after each step would take time with the square of the steps.
    """

    def __init__(self, words: Iterable[str] = ()) -> None:
        self.first: dict[str, int] = {}
        self.counts: Counter[str] = Counter()
        self._size = 0
        self.add(words)

    def add(self, words: Iterable[str]) -> None:
        """Add the words of the next part of the text; parts are numbered from 0."""
        for word in words:
            if word not in self.first:
                self.first[word] = self._size
                if (script := script_of(word)) is not None:
                    self.counts[script] += 1
        self._size += 1

    @property
    def scripts(self) -> frozenset[str]:
        """The scripts that the text so far is written in."""
        return main_scripts(self.counts)


def with_more(counts: Mapping[str, int], words: Iterable[str]) -> frozenset[str]:
    """The scripts of words with these counts and of more words, none of which is among them."""
    of_more = Counter(script for word in words if (script := script_of(word)) is not None)
    return main_scripts(Counter(counts) + of_more)
