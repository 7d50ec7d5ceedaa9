"""Run Dagster inside somebody's program: a notebook's event loop, environment and signals stay theirs."""

import asyncio
import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import Any, TypeVar

from evaluation_assets.core.system.cancellation import stop_thread
from evaluation_assets.core.system.garbage import end_without_search
from evaluation_assets.runs.stop import Stop

Returned = TypeVar("Returned")

_LONGEST_S = 30.0
"""For an interrupted run to end. Requests are given up at once; a user's function and a file being read are not."""


ALONE = threading.Lock()
"""For what a process has once: the output, which Dagster redirects while a step runs, would be put back in the wrong
order by two threads."""


def run_here(work: Callable[[Stop], Returned], longest_s: float = _LONGEST_S) -> Returned:
    """Call `work` where it can start an event loop, and so that Ctrl-C stops the run cleanly.

    A notebook has an event loop that runs in this thread, and a thread can have only one; work is then done in another
    thread. Signals are handled only in the main thread.

    Raises:
        KeyboardInterrupt: a signal to stop was received; the run is canceled. Paid replies are kept. Work in another
            thread that has not ended after `longest_s`, or when a second signal comes, is left to end by itself.
    """
    end_without_search()
    if threading.current_thread() is not threading.main_thread():
        stop = Stop()
        return _in_thread(work, stop, longest_s) if _has_loop() else work(stop)
    with Stop() as stop:
        return _in_thread(work, stop, longest_s) if _has_loop() else work(stop)


def _has_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _in_thread(work: Callable[[Stop], Returned], stop: Stop, longest_s: float) -> Returned:
    done: Future[Returned] = Future()

    def run() -> None:
        try:
            done.set_result(work(stop))
        except BaseException as problem:  # noqa: BLE001  # raised again in the thread that waits
            done.set_exception(problem)

    thread = threading.Thread(target=run, name="evaluation", daemon=True)
    try:
        thread.start()  # an interrupt may come while it waits for the thread to begin
        _wait(done)
    except KeyboardInterrupt as interrupt:
        stop_thread(thread)
        stop.after_interrupt()
        _wait(done, longest_s)
        if not done.done():
            interrupt.add_note("What the evaluation waits for cannot be interrupted; it ends after that.")
        raise
    return done.result()


def _wait(done: Future[Any], seconds: float = math.inf) -> None:
    """Wait until work is done, a second at a time: a signal that another thread receives, or that comes just before a
    wait, is handled only after that. An interrupted `Thread.join` takes a thread for ended: bugs.python.org/issue45274.
    """
    end = time.monotonic() + seconds
    while not done.done() and (left := end - time.monotonic()) > 0:
        wait([done], min(left, 1))
