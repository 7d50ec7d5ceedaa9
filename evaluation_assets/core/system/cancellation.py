"""Run concurrent tasks in an event loop and cancel them in order when the process is told to stop."""

import asyncio
import signal
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, TypeVar
from weakref import WeakKeyDictionary, WeakSet

from evaluation_assets.core.system.stop_signals import SIGNALS

Result = TypeVar("Result")

GRACE_S = 10.0
"""How long work that is paid for goes on once the process is told to stop: replies come within seconds."""

_told: WeakSet[threading.Thread] = WeakSet()
_waiting: WeakKeyDictionary[threading.Thread, Callable[[], object]] = WeakKeyDictionary()
"""How to cancel what a thread other than the main one waits for. Only the main thread receives signals."""


def stop_thread(thread: threading.Thread) -> None:
    """Cancel the concurrent work of a thread, now or as soon as it begins; the main thread is sent a `SIGTERM`.

    A thread that waits for nothing learns of it at its next `raise_if_told`.
    """
    if thread is threading.main_thread():
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)
        return
    _told.add(thread)
    if (cancel := _waiting.get(thread)) is not None:
        with suppress(RuntimeError):  # its event loop was closed meanwhile, and nothing is left to cancel
            cancel()


def raise_if_told() -> None:
    """Between two pieces of work: raise `KeyboardInterrupt` in a thread that was told to stop by `stop_thread`."""
    if threading.current_thread() in _told:
        raise KeyboardInterrupt


def forget_stop(thread: threading.Thread) -> None:
    """Let a thread that was told to stop work again: the work that was meant has ended."""
    _told.discard(thread)


async def as_completed(work: Iterable[Coroutine[Any, Any, Result]]) -> AsyncIterator[Result]:
    """The results, whichever is done first comes first.

    A signal to stop cancels all of it and waits for its end: nothing more is asked, replies on their way are
    `finished`, connections and claims given back, no exception is raised in the middle of a commit. Dagster stops a
    run at `KeyboardInterrupt`, and goes on with other steps at anything else.
    """
    tasks = [asyncio.ensure_future(each) for each in work]
    try:
        for done in asyncio.as_completed(tasks):
            with _cancelled_by_signals(tasks):  # around every wait: between two results the handlers are Dagster's
                result = await done
            yield result
    except asyncio.CancelledError as stopped:
        raise KeyboardInterrupt from stopped
    finally:
        for task in tasks:
            if not task.cancelling():  # what is paid for goes on, and a second time would end it
                task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def finished(paid: Coroutine[Any, Any, Result]) -> Result:
    """The result of work that is paid for: when it is cancelled it goes on for up to `GRACE_S`, so that it is kept.

    The cancellation is raised after that. A second one ends the work at once.
    """
    task = asyncio.ensure_future(paid)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task], timeout=GRACE_S)
        raise
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@contextmanager
def _cancelled_by_signals(tasks: list[asyncio.Task[Any]]) -> Iterator[None]:
    """Signals cancel the tasks, in their loop. A second one does not wait for them."""
    loop = asyncio.get_running_loop()
    told = False

    def cancel() -> None:
        for task in tasks:
            task.cancel()

    thread = threading.current_thread()
    if thread is not threading.main_thread():
        _waiting[thread] = lambda: loop.call_soon_threadsafe(cancel)
        if thread in _told:
            cancel()
        try:
            yield
        finally:
            del _waiting[thread]
        return

    def stop(_number: int, _frame: FrameType | None) -> None:
        nonlocal told
        if told:
            raise KeyboardInterrupt
        told = True
        loop.call_soon_threadsafe(cancel)

    before = {number: signal.signal(number, stop) for number in SIGNALS if signal.getsignal(number) != signal.SIG_IGN}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
