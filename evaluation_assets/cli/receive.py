"""`receive`: an OTLP/HTTP receiver for the traces of agents."""

import asyncio
import errno
import ipaddress
import os
import shutil
import socket
import sys
import time
from importlib.util import find_spec

import click
import uvicorn
from starlette.applications import Starlette

from evaluation_assets.cli.options import HOST, PORT, FiniteRange, with_home
from evaluation_assets.cli.output import echo, refuse, warn
from evaluation_assets.cli.serving.private_home import warn_if_readable
from evaluation_assets.cli.serving.punctual_protocol import PunctualProtocol
from evaluation_assets.core.intake.sources.received import Spool, SpoolError
from evaluation_assets.core.intake.sources.tally import Tally
from evaluation_assets.core.system.commands import installing
from evaluation_assets.core.system.configuration import variable_name
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.system.stop_signals import handle_signals

LINE_SECONDS = 60.0
"""Seconds between lines if stderr is not a terminal."""

_BACKLOG = 2048
"""Connections that wait until the server takes them: senders may come as soon as the address is printed."""

_EXPIRY_SECONDS = 3600.0
_DAY = 86_400.0


@click.command()
@with_home
@click.option("--host", type=HOST, default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=PORT, default=4318, show_default=True, help="Port to listen on; 0 chooses a free one.")
@click.option("--token-env", help="Environment variable with the bearer token that agents have to send.")
@click.option(
    "--keep-days",
    type=FiniteRange(min=0, min_open=True),
    default=14.0,
    show_default=True,
    help="Delete received traces after this many days, whether or not they are in a drop.",
)
@click.option(
    "--max-spool-gb",
    type=FiniteRange(min=0, min_open=True, max=1_000_000),
    default=10.0,
    show_default=True,
    help="Size of the spool above which agents are asked to try again later.",
)
def receive(
    home: Installation, host: str, port: int, token_env: str | None, keep_days: float, max_spool_gb: float
) -> None:
    """Receive traces from agents over OTLP/HTTP.

    Each agent whose SDK exports to the printed endpoint is received. Traces go to the spool of the home folder; a
    source of type `received` in sources.yaml makes drops of them.
    """
    if (
        find_spec("opentelemetry") is None
        or find_spec("opentelemetry.proto") is None
        or find_spec("google.rpc") is None
    ):
        refuse(f"`receive` needs extra packages: {installing('receive')}")
    from evaluation_assets.core.intake.sources.receiver import receiver  # noqa: PLC0415  (needs the extra)

    token = _token(token_env)
    if token is None and not _is_loopback(host):
        refuse(f"--host {host} accepts connections from other machines: give --token-env, the variable with a token")
    listener = _listening(host, port)
    home.make()
    spool = Spool(home.received, int(max_spool_gb * 1e9))
    tally = Tally()
    _print_start(listener, host, home, token_env)
    warn_if_readable(home)
    asyncio.run(_serve(receiver(spool, tally, token), listener, spool, keep_days, tally))
    spool.close()
    echo(f"evaluation-assets: stopped. {tally}", err=True)


def _token(variable: str | None) -> str | None:
    """The token in an environment variable."""
    if variable is None:
        return None
    try:
        variable_name(variable)
    except ValueError as problem:
        refuse(f"--token-env: {problem}")
    if not (token := os.environ.get(variable, "").strip()):
        refuse(f"--token-env: {variable} is not set")
    return token


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _listening(host: str, port: int) -> socket.socket:
    """A socket that listens, so that a port in use is reported before anything is printed."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(_BACKLOG)
    except OSError as problem:
        if problem.errno == errno.EADDRINUSE:
            refuse(f"port {port} is in use, perhaps by another collector: stop it, or choose another --port")
        refuse(f"cannot listen on {host} port {port}: {problem.strerror or problem}")
    return listener


def _print_start(listener: socket.socket, host: str, home: Installation, token_env: str | None) -> None:
    name = f"[{host}]" if ":" in host else host
    settings = f"OTEL_EXPORTER_OTLP_ENDPOINT=http://{name}:{listener.getsockname()[1]}"
    settings += " OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf"
    if token_env is not None:
        settings += f' OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer%20${token_env}"'
    echo(f"Receiving traces into {home.received}. Start your agent with: {settings}", err=True)


def server_of(application: Starlette) -> uvicorn.Server:
    """A server of the receiver. uvicorn's other HTTP parser, which it prefers, does not bound the size of a head."""
    config = uvicorn.Config(
        application,
        http=PunctualProtocol,
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="off",
        timeout_graceful_shutdown=10,
    )
    return uvicorn.Server(config)


async def _serve(application: Starlette, listener: socket.socket, spool: Spool, keep_days: float, tally: Tally) -> None:
    """Serve until a signal to stop; requests that have begun are finished."""
    server = server_of(application)

    def stop(*_: object) -> None:
        server.should_exit = True

    handle_signals(stop)  # uvicorn handles two of them and raises these again when it has ended
    tasks = [asyncio.create_task(_report(tally)), asyncio.create_task(_expire(spool, keep_days))]
    try:
        await server.serve(sockets=[listener])
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _report(tally: Tally) -> None:
    """A live count on a terminal, otherwise a line a minute in which something arrived."""
    is_terminal = sys.stderr.isatty()
    shown = ""
    try:
        while True:
            await asyncio.sleep(1.0 if is_terminal else LINE_SECONDS)
            if (line := str(tally)) == shown or not tally.requests:
                continue
            shown = line
            if is_terminal:
                width = shutil.get_terminal_size().columns
                click.echo(f"\r\x1b[2K{line[: width - 1]}", nl=False, err=True)
            else:
                echo(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {line}", err=True)
    finally:
        if is_terminal and shown:
            click.echo("", err=True)


async def _expire(spool: Spool, keep_days: float) -> None:
    """Delete old traces, at the start and every hour."""
    while True:
        try:
            await asyncio.to_thread(spool.expire, time.time() - keep_days * _DAY)
        except SpoolError as problem:
            warn(str(problem))
        await asyncio.sleep(_EXPIRY_SECONDS)
