"""What protocols have in common that are spoken through OpenAI's client: the model's connections and its errors."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

import openai

from evaluation_assets.core.models.providers.capabilities import Capabilities
from evaluation_assets.core.models.providers.sdk_errors import in_our_words
from evaluation_assets.core.text.masking import Mask


def translated(mask: Callable[[str], str]) -> AbstractContextManager[None]:
    """What OpenAI's client raises inside, in our words and without what `mask` takes out."""
    return in_our_words(
        status=openai.APIStatusError,
        connection=openai.APIConnectionError,
        timeout=openai.APITimeoutError,
        other=openai.OpenAIError,
        mask=mask,
    )


class OpenAIEndpoint:
    """One model that OpenAI's client reaches. Subclasses say what it is sent, and read its replies."""

    def __init__(
        self, client: openai.AsyncOpenAI, model: str, abilities: Capabilities, secrets: Sequence[str] = ()
    ) -> None:
        self._client = client
        self._model = model
        self._abilities = abilities
        self._mask = Mask(secrets)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    def _translated(self) -> AbstractContextManager[None]:
        return translated(self._mask)
