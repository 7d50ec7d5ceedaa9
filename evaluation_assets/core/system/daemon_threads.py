"""Run functions of users in threads of their own, so that none of them blocks an event loop or the end of a run."""

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import Any


async def in_thread(function: Callable[[], Any]) -> Any:
    """The result of the function, run in a daemon thread: a function that hangs does not block the end of the run."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Any] = loop.create_future()

    def settle(result: Any, problem: BaseException | None) -> None:
        if done.done():
            return
        if problem is None:
            done.set_result(result)
        elif isinstance(problem, Exception) and not isinstance(problem, StopIteration):
            done.set_exception(problem)
        else:
            done.set_exception(RuntimeError(f"the function raised {type(problem).__name__}"))

    def run() -> None:
        result, problem = None, None
        try:
            result = function()
        except BaseException as raised:  # noqa: BLE001  (also SystemExit, which would end this thread silently)
            problem = raised
        with contextlib.suppress(RuntimeError):  # the loop is closed: the result is no longer needed
            loop.call_soon_threadsafe(settle, result, problem)

    threading.Thread(target=run, daemon=True).start()
    return await done
