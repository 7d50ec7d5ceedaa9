"""Concurrent work in a thread that receives no signals is stopped as the main thread is by one."""

import asyncio
import threading

import pytest

from evaluation_assets.core.system.cancellation import as_completed, stop_thread


@pytest.mark.parametrize("early", [False, True], ids=["while it waits", "before it begins"])
def test_work_in_another_thread_is_cancelled_and_ends_before_the_interrupt(early: bool) -> None:
    started, begin, ended, raised = threading.Event(), threading.Event(), [], []

    async def request() -> None:
        started.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("connection closed")

    async def work() -> None:
        async for _ in as_completed([request(), request()]):
            pass

    def run() -> None:
        begin.wait()
        try:
            asyncio.run(work())
        except KeyboardInterrupt as problem:
            raised.append(problem)

    thread = threading.Thread(target=run)
    thread.start()
    if early:
        stop_thread(thread)
    begin.set()
    if not early:
        assert started.wait(30)
        stop_thread(thread)
    thread.join(30)
    assert not thread.is_alive()
    assert len(raised) == 1
    assert ended == ["connection closed"] * (0 if early else 2), "work that has not begun has nothing to close"
