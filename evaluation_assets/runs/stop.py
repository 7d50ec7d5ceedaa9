"""Handle signals that stop a command: Ctrl-C, SIGTERM, a closed terminal."""

import logging
import os
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Self

from evaluation_assets.core.cancellation import SIGNALS


class Stop:
    """Notes the first signal to stop, and calls `at_once` then, in a thread of its own. `runs` are the runs so far.

    Dagster has signal handlers of its own while it runs: it puts a signal off until user code runs, and forgets one
    that comes after the last step. A signal is therefore noted where Python's handlers do not matter.
    """

    def __init__(self) -> None:
        self.signal: signal.Signals | None = None
        self.at_once: Callable[[], object] = lambda: None
        self.runs: list[str] = []
        self._noted = threading.Event()

    def __enter__(self) -> Self:
        self._before = {number: signal.getsignal(number) for number in SIGNALS}
        signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in a shell's background job
        for number in SIGNALS:
            if number != signal.SIGINT and self._before[number] != signal.SIG_IGN:  # nohup ignores SIGHUP
                signal.signal(number, _interrupt)
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

    def settled(self) -> bool:
        """Whether there was a signal; `at_once` has returned then."""
        return self.signal is not None and self._noted.wait(60)

    def after_interrupt(self) -> signal.Signals:
        """The signal behind a `KeyboardInterrupt`, which may be raised before it is noted."""
        self._noted.wait(1)
        return self.signal or signal.SIGINT

    def _watch(self) -> None:
        with os.fdopen(self._read, "rb", buffering=0) as signals:
            while came := signals.read(1):
                if came[0] in SIGNALS and self.signal is None:
                    self.signal = signal.Signals(came[0])
                    logging.getLogger("asyncio").setLevel(logging.CRITICAL)  # of tasks that nobody waits for any more
                    try:
                        self.at_once()
                    finally:
                        self._noted.set()


def _interrupt(_number: int, frame: FrameType | None) -> None:
    """As SIGINT, whatever handles that at the moment."""
    handler = signal.getsignal(signal.SIGINT)
    if callable(handler):
        handler(signal.SIGINT, frame)
