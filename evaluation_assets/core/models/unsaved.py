"""Paid replies that could not be committed, until the ledger can be written again."""

import asyncio
from collections import deque
from collections.abc import Callable

from evaluation_assets.core.models.errors import LedgerError, Stopped, UnusableLedger
from evaluation_assets.core.models.ledger import Entry, Ledger
from evaluation_assets.core.models.ledger_connection import Work
from evaluation_assets.core.models.ledger_outage import RETRY_S
from evaluation_assets.core.models.timeouts import Deadline
from evaluation_assets.core.system.logs import log_of

_log = log_of(__name__)


class Unsaved:
    """The commits of one client that failed. `close` it before the ledger.

    They are tried again for `ledger_s` at most; then `stop` is called. Nothing is sent while that goes on. An outage
    ends when a claim or a reply is written: on a disk that is nearly full, a check may succeed where they do not.
    """

    def __init__(self, name: str, ledger: Ledger, ledger_s: float, stop: Callable[[Stopped], None]) -> None:
        self._name = name
        self._ledger = ledger
        self._ledger_s = ledger_s
        self._stop = stop
        self._commits: deque[Work[Entry]] = deque()
        self._saving: asyncio.Task[None] | None = None
        self._outage: Deadline | None = None

    def add(self, commit: Work[Entry], problem: LedgerError) -> None:
        """Try a commit again later."""
        self._commits.append(commit)
        self._start(problem)

    async def writable(self, problem: LedgerError | None = None) -> None:
        """Wait until the ledger can be written, or the client stops; at once where there was no problem."""
        saving = self._saving if problem is None else self._start(problem)
        if saving is not None:
            await asyncio.wait([saving])

    def written(self) -> None:
        """A claim or a reply was written: what fails from now on is another outage."""
        if self._outage is not None and self._saving is None:
            _log.warning("%s: the ledger is writable again", self._name)
            self._outage = None

    def close(self) -> None:
        """Try for a last time."""
        if self._saving is not None:
            self._saving.cancel()
        try:
            self._save()
        except LedgerError as problem:
            lost = f"{len(self._commits)} paid replies are not stored and will be paid for again"
            _log.warning("%s: %s: %s", self._name, lost, problem)

    def _start(self, problem: LedgerError) -> asyncio.Task[None] | None:
        if self._saving is None:
            if self._outage is None:
                _log.warning("%s: %s; no more requests are sent until it can be written", self._name, problem)
                self._outage = Deadline(self._ledger_s)
            elif self._outage.left <= 0:
                self._stop(Stopped("ledger", str(problem)))
                return None
            self._saving = asyncio.create_task(self._save_again(self._outage))
        return self._saving

    async def _save_again(self, deadline: Deadline) -> None:
        while True:
            try:
                await asyncio.sleep(min(RETRY_S, max(0.0, deadline.left)))
                self._ledger.check()
                saved = self._save()
            except LedgerError as problem:
                if deadline.left <= 0 or isinstance(problem, UnusableLedger):
                    self._stop(Stopped("ledger", str(problem)))
                    return
            else:
                self._saving = None
                if saved:
                    self.written()
                return

    def _save(self) -> int:
        saved = 0
        while self._commits:
            self._ledger.together([self._commits[0]])
            self._commits.popleft()
            saved += 1
        return saved
