"""Writes to the ledger in groups: a transaction of its own for each of them takes longer than what is written."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from evaluation_assets.core.models.errors import LedgerError
from evaluation_assets.core.models.ledger import Ledger
from evaluation_assets.core.models.ledger_connection import Work

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Write:
    work: Work[Any]
    future: asyncio.Future[Any]
    failed: Callable[[LedgerError], object] | None


class GroupedWrites:
    """The writes of one client. Those that are asked for in one turn of the event loop are one transaction.

    A write is committed before its result is used.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._waiting: list[_Write] = []

    async def claimed(self, work: Work[T], release: Work[Any]) -> T:
        """What a claim gives. Where who asks is cancelled meanwhile, it is not made, or released.

        Raises:
            LedgerError: it cannot be written.
        """
        future = self._added(work)
        try:
            return await future
        except asyncio.CancelledError:
            if not future.cancelled() and future.exception() is None and future.result() is not None:
                self._ledger.together([release])
            raise

    async def stored(self, work: Work[T], failed: Callable[[LedgerError], object]) -> T:
        """What a write gives. It is made although who asks is cancelled; `failed` is called where it cannot be made.

        Raises:
            LedgerError: it cannot be written.
        """
        future = self._added(work, failed)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            self.flush()
            raise

    def flush(self) -> None:
        """Write what waits now."""
        group = [write for write in self._waiting if not write.future.cancelled()]
        self._waiting.clear()
        if not group:
            return
        try:
            results = self._ledger.together([write.work for write in group])
        except LedgerError as problem:
            for write in group:
                if write.failed is not None:
                    write.failed(problem)
                write.future.set_exception(type(problem)(*problem.args))
            return
        for write, result in zip(group, results, strict=True):
            write.future.set_result(result)

    def _added(self, work: Work[Any], failed: Callable[[LedgerError], object] | None = None) -> asyncio.Future[Any]:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        if not self._waiting:
            loop.call_soon(self.flush)
        self._waiting.append(_Write(work, future, failed))
        return future
