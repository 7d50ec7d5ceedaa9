"""`dagster dev` with the webserver that answers only its own pages. It ends with `ui`, also if that is killed.

Its first argument is the process of `ui`, which may be gone before this one asks for its parent.
"""

import os
import signal
import sys
import threading
import time

from evaluation_assets.resources.dagster_private import run_dev


def _end_with(parent: int) -> None:
    """Interrupt all services, as Ctrl-C does, once their parent is gone: they hold the port of the next `ui`."""
    while os.getppid() == parent:
        time.sleep(1)
    os.killpg(os.getpgid(0), signal.SIGINT)


if __name__ == "__main__":
    threading.Thread(target=_end_with, args=(int(sys.argv.pop(1)),), daemon=True).start()
    run_dev("evaluation_assets.cli.dagster_webserver")
