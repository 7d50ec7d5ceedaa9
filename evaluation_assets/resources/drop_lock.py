"""One run at a time for a drop: two would write the same tables, each with rows of its own."""

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from evaluation_assets.core.installation import Installation
from evaluation_assets.core.trajectories.identity import digest


@contextmanager
def alone(home: Installation, drop: str, say: Callable[[str], object]) -> Iterator[None]:
    """Wait until no other process of this machine is at work on the drop. A killed process holds nothing.

    Dagster's own limit counts runs by the tag of their one partition, which a run of many drops does not have.
    """
    folder = home.dagster / "locks"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / digest(drop)).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"{drop}: waiting for another run of this drop")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
