"""A run inside a notebook's event loop: Ctrl-C ends it, whatever the thread that works on it does."""

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from evaluation_assets.core.system.cancellation import as_completed, raise_if_told
from evaluation_assets.runs.own_loop import run_here
from evaluation_assets.runs.stop import Stop

pytestmark = pytest.mark.skipif(
    threading.current_thread() is not threading.main_thread(), reason="signals are handled only in the main thread"
)


def in_notebook(work: Callable[[Stop], Any], longest_s: float = 600) -> Any:
    """What `work` returns, called where an event loop runs already."""

    async def cell() -> Any:
        return run_here(work, longest_s)

    return asyncio.run(cell())


def interrupt() -> None:
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


@pytest.fixture
def release() -> Iterator[threading.Event]:
    """Ends what a test leaves at work."""
    event = threading.Event()
    yield event
    event.set()
    for thread in threading.enumerate():
        if thread.name == "evaluation":
            thread.join()


def test_work_that_looks_at_no_signal_does_not_hold_the_notebook(release: threading.Event) -> None:
    def work(_: Stop) -> None:
        interrupt()
        release.wait()

    with pytest.raises(KeyboardInterrupt) as stopped:
        in_notebook(work, longest_s=0.01)
    assert not release.is_set()
    assert stopped.value.__notes__ == ["What the evaluation waits for cannot be interrupted; it ends after that."]
    (left,) = [thread for thread in threading.enumerate() if thread.name == "evaluation"]
    assert left.daemon, "it does not hold the end of the process either"


def test_a_second_interrupt_waits_no_longer(release: threading.Event) -> None:
    def work(_: Stop) -> None:
        interrupt()
        try:
            while True:
                raise_if_told()
        except KeyboardInterrupt:
            interrupt()
            release.wait()

    with pytest.raises(KeyboardInterrupt) as stopped:
        in_notebook(work)
    assert not release.is_set() and not hasattr(stopped.value, "__notes__")


def test_work_between_two_waits_is_told(release: threading.Event) -> None:
    rounds: list[str] = []

    def work(_: Stop) -> None:
        interrupt()
        while not release.is_set():
            raise_if_told()
        rounds.append("went on")

    with pytest.raises(KeyboardInterrupt) as stopped:
        in_notebook(work)
    assert rounds == [] and not hasattr(stopped.value, "__notes__"), "it has ended"


def test_requests_under_way_are_cancelled() -> None:
    closed: list[str] = []

    async def request() -> None:
        interrupt()
        try:
            await asyncio.Event().wait()
        finally:
            closed.append("connection closed")

    async def judging() -> None:
        async for _ in as_completed([request()]):
            pass

    with pytest.raises(KeyboardInterrupt):
        in_notebook(lambda _: asyncio.run(judging()))
    assert closed == ["connection closed"]


@pytest.mark.timeout(20)
def test_a_signal_that_another_thread_receives_is_handled() -> None:
    ended = threading.Event()

    def work(_: Stop) -> None:
        ended.wait(0.1)  # until the main thread waits: it is not woken up
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        try:
            while True:
                raise_if_told()
        finally:
            ended.set()

    with pytest.raises(KeyboardInterrupt):
        in_notebook(work)
    assert ended.is_set()


def test_what_work_returns_and_raises_is_passed_on() -> None:
    assert in_notebook(lambda _: 5) == 5
    with pytest.raises(ZeroDivisionError):
        in_notebook(lambda _: 1 // 0)
