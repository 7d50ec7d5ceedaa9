"""Structured output modes, with a fallback to simpler modes if an endpoint refuses a schema."""

import logging
from collections.abc import Awaitable, Callable, Sequence

from evaluation_assets.core.llm.errors import ProviderError
from evaluation_assets.core.llm.messages import Reply, Request
from evaluation_assets.core.llm.providers.capabilities import Structured

_WAYS: dict[Structured, str] = {"json_schema": "schema", "json_object": "json", "prompted": "none"}

_log = logging.getLogger(__name__)


class StructuredOutput:
    """The way that is taken, from the strictest to the simplest of those that the protocol has.

    A refusal (400, 422) moves on to the next way when that is answered, for the rest of the run. A refusal that does
    not name the schema may have other reasons: it is looked into once, and not after the way has worked.
    """

    def __init__(self, model: str, first: Structured, ways: Sequence[Structured]) -> None:
        self.way: Structured = first
        self._model = model
        self._ways = ways
        self._settled = False

    async def ask(self, request: Request, send: Callable[[Request, Structured], Awaitable[Reply]]) -> Reply:
        """Send a request in the way that works, finding out which one does.

        Raises:
            ProviderError: there was no reply.
        """
        way = self.way
        try:
            reply = await send(request, way)
        except ProviderError as problem:
            moved_on = way != self.way  # while this request was under way another one found out
            if request.schema is None or problem.schema is None:
                raise
            if problem.schema == "perhaps" and self._settled and not moved_on:
                raise
            for simpler in (self.way,) if moved_on else self._simpler_than(way):
                try:
                    reply = await send(request, simpler)
                except ProviderError as other:
                    if other.schema is None:
                        raise
                    continue
                self._take(simpler, problem)
                return reply
            self._settled = True
            raise
        if request.schema is not None:
            self._settled = True
        return reply

    def _simpler_than(self, way: Structured) -> Sequence[Structured]:
        order = list(_WAYS)
        return [other for other in self._ways if order.index(other) > order.index(way)]

    def _take(self, way: Structured, problem: ProviderError) -> None:
        if self.way != way:
            message = "%s refuses structured: %s (%s); structured: %s is used for the rest of the run"
            _log.warning(message, self._model, _WAYS[self.way], problem, _WAYS[way])
        self.way, self._settled = way, True
