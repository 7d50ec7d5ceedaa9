"""The signals that tell a process to stop, and handlers of them. Importing this imports nothing else."""

import os
import signal
import sys
from collections.abc import Callable
from types import FrameType

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
"""Ctrl-C, a request to end, a closed terminal."""

STATUSES = tuple(128 + number for number in SIGNALS)
"""Exit statuses of a process that was told to stop."""

Handler = Callable[[int, FrameType | None], object]


def handle_signals(handler: Handler) -> None:
    """Call a handler at each signal to stop; one that the parent process ignores, as `nohup` does, stays ignored.

    `SIGINT` is handled all the same: a shell starts its background jobs with it ignored.
    """
    for number in SIGNALS:
        if number == signal.SIGINT or signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, handler)


def end_process(number: int, _frame: FrameType | None) -> None:
    """Handler that ends the process with one line and the status of the signal, while there is nothing to clean up.

    An exception would not do while modules are imported: the import system loses one that is raised in its callbacks,
    and extension modules turn it into an `ImportError`.
    """
    os.write(sys.__stderr__.fileno() if sys.__stderr__ else 2, f"{stopped_by(number)}\n".encode())
    os._exit(128 + number)


def interrupt(number: int, frame: FrameType | None) -> None:
    """Handler that raises `Interrupted`, so that what is open is closed; while a module is imported, see above."""
    if is_importing(frame):
        end_process(number, frame)
    raise Interrupted(number)


def stopped_by(number: int) -> str:
    """What a command says that was told to stop."""
    return f"evaluation-assets: stopped by {signal.Signals(number).name}."


class Interrupted(KeyboardInterrupt):
    """A signal to stop was received."""

    def __init__(self, number: int = signal.SIGINT) -> None:
        super().__init__()
        self.number = number


def is_importing(frame: FrameType | None) -> bool:
    """Whether a frame is, or is called by, the import of a module."""
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back
    return False
