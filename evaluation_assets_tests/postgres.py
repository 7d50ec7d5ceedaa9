"""A real PostgreSQL server for tests, in a folder of its own, gone when the tests are done."""

import os
import pwd
import shlex
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa

_START_SECONDS = 30.0


@contextmanager
def server() -> Iterator[str]:
    """Start a server and give its SQLAlchemy URL; skips where PostgreSQL is not installed or cannot be started."""
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
        _run(programs / "pg_ctl", "-D", data, "-w", "-l", folder / "log", "-o", options, "start", user=user)
        try:
            yield f"postgresql+psycopg://tests@127.0.0.1:{port}/postgres"
        finally:
            _run(programs / "pg_ctl", "-D", data, "-m", "immediate", "stop", user=user)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


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
    assert _is_done(*command, user=user), f"{command[0]} failed"


def _is_done(*command: str | Path, user: str | None, quiet: bool = False) -> bool:
    done = subprocess.run(
        [str(part) for part in command],
        user=user,
        cwd="/",
        env={"PATH": os.environ["PATH"], "LC_ALL": "C"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL if quiet else None,
        check=False,
    )
    return done.returncode == 0


def kill(url: str) -> Path:
    """Kill a server that `server` started, as a power cut does; its data folder, to start it again."""
    with sa.create_engine(url, poolclass=sa.NullPool).connect() as connection:
        data = Path(connection.execute(sa.text("SHOW data_directory")).scalar_one())
    os.kill(int((data / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)
    return data


def start_again(data: Path) -> None:
    """Start a killed server at its old address, once its processes have noticed that it is gone."""
    programs = _programs()
    assert programs is not None
    _, *options = shlex.split((data / "postmaster.opts").read_text())
    user = _other_user() if os.geteuid() == 0 else None
    kept = shlex.join(options[2:])  # without -D and its value
    end = time.monotonic() + _START_SECONDS
    start = (programs / "pg_ctl", "-D", data, "-w", "-l", data.parent / "log", "-o", kept, "start")
    while not _is_done(*start, user=user, quiet=True):
        assert time.monotonic() < end, (data.parent / "log").read_text()[-500:]
        time.sleep(0.2)
