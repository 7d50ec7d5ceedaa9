"""`ui`: the Dagster UI and its daemon."""

import errno
import fcntl
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from evaluation_assets.cli.options import HOST, PORT, WholeRange, with_home
from evaluation_assets.cli.output import echo, refuse
from evaluation_assets.cli.serving.changed_settings import load_changed, problem_of
from evaluation_assets.cli.serving.code_servers import end_late, keep_alive
from evaluation_assets.cli.serving.private_home import warn_if_readable
from evaluation_assets.cli.serving.report_server import serving
from evaluation_assets.cli.serving.service_log import news
from evaluation_assets.core.intake.copying.folders import prepare
from evaluation_assets.core.judging.panel import WITHOUT_MODEL, Panel, load_panel
from evaluation_assets.core.models.redaction.settings import Redaction
from evaluation_assets.core.pipeline.settings import load_settings
from evaluation_assets.core.report.index import write_index
from evaluation_assets.core.system.installation import Installation, make_folder
from evaluation_assets.core.system.regular_files import is_local

_ALL_INTERFACES = ("0.0.0.0", "::")  # noqa: S104


@click.command()
@with_home
@click.option("--port", type=WholeRange(1, 65535), default=3000, show_default=True, help="Port of the UI.")
@click.option("--host", type=HOST, default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--report-port",
    type=PORT,
    help="Port that the reports are served on (default: the one after --port, if it is free).",
)
def ui(home: Installation, port: int, host: str, report_port: int | None) -> None:
    """Start the Dagster UI and daemon, and serve the reports.

    The daemon evaluates new and changed files in the drops folder.
    """
    prepare(home)
    warn_if_readable(home)
    if (problem := problem_of(home)) is not None:
        refuse(problem)
    panel = load_panel(home.panel_file)
    with _served_alone(home, f"http://{host}:{port}"):
        if _is_taken(host, port):  # Dagster would silently choose another port
            refuse(f"port {port} of {host} is in use; choose another with --port")
        if report_port is not None and _is_taken(host, report_port):
            refuse(f"port {report_port} of {host} is in use; choose another with --report-port")
        if asked := asked_about_drops(home, panel):
            echo(asked, err=True)
        with _reports_served(
            home, panel.report_redaction, host, _report_port(host, port) if report_port is None else report_port
        ):
            status = _run_dagster(home, port, host)
    sys.exit(status)


def asked_about_drops(home: Installation, panel: Panel) -> str | None:
    """The models that new drops are sent to without a question, and what limits it; `None` without any."""
    models = [judge.name for judge in panel.judges if judge.provider not in WITHOUT_MODEL]
    if not (daily := [name for name in models if name not in panel.not_everyday]):
        return None
    limit = load_settings(home.gate_file).sensors.budget_usd_per_day
    if limit is None:
        limited = f"without a limit; for one, write `sensors: {{budget_usd_per_day: 5}}` into {home.gate_file}"
    else:
        limited = f"for at most ${limit:g} a day"
    return f"New drops are sent to {', '.join(daily)}, {limited}"


def _report_port(host: str, port: int) -> int:
    """The port after that of the UI; any other that is free where it is taken."""
    return 0 if _is_taken(host, port + 1) else port + 1


@contextmanager
def _reports_served(home: Installation, redaction: Redaction | None, host: str, port: int) -> Iterator[None]:
    """Serve the reports of a local home, and keep their URL where runs of this installation find it."""
    if not is_local(home.root):
        yield
        return
    folder = Path(home.root.path) / "reports"
    folder.mkdir(parents=True, exist_ok=True)
    with serving(folder, host, port, lambda: write_index(home, redaction)) as report_port:
        url = f"http://{_name_of(host)}:{report_port}"
        home.served_reports.parent.mkdir(parents=True, exist_ok=True)
        home.served_reports.write_text(url, "utf-8")
        echo(f"The reports are at {url}", err=True)
        try:
            yield
        finally:
            home.served_reports.unlink(missing_ok=True)


def _name_of(host: str) -> str:
    """The name in URLs of an address that is listened on."""
    return "localhost" if host in _ALL_INTERFACES else f"[{host}]" if ":" in host else host


def _run_dagster(home: Installation, port: int, host: str) -> int:
    """Run the webserver and the daemon until they end; gives the exit status."""
    warnings.simplefilter("ignore")  # Dagster's previews
    from evaluation_assets.runs.jobs import instance_of  # noqa: PLC0415  (a second to import)

    with instance_of(home):  # its services would create the tables of a new installation concurrently
        pass
    ui_url = f"http://{_name_of(host)}:{port}"
    echo(f"Drop files into {home.drops}. In some seconds, the UI is at {ui_url}", err=True)
    environment = os.environ | {"DAGSTER_HOME": str(home.dagster), "EVALUATION_HOME": str(home.root)}
    environment["PYTHONWARNINGS"] = "ignore"  # Dagster's previews and superseded commands, once per process
    services = [sys.executable, "-m", "evaluation_assets.cli.serving.dagster_dev", str(os.getpid())]
    command = [*services, "-m", "evaluation_assets.definitions"]
    # Handlers before the start: a shell's background job ignores SIGINT, and its children would inherit that.
    servers: list[subprocess.Popen[str]] = []

    stopping = threading.Event()

    def stop(*_: object) -> None:
        stopping.set()
        for server in servers:
            os.killpg(server.pid, signal.SIGINT)

    for ending in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # the last when the terminal is closed
        signal.signal(ending, stop)
    command += ["--port", str(port), "--host", host]
    servers.append(
        subprocess.Popen(
            command,
            env=environment,
            start_new_session=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
    )
    if stopping.is_set():  # stopped while it was starting
        stop()
    threading.Thread(target=keep_alive, args=(servers[0].pid, stopping, _tell), daemon=True).start()
    threading.Thread(target=end_late, args=(servers[0].pid, stopping), daemon=True).start()
    threading.Thread(target=load_changed, args=(home, ui_url, stopping, _tell), daemon=True).start()
    died = _pass_on(servers[0], stopping)
    status = servers[0].wait()
    if stopping.is_set():  # services that are still starting exit with anything
        _tell("stopped")
        return 0
    _tell(f"{died or 'the UI'} died, and all services were stopped; the log above shows why")
    return status or 1  # Dagster exits with 0 if one of its services dies


def _tell(message: str) -> None:
    echo(f"evaluation-assets: {message}", err=True)


@contextmanager
def _served_alone(home: Installation, url: str) -> Iterator[None]:
    """Refuse an installation that another `ui` of this machine serves: two daemons would ask for the same runs.

    A killed process serves nothing.
    """
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


def _is_taken(host: str, port: int) -> bool:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the server does
        try:
            probe.bind((host, port))
        except OSError as problem:
            return problem.errno == errno.EADDRINUSE
    return False


def _pass_on(server: subprocess.Popen[str], stopping: threading.Event) -> str | None:
    """Copy what is new in the services' logs to stderr; return the name of a service that the log reports as died."""
    died = None
    for line in news(server.stdout or (), stopping.is_set):
        sys.stderr.write(line)
        if match := re.search(r"(dagster-\w+) process shut down unexpectedly", line):
            died = match[1]
    return died
