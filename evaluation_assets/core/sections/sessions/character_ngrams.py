"""TF-IDF of character n-grams within words.

The same figures to the last bit as scikit-learn's `TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5),
sublinear_tf=True)`, which takes two seconds to import, and most of its time for checks where texts are short.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, count
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

_SIZES = range(3, 6)
_REMEMBERED_LENGTH = 24
"""Longer words are rarely words, and their n-grams would fill the memory."""


@dataclass(frozen=True, slots=True)
class _Weights:
    """Weights that are not zero, text by text; those of a text have length 1 together.

    Within a text they are in the order in which the n-grams occur first in all texts, on which the last digits of sums
    of products depend.
    """

    texts: NDArray[np.int64]
    ngrams: NDArray[np.int64]
    values: NDArray[np.float64]
    places: NDArray[np.int64]
    ngrams_in_all: int


def tf_idf(texts: Sequence[str]) -> "csr_matrix | None":
    """A row for each text, of length 1 or empty; `None` if no text has an n-gram."""
    weights = _weights(texts)
    if weights is None:
        return None
    from scipy.sparse import csr_matrix  # noqa: PLC0415  (a dry run with few sessions need not wait for it)

    ends = np.cumsum(np.bincount(weights.texts, minlength=len(texts)))
    cells = (weights.values, weights.ngrams, np.concatenate([[0], ends]))
    return csr_matrix(cells, shape=(len(texts), weights.ngrams_in_all))


def neighbouring_cosines(texts: Sequence[str]) -> NDArray[np.float64]:
    """The cosine of each text's row of `tf_idf` with that of the following one; 0 for a text without n-grams."""
    weights = _weights(texts)
    if weights is None or len(texts) < 2:
        return np.zeros(max(0, len(texts) - 1))
    wanted = weights.places + weights.ngrams_in_all  # the same n-gram in the following text
    at = np.searchsorted(weights.places, wanted)
    at[at == len(weights.places)] = 0
    products = np.where(weights.places[at] == wanted, weights.values * weights.values[at], 0.0)
    return np.bincount(weights.texts, products, minlength=len(texts))[:-1].astype(np.float64)


def _weights(texts: Sequence[str]) -> _Weights | None:
    numbers = defaultdict[str, int](count().__next__)
    of_words: dict[str, list[int]] = {}
    of_texts: list[list[int]] = []
    for text in texts:
        of_texts.append([])
        for word in text.lower().split():
            if word not in of_words:
                of_words[word] = list(map(numbers.__getitem__, _ngrams(word)))
            of_texts[-1] += of_words[word]
    if not numbers:
        return None
    rows = np.repeat(np.arange(len(texts)), [len(occurring) for occurring in of_texts])
    places = rows * len(numbers) + np.fromiter(chain.from_iterable(of_texts), np.int64)
    places, counts = np.unique(places, return_counts=True)
    rows, columns = np.divmod(places, len(numbers))
    in_texts = np.bincount(columns)
    values = 1.0 + np.log(counts, dtype=np.float64)
    values *= (np.log((len(texts) + 1.0) / (in_texts + 1.0)) + 1.0)[columns]
    # Not `np.sum`, which adds in pairs: the last digits would be others.
    values /= np.sqrt(np.bincount(rows, values * values))[rows]
    return _Weights(rows, columns, values, places, len(numbers))


def _ngrams(word: str) -> tuple[str, ...]:
    """N-grams of a word between two spaces."""
    return _remembered_ngrams(word) if len(word) <= _REMEMBERED_LENGTH else tuple(_ngrams_of(f" {word} "))


@lru_cache(8192)
def _remembered_ngrams(word: str) -> tuple[str, ...]:
    return tuple(_ngrams_of(f" {word} "))


def _ngrams_of(padded: str) -> Iterator[str]:
    """A word that is shorter than an n-gram is one itself, once."""
    for size in _SIZES:
        yield padded[:size]
        for start in range(1, len(padded) - size + 1):
            yield padded[start : start + size]
        if len(padded) <= size:
            return
