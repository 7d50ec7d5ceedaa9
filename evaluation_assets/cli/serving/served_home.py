"""One `ui` for each installation: two daemons would ask for the same runs."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager

from evaluation_assets.cli.output import refuse
from evaluation_assets.core.system.installation import Installation, make_folder


@contextmanager
def served_alone(home: Installation, url: str) -> Iterator[None]:
    """Refuse an installation that another `ui` of this machine serves. A killed process serves nothing."""
    make_folder(home.dagster)
    with (home.dagster / "ui.lock").open("a+", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            refuse(f"{home.root} is already served at {lock.read()}; use that UI, or stop it first")
        lock.truncate(0)
        lock.write(url)
        lock.flush()
        yield
