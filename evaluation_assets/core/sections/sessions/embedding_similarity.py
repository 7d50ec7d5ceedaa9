"""Similarity of texts by embeddings, from an endpoint that speaks the OpenAI protocol or a local model."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evaluation_assets.core.models.budget import Budget
from evaluation_assets.core.models.embeddings import EndpointVectors, LocalVectors, NoVectors, Taken, Vectors
from evaluation_assets.core.models.ledger import Ledger
from evaluation_assets.core.models.providers.capabilities import PROVIDERS
from evaluation_assets.core.models.redaction.redactor import NotRedacted, Redactor
from evaluation_assets.core.models.redaction.settings import NOTHING, Redaction
from evaluation_assets.core.sections.sessions.embedding_settings import EmbeddingSettings
from evaluation_assets.core.sections.sessions.similarity import LexicalSimilarity, Similarity, SimilarityUnavailable
from evaluation_assets.core.text.plain_text import visible
from evaluation_assets.core.traces.prices import OwnPrice, Pricing, PublicPrice

_READ = 8_000
"""Characters of a text that are embedded: endpoints accept about 8,000 tokens."""


def measure_name(settings: EmbeddingSettings | None) -> str:
    """Name, in analyses, of the measure that the panel configures."""
    return LexicalSimilarity.name if settings is None else settings.name


@contextmanager
def opened_measure(
    settings: EmbeddingSettings | None,
    ledger_url: str,
    run: str,
    budget: Budget,
    redaction: Redaction = Redaction(),
) -> Iterator[tuple[Similarity, Taken]]:
    """Open the panel's measure for one run, with a tally of its usage. Without embeddings: character n-grams.

    It may spend what is left of the budget, which all judges of the run share. `redaction` is what the panel replaces
    in texts before they are sent to an endpoint.
    """
    if settings is None:
        yield LexicalSimilarity(), Taken()
    elif settings.provider == "local":
        vectors = LocalVectors(settings.model)
        yield EmbeddingSimilarity(settings, vectors), vectors.taken
    else:
        with closing(Ledger(ledger_url)) as ledger:
            budget.begin_at(ledger.spent(run), ledger.calls(run))
            vectors = EndpointVectors(
                model=settings.model,
                base_url=settings.base_url,
                key_variable=settings.key_variable,
                ledger=ledger,
                pricing=pricing_of(settings),
                run=run,
                budget=budget,
            )
            yield EmbeddingSimilarity(settings, vectors, settings.redaction or redaction), vectors.taken


def pricing_of(settings: EmbeddingSettings) -> Pricing:
    """The price in the panel, or else the list price of the provider with this address."""
    if settings.price is not None:
        return OwnPrice(settings.price)
    known = (each.price_id for each in PROVIDERS.values() if each.base_url == settings.base_url)
    return PublicPrice(next(known, None), settings.model)


class EmbeddingSimilarity:
    """Similarity by cosine of embeddings."""

    can_exclude = True

    def __init__(
        self,
        settings: EmbeddingSettings,
        vectors: Vectors,
        redaction: Redaction = NOTHING,
        known: Iterable[str] = (),
    ) -> None:
        self._redaction = redaction
        self._known = known
        self._settings = settings
        self._vectors = vectors

    @property
    def name(self) -> str:
        """The model's name."""
        return self._settings.name

    def re_asks(self, message: str, following: str, cosine: float) -> bool:
        """Whether the cosine is at least `re_ask`."""
        return cosine >= self._settings.re_ask

    def may_re_ask(self, cosine: float) -> bool:
        """Whether the cosine is at least `may_re_ask`."""
        return cosine >= self._settings.may_re_ask

    def is_dissatisfied(self, margin: float) -> bool:
        """Whether the margin is at least `dissatisfied`."""
        return margin >= self._settings.dissatisfied

    def knowing(self, texts: Iterable[str]) -> Similarity:
        """The measure for one session with these texts: what must not leave in one of them leaves in none."""
        return EmbeddingSimilarity(self._settings, self._vectors, self._redaction, texts)

    @cached_property
    def _redactor(self) -> Redactor:
        return Redactor(self._redaction, map(visible, self._known))

    def as_sent(self, texts: Sequence[str]) -> list[str]:
        """The texts without what must not leave for the endpoint.

        Raises:
            SimilarityUnavailable: a text could not be searched.
        """
        if self._redaction == NOTHING:
            return list(texts)
        try:
            return [self._redactor(visible(text)) for text in texts]
        except NotRedacted as problem:
            raise SimilarityUnavailable(f"{self.name}: {problem}") from None

    def neighbours(self, texts: Sequence[str]) -> list[float]:
        """The cosine of each text with the following one.

        Raises:
            SimilarityUnavailable: no key, no budget left, or no valid answer from the endpoint.
        """
        unit = self._unit_vectors(texts)
        return [float(cosine) for cosine in np.clip((unit[:-1] * unit[1:]).sum(axis=1), 0.0, 1.0)]

    def matrix(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Cosines of all pairs of texts.

        Raises:
            SimilarityUnavailable: no key, no budget left, or no valid answer from the endpoint.
        """
        unit = self._unit_vectors(texts)
        return np.clip(unit @ unit.T, 0.0, 1.0)

    def _unit_vectors(self, texts: Sequence[str]) -> NDArray[np.float64]:
        texts = self.as_sent(texts)
        distinct = list(dict.fromkeys(text[:_READ] for text in texts if text.strip()))
        try:
            vector_of = dict(zip(distinct, self._vectors.of(distinct) if distinct else [], strict=True))
        except NoVectors as problem:
            raise SimilarityUnavailable(f"{self.name}: {problem}") from problem
        sizes = {vector.size for vector in vector_of.values()} or {1}
        if len(sizes) > 1:
            raise SimilarityUnavailable(f"{self.name}: embeddings of {', '.join(map(str, sorted(sizes)))} numbers")
        nothing = np.zeros(sizes.pop())
        vectors = np.array([vector_of.get(text[:_READ], nothing) for text in texts], dtype=float)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
