"""Concurrent work in a thread that receives no signals is stopped as the main thread is by one."""

import asyncio
import threading
from collections.abc import Callable

import pytest

from evaluation_assets.core.system.cancellation import as_completed, finished, forget_stop, raise_if_told, stop_thread


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


def ended(work: Callable[[], object]) -> tuple[threading.Thread, list[BaseException]]:
    """A thread at work, and how it ended."""
    raised: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as problem:  # noqa: BLE001
            raised.append(problem)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread, raised


def test_work_that_is_told_between_two_results_waits_for_no_other() -> None:
    first, told = threading.Event(), threading.Event()
    results: list[str] = []

    async def answer(wait: bool) -> str:
        if wait:
            await asyncio.Event().wait()
        return "answer"

    async def work() -> None:
        async for result in as_completed([answer(wait=False), answer(wait=True)]):
            results.append(result)
            first.set()
            told.wait()

    thread, raised = ended(lambda: asyncio.run(work()))
    assert first.wait(30)
    stop_thread(thread)
    told.set()
    thread.join(30)
    assert results == ["answer"] and [type(each) for each in raised] == [KeyboardInterrupt]


def test_a_thread_whose_event_loop_was_just_closed_can_be_told() -> None:
    closed, told = threading.Event(), threading.Event()

    async def forever() -> None:
        await asyncio.Event().wait()

    async def work() -> None:
        async for _ in as_completed([forever()]):
            pass

    def run() -> None:
        loop = asyncio.new_event_loop()
        waiting = loop.create_task(work())
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()
        closed.set()
        told.wait()
        raise_if_told()
        del waiting

    thread, raised = ended(run)
    assert closed.wait(30)
    stop_thread(thread)
    told.set()
    thread.join(30)
    assert [type(each) for each in raised] == [KeyboardInterrupt]


def test_a_thread_that_waits_for_nothing_is_told_when_it_looks_and_can_work_again() -> None:
    def work() -> None:
        while True:
            raise_if_told()

    thread, raised = ended(work)
    stop_thread(thread)
    thread.join(30)
    assert [type(each) for each in raised] == [KeyboardInterrupt]

    def again() -> None:
        own = threading.current_thread()
        stop_thread(own)
        with pytest.raises(KeyboardInterrupt):
            raise_if_told()
        forget_stop(own)
        raise_if_told()

    thread, raised = ended(again)
    thread.join(30)
    assert raised == []


@pytest.mark.parametrize("times", [1, 2], ids=["once", "twice"])
def test_a_reply_that_is_paid_for_is_awaited_when_work_is_cancelled_once(times: int) -> None:
    kept: list[str] = []

    async def work() -> None:
        sent, arrived = asyncio.Event(), asyncio.Event()

        async def reply() -> str:
            sent.set()
            await arrived.wait()
            kept.append("reply")
            return "reply"

        waiting = asyncio.create_task(finished(reply()))
        await sent.wait()
        for _ in range(times):
            waiting.cancel()
            await asyncio.sleep(0)
        arrived.set()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert len(asyncio.all_tasks()) == 1, "nothing is left running"

    asyncio.run(work())
    assert kept == ["reply"] * (times == 1)


def test_what_work_returns_and_raises_is_passed_on_by_finished() -> None:
    async def fails() -> str:
        raise ValueError("refused")

    async def replies() -> str:
        return "reply"

    assert asyncio.run(finished(replies())) == "reply"
    with pytest.raises(ValueError, match="refused"):
        asyncio.run(finished(fails()))
