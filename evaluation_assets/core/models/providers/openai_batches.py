"""Batches of chat completions in the OpenAI protocol: files of requests and of answers."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any

import openai
from openai.types import Batch, FileObject

from evaluation_assets.core.models.errors import unreadable
from evaluation_assets.core.models.json_text import dumped
from evaluation_assets.core.models.messages import Reply
from evaluation_assets.core.models.providers.base import (
    BatchGone,
    BatchItem,
    BatchState,
    answer_of,
    batch_item,
    lines_of,
)
from evaluation_assets.core.text.plain_text import plain

_ENDED = ("completed", "failed", "expired", "cancelled")
_UNDER_WAY = ("validating", "in_progress", "finalizing", "cancelling")


class OpenAIBatches:
    """Batches of chat completions. `read` reads a reply; errors inside of `translated` are in our words."""

    def __init__(
        self,
        client: openai.AsyncOpenAI,
        read: Callable[[Any], Reply],
        translated: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._client = client
        self._read = read
        self._translated = translated

    async def submit(self, bodies: Mapping[str, Any]) -> str:
        url = "/v1/chat/completions"
        lines = (
            dumped({"custom_id": name, "method": "POST", "url": url, "body": body}) for name, body in bodies.items()
        )
        with self._translated():
            stored = await self._client.files.create(file=("batch.jsonl", b"\n".join(lines)), purpose="batch")
            file = answer_of(FileObject, stored).id
            batch = await self._client.batches.create(
                input_file_id=file, endpoint=url, completion_window="24h", metadata={"source": "evaluation_assets"}
            )
            return answer_of(Batch, batch).id

    async def state(self, batch: str) -> BatchState:
        retrieved = await self._found(batch)
        if retrieved.status not in (*_ENDED, *_UNDER_WAY):
            raise unreadable(f"the status of the batch is {plain(str(retrieved.status))[:40]!r}", is_billed=False)
        counts = retrieved.request_counts
        done, total = (0, 0) if counts is None else (counts.completed + counts.failed, counts.total)
        return BatchState(ended=retrieved.status in _ENDED, done=done, total=total)

    async def results(self, batch: str) -> AsyncIterator[tuple[str | None, BatchItem]]:
        """What it has for its requests, by their names."""
        retrieved = await self._found(batch)
        for file in filter(None, (retrieved.output_file_id, retrieved.error_file_id)):
            with self._translated():
                try:
                    content = (await self._client.files.content(file)).content
                except openai.NotFoundError:  # results are deleted after a while
                    raise BatchGone(batch) from None
            for name, item in lines_of(content):
                response = item.get("response")
                if isinstance(response, dict) and response.get("status_code") == 200:
                    yield name, batch_item(self._read, response.get("body"))
                else:
                    yield name, None

    async def _found(self, batch: str) -> Batch:
        with self._translated():
            try:
                return answer_of(Batch, await self._client.batches.retrieve(batch))
            except openai.NotFoundError:
                raise BatchGone(batch) from None
