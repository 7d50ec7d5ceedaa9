"""How alike texts are by their meaning: embeddings from an endpoint that speaks OpenAI's protocol."""

import os
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from evaluation_assets.core.sessions.similarity import LexicalSimilarity, Similarity, SimilarityUnavailable

_READ = 8_000
"""Characters of a text that are embedded: endpoints take about 8,000 tokens."""

_AT_ONCE = 64
_TIMEOUT_S = 60.0


class EmbeddingSettings(BaseModel):
    """The endpoint. `re_ask` is the cosine from which a message may ask the same again; it depends on the model."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str
    base_url: str = "https://api.openai.com/v1"
    api_key_env: str | None = "OPENAI_API_KEY"
    re_ask: float = Field(default=0.66, gt=0, le=1)


def similarity_of(settings: EmbeddingSettings | None) -> Similarity:
    """The measure that the panel names; without one, likeness of letters."""
    return LexicalSimilarity() if settings is None else EmbeddingSimilarity(settings)


class EmbeddingSimilarity:
    """Cosine of embeddings."""

    can_exclude = True

    def __init__(self, settings: EmbeddingSettings) -> None:
        self._settings = settings

    @property
    def name(self) -> str:
        """The model's name."""
        return f"embeddings of {self._settings.model}"

    def may_re_ask(self, message: str, following: str, cosine: float) -> bool:
        """Alike by the threshold of the settings."""
        return cosine >= self._settings.re_ask

    def matrix(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Cosine of every text with every other.

        Raises:
            SimilarityUnavailable: there is no key, or the endpoint does not answer as it should.
        """
        distinct = list(dict.fromkeys(text[:_READ] for text in texts if text.strip()))
        found = dict(zip(distinct, self._embedded(distinct), strict=True))
        size = max((len(vector) for vector in found.values()), default=1)
        vectors = np.array([found.get(text[:_READ], [0.0] * size) for text in texts], dtype=float).reshape(-1, size)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
        return np.clip(unit @ unit.T, 0.0, 1.0)

    def _embedded(self, texts: Sequence[str]) -> list[list[float]]:
        import openai  # noqa: PLC0415  # takes a second, which a panel without embeddings need not wait for

        vectors: list[list[float]] = []
        for start in range(0, len(texts), _AT_ONCE):
            asked = list(texts[start : start + _AT_ONCE])
            try:
                answer = self._client.embeddings.create(
                    model=self._settings.model, input=asked, encoding_format="float"
                )
            except openai.OpenAIError as problem:
                raise SimilarityUnavailable(f"{self.name}: {type(problem).__name__}") from problem
            if len(answer.data) != len(asked):
                raise SimilarityUnavailable(f"{self.name}: {len(answer.data)} embeddings for {len(asked)} texts")
            vectors += [item.embedding for item in sorted(answer.data, key=lambda item: item.index)]
        return vectors

    @cached_property
    def _client(self) -> Any:
        import openai  # noqa: PLC0415

        variable = self._settings.api_key_env
        key = os.environ.get(variable, "") if variable else "none"
        if not key:
            raise SimilarityUnavailable(f"{self.name}: there is no key: set the variable {variable}")
        return openai.OpenAI(api_key=key, base_url=self._settings.base_url, timeout=_TIMEOUT_S)
