"""Real servers of trace stores for tests, each from an environment of its own, with a temporary folder.

`python -m evaluation_assets_tests.trace_servers` makes the environments (`make test-stores` does that first).
"""

import os
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from benchmarks.frameworks.environments import CACHE, python_of
from evaluation_assets_tests.test_ui import free_port

_REQUIREMENTS = Path(__file__).parent.parent / "benchmarks" / "frameworks"
_SERVERS = ("mlflow", "phoenix")
_START_SECONDS = 90


@contextmanager
def mlflow_server() -> Iterator[str]:
    """An MLflow tracking server, and its address."""
    python, port = _python("mlflow"), free_port()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        command = [python.with_name("mlflow"), "server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
        with _running([*map(str, command), "--backend-store-uri", f"sqlite:///{folder}/mlflow.db"], folder, port, {}):
            yield f"http://127.0.0.1:{port}"


@contextmanager
def phoenix_server() -> Iterator[str]:
    """A Phoenix server, and its address."""
    python, port = _python("phoenix"), free_port()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        own = {"PHOENIX_WORKING_DIR": folder, "PHOENIX_PORT": str(port), "PHOENIX_GRPC_PORT": str(free_port())}
        own |= {"PHOENIX_HOST": "127.0.0.1", "PHOENIX_TELEMETRY_ENABLED": "false"}
        with _running([str(python), "-m", "phoenix.server.main", "serve"], folder, port, own):
            yield f"http://127.0.0.1:{port}"


def _python(name: str) -> Path:
    python = CACHE / name / "bin" / "python"
    if not python.exists():
        pytest.skip(f"there is no environment with the server of {name}; `make test-stores` makes it")
    return python


@contextmanager
def _running(command: list[str], folder: str, port: int, own: Mapping[str, str]) -> Iterator[None]:
    log = Path(folder) / "server.log"
    with log.open("wb") as sink:
        process = subprocess.Popen(
            command, cwd=folder, env=os.environ | own, stdout=sink, stderr=sink, start_new_session=True
        )
    try:
        _wait(port, process, log)
        yield
    finally:
        os.killpg(process.pid, 15)  # the server has workers
        process.wait()


def _wait(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + _START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/").close()
            return
        except OSError:
            time.sleep(0.5)
    raise TimeoutError(f"the server did not start: {log.read_text()[-500:]}")


if __name__ == "__main__":
    for server in _SERVERS:
        print(python_of(server, _REQUIREMENTS / server / "requirements.txt"))
