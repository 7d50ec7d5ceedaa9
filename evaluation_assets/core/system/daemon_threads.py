"""Run functions of users in threads of their own, so that none of them blocks an event loop or the end of a run."""

import asyncio
import contextlib
import inspect
import threading
from collections.abc import Callable
from typing import Any


async def called(function: Callable[[Any], Any], argument: Any) -> Any:
    """The result of a plain function, run in a thread, or of an asynchronous one, run in the event loop.

    What it raises is an `Exception`, whatever that was; but a cancellation of the task that waits stays one.
    """
    if not any(map(inspect.iscoroutinefunction, (function, getattr(function, "__call__", None)))):  # noqa: B004
        returned = await in_thread(lambda: function(argument))
        if not inspect.isawaitable(returned):
            return returned
    else:
        returned = function(argument)
    try:
        return await returned
    except BaseException as problem:
        if (task := asyncio.current_task()) is not None and task.cancelling():
            raise
        raise _reportable(problem) from problem


def _reportable(problem: BaseException) -> Exception:
    """The problem, or one in its place where it would end more than the function, or has no message."""
    if isinstance(problem, Exception) and not isinstance(problem, StopIteration):
        with contextlib.suppress(Exception):
            str(problem)
            return problem
    return RuntimeError(f"the function raised {type(problem).__name__}")


async def in_thread(function: Callable[[], Any]) -> Any:
    """The result of the function, run in a daemon thread: a function that hangs does not block the end of the run."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Any] = loop.create_future()

    def settle(result: Any, problem: BaseException | None) -> None:
        if done.done():
            return
        if problem is None:
            done.set_result(result)
        else:
            done.set_exception(_reportable(problem))

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
