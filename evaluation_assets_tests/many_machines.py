"""An installation on several machines: real servers and processes on this one, for tests and benchmarks.

Redis carries the runs, PostgreSQL holds Dagster's storage and the ledger, an S3 server holds drops, tables and reports,
and Celery workers execute runs. Dagster's settings are those that the package has for this deployment.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

import dagster as dg
import pytest
import sqlalchemy as sa
import yaml
from upath import UPath

from evaluation_assets.core.system.installation import Installation
from evaluation_assets_tests import postgres
from evaluation_assets_tests.conftest import KEY
from evaluation_assets_tests.test_ui import free_port, wait_for

TEMPLATE = "dagster.celery.yaml"
PACKAGES = {"dagster_celery": "dagster-celery", "dagster_postgres": "dagster-postgres", "redis": "redis"}
PACKAGES |= {"s3fs": "s3fs", "moto": "moto", "flask_cors": "flask-cors"}
ROOT = Path(__file__).parent.parent
_START_SECONDS = 120.0


@dataclass(slots=True)
class Service:
    """A process with all that it started, which may be killed and started again."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    folder: Path
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, with its output in a log file."""
        with (self.folder / f"{self.name}.log").open("ab") as log:
            self.process = subprocess.Popen(
                self.command,
                cwd=self.folder,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    @property
    def running(self) -> subprocess.Popen[bytes]:
        """The process."""
        assert self.process is not None, f"{self.name} was not started"
        return self.process

    def kill(self) -> None:
        """End it and its children at once, as a power cut does."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """End it as an operator does; at once after half a minute."""
        if self.process is None:
            return
        self._end(signal.SIGTERM, 30)
        self._end(signal.SIGKILL)

    def log(self) -> str:
        """What it wrote."""
        return (self.folder / f"{self.name}.log").read_text("utf-8", "replace")

    def _end(self, sent: signal.Signals, seconds: float | None = None) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.running.pid, sent)
        try:
            self.running.wait(seconds)
        except subprocess.TimeoutExpired:
            return


@dataclass(frozen=True, slots=True)
class Machines:
    """The services of one installation, and its addresses."""

    folder: Path
    environment: Mapping[str, str]
    database: postgres.Server
    redis: Service
    s3: Service
    code: Service
    daemon: Service
    workers: list[Service] = field(default_factory=list)

    @property
    def home(self) -> Installation:
        """The installation on the S3 server."""
        return Installation.from_environment()

    def stored(self) -> tuple[int, int]:
        """Replies in the ledger, and the questions that they answer."""
        engine = sa.create_engine(self.environment["EVALUATION_LEDGER_URL"], poolclass=sa.NullPool)
        with engine.connect() as connection:
            if not sa.inspect(connection).has_table("replies"):  # until the first run
                return 0, 0
            replies, questions = connection.execute(sa.text("SELECT count(*), count(DISTINCT key) FROM replies")).one()
        return replies, questions

    def instance(self) -> dg.DagsterInstance:
        """The Dagster instance that all machines share."""
        return dg.DagsterInstance.from_config(self.environment["DAGSTER_HOME"])

    def add_worker(self, concurrency: int = 1, host: str | None = None) -> Service:
        """Start a worker with a name of its own, and with a host name if one is given (needs privileges)."""
        name = f"worker{len(self.workers) + 1}"
        command = [sys.executable, "-m", "celery", "-A", "evaluation_assets.runs.celery_app", "worker", "-Q", "dagster"]
        command += ["--concurrency", str(concurrency), "-n", f"{name}@%h", "--loglevel", "INFO"]
        if host is not None:
            command = ["unshare", "--uts", "sh", "-c", 'hostname "$0" && exec "$@"', host, *command]
        worker = Service(name, command, self.environment, self.folder)
        worker.start()
        self.workers.append(worker)
        return worker

    def drop(self, key: str, content: bytes) -> None:
        """Put a file into the drops folder."""
        (self.home.drops / f"{key}.jsonl").write_bytes(content)


def need_services() -> None:
    """Skip the test where a server or a package is missing, and say which."""
    if shutil.which("redis-server") is None:
        pytest.skip("Redis is not installed (Debian: apt-get install redis-server)")
    missing = [name for module, name in PACKAGES.items() if find_spec(module) is None]
    if missing:
        pytest.skip(f"packages are not installed: {', '.join(missing)} (pip install -e '.[dev]')")


@contextmanager
def machines(panel: Mapping[str, object]) -> Iterator[Machines]:
    """Start all services but the workers, with a panel; skips where one of them is not installed.

    While the block runs, the addresses are in the environment of this process too.
    """
    need_services()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="machines-", ignore_cleanup_errors=True)))
        database = stack.enter_context(postgres.running())
        environment = _environment(folder, database.url, redis_port := free_port(), s3_port := free_port())
        patched = stack.enter_context(pytest.MonkeyPatch.context())
        for name, value in environment.items():
            patched.setenv(name, value)
        redis = ["redis-server", "--port", str(redis_port), "--bind", "127.0.0.1", "--dir", str(folder)]
        redis += ["--appendonly", "yes", "--appendfsync", "always", "--save", ""]
        s3 = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(s3_port)]
        module = "evaluation_assets.definitions"
        code = [
            sys.executable,
            "-m",
            "dagster",
            "api",
            "grpc",
            "--host",
            "127.0.0.1",
            "--port",
            str(port := free_port()),
        ]
        code += ["--location-name", module, "-m", module]
        daemon = [sys.executable, "-m", "dagster._daemon", "run", "--workspace", str(_workspace(folder, port))]
        everything = os.environ | environment
        made = Machines(
            folder,
            everything,
            database,
            Service("redis", redis, everything, folder),
            Service("s3", s3, everything, folder),
            Service("code", code, everything, folder),
            Service("daemon", daemon, everything, folder),
        )
        stack.callback(
            lambda: [service.stop() for service in (*made.workers, made.daemon, made.code, made.redis, made.s3)]
        )
        made.redis.start()
        made.s3.start()
        _create(made, panel)
        made.code.start()
        made.daemon.start()
        yield made


def _workspace(folder: Path, port: int) -> Path:
    """That of the Compose file, with another address."""
    workspace = yaml.safe_load((ROOT / "deploy" / "compose" / "workspace.yaml").read_text("utf-8"))
    workspace["load_from"][0]["grpc_server"] |= {"host": "127.0.0.1", "port": port}
    made = folder / "workspace.yaml"
    made.write_text(json.dumps(workspace))
    return made


def _environment(folder: Path, server_url: str, redis_port: int, s3_port: int) -> dict[str, str]:
    for name in ("dagster", "ledger"):
        with sa.create_engine(server_url, isolation_level="AUTOCOMMIT").connect() as connection:
            connection.execute(sa.text(f"CREATE DATABASE {name}"))
    base = server_url.rsplit("/", 1)[0]
    (folder / "dagster").mkdir()
    settings = (files("evaluation_assets") / TEMPLATE).read_bytes()
    (folder / "dagster" / "dagster.yaml").write_bytes(settings)
    return {
        "DAGSTER_HOME": str(folder / "dagster"),
        "EVALUATION_DAGSTER_URL": f"{base}/dagster".replace("+psycopg:", "+psycopg2:"),
        "EVALUATION_LEDGER_URL": f"{base}/ledger",
        "EVALUATION_BROKER_URL": f"redis://127.0.0.1:{redis_port}/0",
        "EVALUATION_HOME": "s3://evaluation/home",
        "EVALUATION_LAKE_URL": "s3://evaluation/lake",
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{s3_port}",
        "AWS_ACCESS_KEY_ID": "tests",
        "AWS_SECRET_ACCESS_KEY": "tests",
        "AWS_DEFAULT_REGION": "us-east-1",
        "TEST_KEY": KEY,
        "PYTHONPATH": str(ROOT),
        "PYTHONWARNINGS": "ignore",
    }


def _create(made: Machines, panel: Mapping[str, object]) -> None:
    """The bucket, the panel and Dagster's tables, as an operator makes them before the services start."""
    wait_for(lambda: _answers(made.environment["AWS_ENDPOINT_URL"]), _START_SECONDS)
    UPath("s3://evaluation").mkdir()
    (made.home.root / "panel.yaml").write_text(json.dumps(panel))
    with made.instance():
        pass


def _answers(url: str) -> bool | None:
    try:
        urllib.request.urlopen(url, timeout=5).close()
    except OSError:
        return None
    return True
