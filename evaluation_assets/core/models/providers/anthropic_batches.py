"""Message batches of the Anthropic protocol."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any

import anthropic

from evaluation_assets.core.models.messages import Reply
from evaluation_assets.core.models.providers.base import BatchGone, BatchState, read_or_none


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
        """Submit requests by their names; the name of the batch."""
        requests: Any = [{"custom_id": name, "params": body} for name, body in bodies.items()]
        with self._translated():
            return (await self._batches.create(requests=requests)).id

    async def state(self, batch: str) -> BatchState:
        """How far it is."""
        with self._translated():
            try:
                found = await self._batches.retrieve(batch)
            except anthropic.NotFoundError:
                raise BatchGone(batch) from None
        counts = found.request_counts
        done = counts.succeeded + counts.errored + counts.expired + counts.canceled
        return BatchState(ended=found.processing_status == "ended", done=done, total=done + counts.processing)

    async def results(self, batch: str) -> AsyncIterator[tuple[str, Reply | None]]:
        """The replies by the names of their requests, in any order; `None` where there is none."""
        with self._translated():
            async for item in await self._batches.results(batch):
                result = item.result
                answered = result.type == "succeeded"
                yield (
                    item.custom_id,
                    read_or_none(self._read, result.message.model_dump(mode="json")) if answered else None,
                )
