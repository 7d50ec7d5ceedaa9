"""The command `evaluation-assets`, also `python -m evaluation_assets.cli`, which a signal to stop ends at any time.

While modules are imported, and after the command, a signal ends the process at once. While the command runs, it is
an exception.
"""

import os
import sys
from contextlib import suppress

from evaluation_assets.core.system.stop_signals import STATUSES, end_process, handle_signals


def run() -> None:
    """Run the command that the arguments name."""
    handle_signals(end_process)
    from evaluation_assets.cli.main import main  # noqa: PLC0415  (a signal may come while it is imported)

    try:
        main()
    except SystemExit as end:
        if isinstance(end.code, int) and end.code in STATUSES:
            with suppress(OSError):  # nobody reads it any more
                sys.stdout.flush()
            os._exit(end.code)  # the interpreter would wait for threads that wait for a reply
        raise
    finally:
        handle_signals(end_process)


if __name__ == "__main__":
    run()
