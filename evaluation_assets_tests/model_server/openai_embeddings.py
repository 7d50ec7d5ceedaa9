"""OpenAI's protocol: embeddings."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from evaluation_assets_tests.model_server.openai_chat import OpenAI
from evaluation_assets_tests.model_server.reading import Calls, Malformed, Reading, tokens

SYNONYMS = {"railway": "train", "departs": "leaves"}
"""What stands for the same in embeddings."""


def read_embeddings(body: Mapping[str, Any]) -> Reading:
    texts = body["input"]
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) and text for text in texts):
        raise Malformed("input: a list of texts that are not empty")
    return Reading(body["model"], [(text, None) for text in texts], b"", None, False, None)


class Embeddings(OpenAI):
    """Embeddings: texts with the same words have the same vector, texts without a common word are at right angles."""

    read = staticmethod(read_embeddings)

    @staticmethod
    def account(reading: Reading, prefixes: set[int], key: str) -> tuple[dict[str, Any], list[int]]:
        used = sum(tokens(len(text)) for text, _ in reading.blocks)
        return {"prompt_tokens": used, "total_tokens": used}, []

    @staticmethod
    def reply(
        reading: Reading, text: str, calls: Calls, stop: str, usage: dict[str, Any], number: int
    ) -> dict[str, Any]:
        """The last text comes first: the index says which is which."""
        items = [
            {"object": "embedding", "index": index, "embedding": embedding(text)}
            for index, (text, _) in enumerate(reading.blocks)
        ]
        return {"object": "list", "model": reading.model, "data": items[::-1], "usage": usage}


def embedding(text: str) -> list[float]:
    """How often each word occurs, the words spread over 256 places; a few words have the place of another."""
    vector = [0.0] * 256
    for word in re.findall(r"\w+", text.lower()):
        meant: str = SYNONYMS.get(word) or word
        vector[hashlib.blake2b(meant.encode(), digest_size=1).digest()[0]] += 1.0
    return vector
