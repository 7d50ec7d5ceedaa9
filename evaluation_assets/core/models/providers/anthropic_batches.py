"""Message batches of the Anthropic protocol."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any

import anthropic
from anthropic.types.messages import MessageBatch

from evaluation_assets.core.models.messages import Reply
from evaluation_assets.core.models.providers.base import (
    BatchGone,
    BatchItem,
    BatchState,
    answer_of,
    batch_item,
    lines_of,
)


class AnthropicBatches:
    """Batches at a messages endpoint. `read` reads a reply; errors inside of `translated` are in our words."""

    def __init__(
        self,
        client: anthropic.AsyncAnthropic,
        read: Callable[[Any], Reply],
        translated: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._batches = client.messages.batches
        self._read = read
        self._translated = translated

    async def submit(self, bodies: Mapping[str, Any]) -> str:
        requests: Any = [{"custom_id": name, "params": body} for name, body in bodies.items()]
        with self._translated():
            return answer_of(MessageBatch, await self._batches.create(requests=requests)).id

    async def state(self, batch: str) -> BatchState:
        with self._translated():
            try:
                retrieved = answer_of(MessageBatch, await self._batches.retrieve(batch))
            except anthropic.NotFoundError:
                raise BatchGone(batch) from None
        ended = retrieved.processing_status == "ended"
        if ended and retrieved.results_url is None:  # it was archived
            raise BatchGone(batch)
        counts = retrieved.request_counts
        done = counts.succeeded + counts.errored + counts.expired + counts.canceled
        return BatchState(ended=ended, done=done, total=done + counts.processing)

    async def results(self, batch: str) -> AsyncIterator[tuple[str | None, BatchItem]]:
        """What it has for its requests, by their names. The SDK's own reader ends at a line that is not JSON."""
        with self._translated():
            try:
                async with self._batches.with_streaming_response.results(batch) as response:
                    content = await response.read()
            except anthropic.NotFoundError:
                raise BatchGone(batch) from None
        for name, item in lines_of(content):
            result = item.get("result")
            if isinstance(result, dict) and result.get("type") == "succeeded":
                yield name, batch_item(self._read, result.get("message"))
            else:
                yield name, None
