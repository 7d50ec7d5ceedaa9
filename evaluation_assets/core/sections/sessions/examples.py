"""Similarity of a message to examples of dissatisfied users, by embeddings."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from evaluation_assets.core.sections.sessions.similarity import Similarity
from evaluation_assets.core.system.chunks import chunks
from evaluation_assets.core.text.shipped_yaml import shipped_yaml

Dissatisfaction = Literal["incomprehension", "correction", "complaint"]

DISSATISFIED: tuple[Dissatisfaction, ...] = ("incomprehension", "correction", "complaint")

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_READ = 1000
_AT_ONCE = 1000
"""Sentences that are compared with the examples at once."""


@dataclass(frozen=True, slots=True)
class Resemblance:
    """The sentence of a message that is most similar to an example of dissatisfaction, and the kind of that example.

    `margin` is the sentence's cosine with that example minus its cosine with the nearest example of a satisfied user.
    """

    kind: Dissatisfaction
    sentence: str
    margin: float


def _examples() -> dict[str, list[str]]:
    return shipped_yaml("evaluation_assets.core.sections.sessions", "examples.yaml")


def resemblances(messages: Sequence[str], measure: Similarity) -> list[Resemblance | None]:
    """The resemblance of each message; `None` for empty messages, and for all if the measure is not semantic.

    Raises:
        SimilarityUnavailable: the endpoint of the measure does not answer.
    """
    if not measure.can_exclude:
        return [None] * len(messages)
    sentences = [_sentences(message) for message in measure.as_sent(messages)]
    if not any(sentences):
        return [None] * len(messages)
    labelled: list[tuple[Dissatisfaction, str]] = [
        (kind, example) for kind in DISSATISFIED for example in _examples()[kind]
    ]
    content = _examples()["content"]
    listed = list(dict.fromkeys(sentence for own in sentences for sentence in own))
    examples = [*(example for _, example in labelled), *content]
    matrix = np.vstack(
        [measure.matrix([*examples, *block])[len(examples) :, : len(examples)] for block in chunks(listed, _AT_ONCE)]
    )
    dissatisfied, contented = matrix[:, : len(labelled)], matrix[:, len(labelled) : len(labelled) + len(content)]
    margins = dissatisfied.max(axis=1) - contented.max(axis=1)
    by_sentence = {
        sentence: Resemblance(labelled[int(nearest)][0], sentence, float(margin))
        for sentence, nearest, margin in zip(listed, np.argmax(dissatisfied, axis=1), margins, strict=True)
    }
    return [
        max((by_sentence[sentence] for sentence in own), key=lambda each: each.margin, default=None)
        for own in sentences
    ]


def _sentences(message: str) -> list[str]:
    return [sentence for part in _SENTENCE_END.split(message[:_READ]) if (sentence := part.strip())]
