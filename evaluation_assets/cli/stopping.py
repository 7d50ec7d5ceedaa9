"""Handle Ctrl-C and other signals: keep paid replies and print how to resume."""

import shlex
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager

from evaluation_assets.cli.output import echo
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.system.stop_signals import stopped_by
from evaluation_assets.core.text.counted import counted
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
            count = _replies(home, stop.runs)
            kept = f"{counted(count, 'new reply')} kept in the ledger, not paid for again. " if count else ""
            echo(f"{stopped_by(number)} {kept}To resume: {command}", err=True)
            sys.exit(128 + number)


def _replies(home: Installation, runs: list[str]) -> int:
    if not home.has_ledger:
        return 0
    from evaluation_assets.core.models.ledger import Ledger  # noqa: PLC0415  (SQLAlchemy: 0.2 s to import)

    with closing(Ledger(home.ledger_url)) as ledger:
        return ledger.count(runs)
