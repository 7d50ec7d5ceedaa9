"""Code servers of Dagster. One whose process with the code has died answers, but starts no run: it is restarted."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

import psutil

_LOOK_EVERY_SECONDS = 5.0
_DEAD_LOOKS = 2
"""Looks without a process that say it died: one is replaced by another when code is loaded again."""
_LOST_LOOKS = 24
"""Looks without any code that say it will not come back: Dagster gives up a code server that is killed as it starts."""


def keep_alive(dagster: int, stopping: threading.Event, tell: Callable[[str], None]) -> None:
    """Watch the code servers below a process of `dagster dev` until it ends, or `stopping` is set.

    A code server that is killed is started again by `dagster dev`. Runs are processes of their own and go on. Where
    the code does not come back, the services are stopped: without it no drop would ever be evaluated.
    """
    dead_looks: dict[psutil.Process, int] = {}
    looks_without_code = 0
    while not stopping.wait(_LOOK_EVERY_SECONDS) and _is_running(dagster):
        looks_without_code += 1
        for server in _code_servers(dagster):
            if _has_code(server):
                dead_looks[server] = looks_without_code = 0
            elif server in dead_looks:  # else it is starting
                dead_looks[server] += 1
            if dead_looks.get(server, 0) >= _DEAD_LOOKS:
                tell("the process with the code died; it is started again, and runs in progress go on")
                del dead_looks[server]
                server.kill()
        if looks_without_code >= _LOST_LOOKS:
            tell("the process with the code died and did not start again; start `ui` again")
            with suppress(ProcessLookupError):  # it ended by itself meanwhile
                os.kill(dagster, signal.SIGINT)  # not its group, to which runs in progress belong
            return


def end_late(dagster: int, stopping: threading.Event) -> None:
    """Once all is stopped, kill a code server that was started meanwhile.

    All processes are interrupted at once. `dagster dev` may notice that of its code servers before its own, start one
    again and leave it behind; it holds the log, which `ui` reads to its end, until it misses a heartbeat for 45 s.
    """
    stopping.wait()
    before = _group(dagster)
    while _is_running(dagster):
        time.sleep(0.2)
    for process in _group(dagster) - before:
        if _was_called(process, "code-server") or _was_called(process, "grpc"):
            with suppress(psutil.NoSuchProcess):  # it ended by itself meanwhile
                process.kill()


def _group(leader: int) -> set[psutil.Process]:
    """The processes of a process group."""
    members = set()
    for process in psutil.process_iter():
        with suppress(ProcessLookupError):
            if os.getpgid(process.pid) == leader:
                members.add(process)
    return members


def _is_running(dagster: int) -> bool:
    """Whether it has not ended; `ui` waits for it until the runs that it started have ended, too."""
    try:
        return psutil.Process(dagster).status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def _code_servers(dagster: int) -> Iterator[psutil.Process]:
    try:
        for child in psutil.Process(dagster).children():
            if _was_called(child, "code-server"):
                yield child
    except psutil.Error:
        return


def _has_code(server: psutil.Process) -> bool:
    try:
        return any(_was_called(child, "grpc") for child in server.children())
    except psutil.Error:
        return True  # it ended by itself meanwhile


def _was_called(process: psutil.Process, word: str) -> bool:
    """Whether a living process has a word among its arguments; one that is dead and not waited for has no arguments."""
    try:
        return word in process.cmdline()
    except psutil.Error:
        return False
