"""Serving of the web application."""

from __future__ import annotations

import socket
from collections.abc import Callable

import uvicorn

from evaluation_assets_tests.model_server.application import Connection, Models, application


def serve(models: Models, port: int, ready: Callable[[str], object]) -> None:
    """Serve until the process is told to stop; `ready` is given the URL. Port 0 takes a free one."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        listener.listen(2048)
        ready(f"http://127.0.0.1:{listener.getsockname()[1]}")
        config = uvicorn.Config(
            application(models),
            http=Connection,
            ws="none",
            lifespan="off",
            access_log=False,
            log_level="error",
            server_header=False,
            date_header=False,
            timeout_keep_alive=60,
            timeout_graceful_shutdown=1,
        )
        uvicorn.Server(config).run(sockets=[listener])
