"""Handle signals that stop a command: Ctrl-C, SIGTERM, a closed terminal."""

import logging
import os
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Self

from evaluation_assets.core.system.stop_signals import SIGNALS, Interrupted, is_importing

_LONGEST_S = 10.0
"""For Dagster to note that a run is being canceled. What waits for it is somebody who pressed Ctrl-C."""


class Stop:
    """Records the first signal to stop and calls `at_once` in a separate thread. `runs` are the runs so far.

    Dagster replaces the signal handlers while it runs: it delays a signal until user code runs, and drops one that
    comes after the last step. Signals are therefore received through a wakeup descriptor, not a Python handler.
    """

    def __init__(self) -> None:
        self.signal: signal.Signals | None = None
        self.at_once: Callable[[], object] = lambda: None
        self.runs: list[str] = []
        self._noted = threading.Event()
        self._postponed = False

    def __enter__(self) -> Self:
        self._before = {number: signal.getsignal(number) for number in SIGNALS}
        signal.signal(signal.SIGINT, self._interrupt)  # ignored in a background job of a shell
        for number in SIGNALS:
            if number != signal.SIGINT and self._before[number] != signal.SIG_IGN:  # nohup ignores SIGHUP
                signal.signal(number, _as_interrupt)
        self._read, self._write = os.pipe()
        os.set_blocking(self._write, False)
        self._wakeup = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        threading.Thread(target=self._watch, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        signal.set_wakeup_fd(self._wakeup)
        os.close(self._write)
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def check(self) -> None:
        """Raise `KeyboardInterrupt` if a signal came; one that came while a module was imported was postponed.

        The import system loses an exception in its callbacks, and extension modules turn it into an `ImportError`.
        """
        if self._postponed or self.signal is not None:
            raise Interrupted(self.after_interrupt())

    def settled(self) -> bool:
        """Whether there was a signal; if so, waits until `at_once` has returned."""
        return self.signal is not None and self._noted.wait(_LONGEST_S)

    def after_interrupt(self) -> signal.Signals:
        """The signal behind a `KeyboardInterrupt`, which may be raised before the signal is recorded."""
        self._noted.wait(1)
        return self.signal or signal.SIGINT

    def _watch(self) -> None:
        with os.fdopen(self._read, "rb", buffering=0) as signals:
            while came := signals.read(1):
                if came[0] in SIGNALS and self.signal is None:
                    self.signal = signal.Signals(came[0])
                    logging.getLogger("asyncio").setLevel(logging.CRITICAL)  # from tasks that are no longer awaited
                    try:
                        self.at_once()
                    finally:
                        self._noted.set()

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if is_importing(frame):
            self._postponed = True
        else:
            logging.getLogger("sqlalchemy.pool").setLevel(logging.CRITICAL)  # of connections that are on their way back
            raise Interrupted(number)


def _as_interrupt(number: int, frame: FrameType | None) -> None:
    """Forward the signal to the current SIGINT handler."""
    handler = signal.getsignal(signal.SIGINT)
    if callable(handler):
        handler(number, frame)
