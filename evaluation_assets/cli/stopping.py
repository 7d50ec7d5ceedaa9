"""Handle Ctrl-C and other signals: keep paid replies and print how to resume."""

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from evaluation_assets.cli.output import echo
from evaluation_assets.core.models.ledger import Ledger
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.runs.stop import Stop


@contextmanager
def resumable(home: Installation) -> Iterator[Stop]:
    """On a signal to stop, print one line and exit with the signal's status."""
    with Stop() as stop:
        try:
            yield stop
        except KeyboardInterrupt:
            number = stop.after_interrupt()
            command = shlex.join(["evaluation-assets", *sys.argv[1:]])
            kept = _replies(home, stop.runs)
            echo(
                f"evaluation-assets: stopped by {number.name}. {kept} new replies are kept in the ledger and are not "
                f"paid for again. To resume: {command}",
                err=True,
            )
            sys.exit(128 + number)


def _replies(home: Installation, runs: list[str]) -> int:
    if not home.has_ledger:
        return 0
    ledger = Ledger(home.ledger_url)
    try:
        return ledger.count(runs)
    finally:
        ledger.close()
