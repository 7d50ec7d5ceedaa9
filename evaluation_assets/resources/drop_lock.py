"""One run at a time for a drop or a part of one: two would write the same tables, each with rows of its own."""

import fcntl
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import sqlalchemy as sa

from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.traces.trajectories.identity import digest

_KEEPALIVE = ("tcp_keepalives_idle = 30", "tcp_keepalives_interval = 10", "tcp_keepalives_count = 3")
"""The database server notices within a minute that a machine is gone, and not after hours as by default."""


class _Taken(Exception):
    """Another run is at work."""


@contextmanager
def alone(home: Installation, drop: str, say: Callable[[str], object]) -> Iterator[None]:
    """Wait until no other run is at work on the drop. A killed process holds nothing.

    A file excludes runs of this machine. With a ledger in PostgreSQL, a lock there excludes those of all machines; it
    lasts as long as its connection. Dagster's own limit counts runs by the tag of their one partition,
    which a run of many drops does not have.
    """

    def wait(seize: Callable[[], object]) -> None:
        say(f"{drop}: waiting for another run of this drop")
        seize()

    with _on_this_machine(home, drop, wait), _on_all_machines(home, drop, wait):
        yield


@contextmanager
def claimed(home: Installation, name: str) -> Iterator[bool]:
    """Whether this run alone is at work on a part of a drop, from now on; without waiting for another."""

    def give_up(_: Callable[[], object]) -> None:
        raise _Taken

    with ExitStack() as stack:
        try:
            stack.enter_context(_on_this_machine(home, name, give_up))
            stack.enter_context(_on_all_machines(home, name, give_up))
        except _Taken:
            stack.close()
            yield False
            return
        yield True


@contextmanager
def _on_this_machine(home: Installation, drop: str, wait: Callable[[Callable[[], object]], None]) -> Iterator[None]:
    folder = home.dagster / "locks"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / digest(drop)).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            wait(lambda: fcntl.flock(lock, fcntl.LOCK_EX))
        yield


@contextmanager
def _on_all_machines(home: Installation, drop: str, wait: Callable[[Callable[[], object]], None]) -> Iterator[None]:
    url = sa.make_url(home.ledger_url)
    if url.get_backend_name() != "postgresql":
        yield
        return
    number = int(digest(f"{home.lake}\0{drop}")[:15], 16)
    engine = sa.create_engine(url, poolclass=sa.NullPool, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for setting in _KEEPALIVE:
            connection.execute(sa.text(f"SET {setting}"))
        if not connection.execute(sa.select(sa.func.pg_try_advisory_lock(number))).scalar_one():
            wait(lambda: connection.execute(sa.select(sa.func.pg_advisory_lock(number))))
        yield
