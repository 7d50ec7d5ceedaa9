"""Similarity of two texts, by character n-grams or another measure."""

from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from evaluation_assets.core.sections.sessions.character_ngrams import neighbouring_cosines, tf_idf
from evaluation_assets.core.traces.trajectories.words import share, words

RE_ASK_COSINE = 0.35
RE_ASK_WORDS = 0.75
"""Minimum cosine, and minimum share of repeated words, of a message that re-asks the previous one."""

_READ = 8_000
"""Maximum characters of a text that are compared."""


class SimilarityUnavailable(Exception):
    """Texts cannot be compared; the message says why."""


class Similarity(Protocol):
    """A similarity measure for texts."""

    @property
    def name(self) -> str:
        """Name of the measure in analyses."""
        ...

    @property
    def can_exclude(self) -> bool:
        """Whether a low similarity means a different meaning. For character n-grams it does not: paraphrases differ."""
        ...

    def re_asks(self, message: str, following: str, cosine: float) -> bool:
        """Whether two messages with this cosine are similar enough that the second re-asks the first."""
        ...

    def may_re_ask(self, cosine: float) -> bool:
        """Whether two messages with this cosine are similar enough to accept a judge's finding of re-asking."""
        ...

    def is_dissatisfied(self, margin: float) -> bool:
        """Whether this margin (similarity to dissatisfied minus to satisfied examples) shows dissatisfaction."""
        ...

    def knowing(self, texts: Iterable[str]) -> "Similarity":
        """The measure for one session with these texts: what must not leave in one of them leaves in none."""
        ...

    def as_sent(self, texts: Sequence[str]) -> list[str]:
        """The texts without what must not leave this machine. Redact a text before it is cut into sentences.

        Raises:
            SimilarityUnavailable: a text could not be searched.
        """
        ...

    def neighbours(self, texts: Sequence[str]) -> list[float]:
        """The cosine of each text with the following one.

        Raises:
            SimilarityUnavailable: the endpoint of the measure does not answer.
        """
        ...

    def matrix(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Cosines of all pairs of texts, 0..1; 0 for empty texts.

        Raises:
            SimilarityUnavailable: the endpoint of the measure does not answer.
        """
        ...


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


class LexicalSimilarity:
    """Cosine of TF-IDF over character n-grams within words: no model, any language, but it misses paraphrases."""

    name = "character n-grams"
    can_exclude = False

    def re_asks(self, message: str, following: str, cosine: float) -> bool:
        """Whether cosine and share of repeated words are both high: "the phone number?" after "the address?" differs.

        A message without content words re-asks only if it is identical.
        """
        common = share(words(following), words(message))
        if common is None:
            return _plain(following).endswith(("?", "？", "؟")) and _plain(following) == _plain(message)
        return cosine >= RE_ASK_COSINE and common >= RE_ASK_WORDS

    def may_re_ask(self, cosine: float) -> bool:
        """Always true: a paraphrase may share no n-grams with the original."""
        return True

    def is_dissatisfied(self, margin: float) -> bool:
        """Always false: similar n-grams may have the opposite meaning."""
        return False

    def knowing(self, texts: Iterable[str]) -> Similarity:
        """The same measure: nothing leaves."""
        return self

    def as_sent(self, texts: Sequence[str]) -> list[str]:
        """The texts as they are: nothing leaves."""
        return list(texts)

    def neighbours(self, texts: Sequence[str]) -> list[float]:
        """The cosine of each text with the following one; TF-IDF weights are computed from all of them."""
        return np.clip(neighbouring_cosines(_read(texts)), 0.0, 1.0).tolist()

    def matrix(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Cosines of all pairs of texts; TF-IDF weights are computed from these texts."""
        vectors = tf_idf(_read(texts))
        if vectors is None:
            return np.zeros((len(texts), len(texts)))
        return np.clip((vectors @ vectors.T).toarray(), 0.0, 1.0)


def _read(texts: Sequence[str]) -> list[str]:
    return [text[:_READ] for text in texts]
