"""A local HTTP server for the real clients of trace stores."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit


@dataclass
class Asked:
    """A request: method and path, query, JSON body, headers in lower case."""

    what: str
    query: dict[str, list[str]]
    body: Any
    headers: dict[str, str]


Answer = tuple[int, Any] | tuple[int, Any, dict[str, str]]


@dataclass
class Serving:
    """A server's address and the requests that it got."""

    url: str
    asked: list[Asked] = field(default_factory=list)

    def of(self, what: str) -> list[Asked]:
        """The requests of a method and path."""
        return [each for each in self.asked if each.what == what]


@contextmanager
def serving(answer: Callable[[Asked], Answer]) -> Iterator[Serving]:
    """A server that answers requests with a status, a JSON value and perhaps headers."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            content = self.rfile.read(int(self.headers.get("content-length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            body = json.loads(content) if content else None
            asked = Asked(f"{self.command} {parts.path}", parse_qs(parts.query), body, headers)
            state.asked.append(asked)
            status, value, *more = answer(asked)
            data = json.dumps(value).encode()
            self.send_response(status)
            for name, said in {"Content-Type": "application/json", **(more[0] if more else {})}.items():
                self.send_header(name, said)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state = Serving(f"http://127.0.0.1:{server.server_address[1]}")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
