"""Code servers of Dagster. One whose process with the code has died answers, but starts no run: it is restarted."""

import threading
from collections.abc import Callable, Iterator

import psutil

_LOOK_EVERY_SECONDS = 5.0
_DEAD_LOOKS = 2
"""Looks without a process that say it died: one is replaced by another when code is loaded again."""


def keep_alive(dagster: int, stopping: threading.Event, tell: Callable[[str], None]) -> None:
    """Watch the code servers below a process of `dagster dev` until it ends, or `stopping` is set.

    A code server that is killed is started again by `dagster dev`. Runs are processes of their own and go on.
    """
    dead_looks: dict[psutil.Process, int] = {}
    while not stopping.wait(_LOOK_EVERY_SECONDS):
        for server in _code_servers(dagster):
            if _has_code(server):
                dead_looks[server] = 0
            elif server in dead_looks:  # else it is starting
                dead_looks[server] += 1
            if dead_looks.get(server, 0) >= _DEAD_LOOKS:
                tell("the process with the code died; it is started again, and runs in progress go on")
                del dead_looks[server]
                server.kill()


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
