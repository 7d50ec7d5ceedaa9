"""uvicorn's HTTP protocol, with an end for connections on which no request arrives."""

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol


class PunctualProtocol(H11Protocol):
    """uvicorn itself ends a connection only between requests, and one byte of the next is enough to keep it."""

    head_seconds = 20.0
    """For the head of a request to arrive, after the connection or the last response. Bodies are the application's."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin with a connection."""
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Take what arrives."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()  # it may begin with the next request
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """End with a connection."""
        if self._deadline is not None:
            self._deadline.cancel()
        super().connection_lost(exc)

    def _watch(self) -> None:
        is_answering = self.cycle is not None and not self.cycle.response_complete
        if self._deadline is None and not is_answering:
            self._deadline = self.loop.call_later(self.head_seconds, self.transport.close)
        elif self._deadline is not None and is_answering:
            self._deadline.cancel()
            self._deadline = None
