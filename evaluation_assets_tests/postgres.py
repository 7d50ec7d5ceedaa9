"""A real PostgreSQL server for tests, in a folder of its own, gone when the tests are done."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
import sqlalchemy as sa


@dataclass(frozen=True, slots=True)
class Server:
    """A PostgreSQL server and its SQLAlchemy URL."""

    url: str
    _programs: Path
    _folder: Path
    _options: str
    _user: str | None

    def start(self) -> None:
        """Start it, also after it was killed."""
        arguments = ("-D", self._folder / "data", "-w", "-l", self._folder / "log", "-o", self._options, "start")
        _run(self._programs / "pg_ctl", *arguments, user=self._user)

    def kill(self) -> None:
        """End it and all of its processes with SIGKILL."""
        main = int((self._folder / "data" / "postmaster.pid").read_text().splitlines()[0])
        children = Path(f"/proc/{main}/task/{main}/children").read_text().split()
        for pid in (main, *map(int, children)):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with suppress(ProcessLookupError):
            while True:  # its parent has not asked for its exit status yet
                os.kill(main, 0)
                time.sleep(0.05)

    def stop(self) -> None:
        """End it without waiting for its clients."""
        _run(self._programs / "pg_ctl", "-D", self._folder / "data", "-m", "immediate", "stop", user=self._user)


@contextmanager
def server() -> Iterator[str]:
    """Start a server and give its SQLAlchemy URL; skips where PostgreSQL is not installed or cannot be started."""
    with running() as started:
        yield started.url


@contextmanager
def running() -> Iterator[Server]:
    """Start a server that can be killed and started again; skips as `server` does."""
    programs = _programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed (Debian: apt-get install postgresql)")
    user = _other_user() if os.geteuid() == 0 else None  # the server refuses to run as root
    folder = Path(tempfile.mkdtemp(prefix="postgres-"))
    try:
        if user is not None:
            shutil.chown(folder, user)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        data = folder / "data"
        _run(programs / "initdb", "-D", data, "-U", "tests", "-E", "UTF8", "--auth=trust", "--no-sync", user=user)
        options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder} -c fsync=off"
        url = f"postgresql+psycopg://tests@127.0.0.1:{port}/postgres"
        made = Server(url, programs, folder, options, user)
        made.start()
        try:
            yield made
        finally:
            made.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def database(server_url: str) -> str:
    """The URL of a new database of a server."""
    name = f"tests_{uuid.uuid4().hex}"
    with sa.create_engine(server_url, isolation_level="AUTOCOMMIT").connect() as connection:
        connection.execute(sa.text(f"CREATE DATABASE {name}"))
    return server_url.rsplit("/", 1)[0] + f"/{name}"


def _programs() -> Path | None:
    found = shutil.which("pg_ctl")
    places = [Path(found).parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((place for place in places if (place / "initdb").exists()), None)


def _other_user() -> str:
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name).pw_name
        except KeyError:
            continue
    pytest.skip("PostgreSQL does not run as root, and there is no other user")


def _run(*command: str | Path, user: str | None) -> None:
    subprocess.run(
        [str(part) for part in command],
        user=user,
        cwd="/",
        env={"PATH": os.environ["PATH"], "LC_ALL": "C"},
        stdout=subprocess.DEVNULL,
        check=True,
    )
