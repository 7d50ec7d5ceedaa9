"""What protocols have in common that are spoken through OpenAI's client: its errors."""

from collections.abc import Callable
from contextlib import AbstractContextManager

import openai

from evaluation_assets.core.models.providers.base import SdkEndpoint
from evaluation_assets.core.models.providers.sdk_errors import in_our_words


def translated(mask: Callable[[str], str]) -> AbstractContextManager[None]:
    """What OpenAI's client raises inside, in our words and without what `mask` takes out."""
    return in_our_words(
        status=openai.APIStatusError,
        connection=openai.APIConnectionError,
        timeout=openai.APITimeoutError,
        other=openai.OpenAIError,
        mask=mask,
    )


class OpenAIEndpoint(SdkEndpoint[openai.AsyncOpenAI]):
    """One model that OpenAI's client reaches."""

    def _translated(self) -> AbstractContextManager[None]:
        return translated(self._mask)
