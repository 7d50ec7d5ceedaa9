"""A real HTTP server on this machine that answers as a test says."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit


@dataclass(frozen=True)
class Request:
    """What was asked. `query` has all values of each parameter, `body` is parsed JSON, `target` is path and query."""

    method: str
    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]
    body: Any
    target: str = ""


@dataclass(frozen=True)
class Reply:
    """What is answered. `text` is sent as it is, otherwise `body` as JSON; `hang_up` closes the connection instead."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    text: str | None = None
    hang_up: bool = False


Answer = Callable[[Request], Reply]


@contextmanager
def http_server(answer: Answer, port: int = 0) -> Iterator[str]:
    """The address of a server that answers until the block ends. Questions are answered one at a time."""
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # or each answer, sent in two pieces, waits 40 ms for the caller

        def handle_one_request(self) -> None:
            try:
                super().handle_one_request()
            except ConnectionError:  # the caller hung up: no matter for the error output, which tests read
                self.close_connection = True

        def handle_any(self) -> None:
            url = urlsplit(self.path)
            length = int(self.headers.get("Content-Length") or 0)
            raw = self.rfile.read(length)
            headers = {name.lower(): value for name, value in self.headers.items()}
            body = json.loads(raw) if raw else None
            with lock:
                reply = answer(Request(self.command, url.path, parse_qs(url.query), headers, body, self.path))
            if reply.hang_up:
                self.close_connection = True
                return
            content = reply.text.encode() if reply.text is not None else json.dumps(reply.body).encode()
            self.send_response(reply.status)
            for name, value in {"Content-Length": str(len(content)), **reply.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PATCH = handle_any  # noqa: N815  (the names that http.server calls)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=lambda: server.serve_forever(0.02), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
