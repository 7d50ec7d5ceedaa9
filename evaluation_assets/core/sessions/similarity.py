"""Similarity of two texts, by character n-grams or another measure."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from evaluation_assets.core.trajectories.words import share, words

RE_ASK_COSINE = 0.35
RE_ASK_WORDS = 0.75
"""Cosine, and share of words said before, from which a message asks the same again."""

_READ = 8_000
"""Characters of a text that are compared."""


class SimilarityUnavailable(Exception):
    """Texts cannot be compared now; the message says why."""


class Similarity(Protocol):
    """A measure of how alike texts are."""

    @property
    def name(self) -> str:
        """What it is called in analyses."""
        ...

    @property
    def can_exclude(self) -> bool:
        """Whether texts it finds unlike differ in meaning. Character n-grams cannot say that of paraphrases."""
        ...

    def re_asks(self, message: str, following: str, cosine: float) -> bool:
        """Whether two messages with this cosine are so alike that the second asks the same again."""
        ...

    def may_re_ask(self, cosine: float) -> bool:
        """Whether two messages with this cosine are alike enough to believe a judge who says that one asks again."""
        ...

    def is_dissatisfied(self, margin: float) -> bool:
        """Whether a message is so much more like examples of dissatisfaction than like those of content users."""
        ...

    def matrix(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Cosine of every text with every other, 0..1; an empty text is like nothing.

        Raises:
            SimilarityUnavailable: the measure needs an endpoint that does not answer.
        """
        ...


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


class LexicalSimilarity:
    """Cosine of TF-IDF over character n-grams within words: no model, any language, blind to paraphrases."""

    name = "character n-grams"
    can_exclude = False

    def re_asks(self, message: str, following: str, cosine: float) -> bool:
        """Alike, and nearly all words said before: "the phone number?" after "the address?" is another question.

        A message without a word of content asks again where it is the same question once more.
        """
        common = share(words(following), words(message))
        if common is None:
            return _plain(following).endswith(("?", "？", "؟")) and _plain(following) == _plain(message)
        return cosine >= RE_ASK_COSINE and common >= RE_ASK_WORDS

    def may_re_ask(self, cosine: float) -> bool:
        """Always: a paraphrase may share no letters with what it repeats."""
        return True

    def is_dissatisfied(self, margin: float) -> bool:
        """Never: the same letters may say the contrary."""
        return False

    def matrix(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Cosine of every text with every other; the weights come from these texts."""
        # scikit-learn takes two seconds to import, which commands without sessions need not wait for.
        from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: PLC0415

        vectorizer = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5), sublinear_tf=True)
        try:
            vectors = vectorizer.fit_transform([text[:_READ] for text in texts])
        except ValueError:  # no text has an n-gram
            return np.zeros((len(texts), len(texts)))
        return np.clip((vectors @ vectors.T).toarray(), 0.0, 1.0)
