"""Waiting for the database server of the ledger while it is started again."""

import asyncio
from collections.abc import Callable

from evaluation_assets.core.models.errors import LedgerAway
from evaluation_assets.core.models.ledger import Ledger
from evaluation_assets.core.models.timeouts import Deadline
from evaluation_assets.core.system.logs import log_of

RETRY_S = 1.0

_log = log_of(__name__)


async def opened_when_it_answers(open_ledger: Callable[[], Ledger], seconds: float) -> Ledger:
    """The ledger, as soon as its server answers.

    Raises:
        LedgerAway: it does not answer for so many seconds.
        LedgerError: it cannot be used, now or later.
    """
    deadline = Deadline(seconds)
    told = False
    while True:
        try:
            return open_ledger()
        except LedgerAway as problem:
            if deadline.left <= 0:
                raise
            if not told:
                _log.warning("%s; waiting up to %.0f s for it", problem, seconds)
                told = True
            await asyncio.sleep(min(RETRY_S, deadline.left))
