"""A real PostgreSQL server for tests, in a folder of its own, gone when the tests are done."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa


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
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C"}
    done = subprocess.run(
        [str(part) for part in command], user=user, cwd="/", env=environment, stdout=subprocess.DEVNULL, check=False
    )
    assert done.returncode == 0, f"{command[0]} failed"
