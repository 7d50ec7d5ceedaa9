"""Serve the reports of an installation to browsers: files below one folder, read-only."""

import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedReader, RawIOBase
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from evaluation_assets.cli.serving.own_hosts import refusal_of
from evaluation_assets.core.report.index import INDEX

_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"\r\n]*)">')
_HEAD = 4096
"""Bytes of a page in which its policy stands."""

_NOTHING = "default-src 'none'; sandbox"
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".json": "application/json",
    ".jsonl": "application/jsonl; charset=utf-8",
    ".md": "text/markdown; charset=utf-8",
    ".csv": "text/csv; charset=utf-8",
    ".gz": "application/gzip",
}
_LONGEST_PATH = 4096


class FileHandler(SimpleHTTPRequestHandler):
    """Answers GET and HEAD for files below a folder; no listings, hidden files or links that lead out of it.

    Pages get the policy that they declare as a header; other files may load and run nothing. Requests under a foreign
    name are refused, also in subclasses that take other methods.
    """

    default_request_version = "HTTP/1.0"  # errors with a status line, also to what is no HTTP
    request_seconds = 20.0
    """A connection ends when its request has not arrived in full by then, and when so long nothing of an answer is
    taken."""

    def setup(self) -> None:
        """Prepare a connection, on which one request is answered."""
        super().setup()
        self.rfile = BufferedReader(_Arriving(self.connection, self.request_seconds))

    def handle_one_request(self) -> None:
        """Answer the request, unless the connection ends meanwhile."""
        try:
            super().handle_one_request()
        except OSError:
            self.close_connection = True

    def parse_request(self) -> bool:
        """Whether a request can be answered; otherwise an error was sent."""
        if not super().parse_request():
            return False
        self.connection.settimeout(self.request_seconds)
        if (reason := refusal_of(self.headers.get("Host", ""))) is not None:
            self.send_error(HTTPStatus.MISDIRECTED_REQUEST, explain=reason)
            return False
        if len(self.path) > _LONGEST_PATH:
            self.send_error(HTTPStatus.REQUEST_URI_TOO_LONG)
            return False
        return True

    def translate_path(self, path: str) -> str:
        """The file of the request."""
        return str(self._file() or "")

    def send_head(self) -> Any:
        """Send the headers of a file; the caller copies its content."""
        if self._file() is None:
            self.send_error(HTTPStatus.NOT_FOUND)
            return None
        return super().send_head()

    def end_headers(self) -> None:
        """Add the headers that restrict what a browser does with the content."""
        file = self._file() if self.command else None  # else the request could not be read
        self.send_header("Content-Security-Policy", f"{_policy_of(file)}; frame-ancestors 'none'")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def guess_type(self, path: Any) -> str:
        """The content type by the suffix; unknown files are bytes, never pages."""
        return _TYPES.get(Path(path).suffix, "application/octet-stream")

    def log_message(self, format: str, *args: Any) -> None:
        """Write no line per request."""

    def _file(self) -> Path | None:
        """The file that the request names, if it may be served."""
        path = unquote(self.path.partition("?")[0].partition("#")[0])
        if path.endswith("/"):
            path += INDEX
        parts = path.split("/")[1:]
        if "\0" in path or any(part.startswith(".") or not part or "\\" in part for part in parts):
            return None
        root = Path(self.directory).resolve()
        try:
            file = root.joinpath(*parts).resolve()
            return file if file.is_file() and file.is_relative_to(root) else None
        except (OSError, RuntimeError):  # a name that is too long, a link to itself
            return None


class ReportHandler(FileHandler):
    """Files of reports, and a page that lists them, which `list_reports` writes when it is asked for."""

    def __init__(self, *request: Any, list_reports: Callable[[], object], directory: str) -> None:
        self._list_reports = list_reports
        super().__init__(*request, directory=directory)

    def send_head(self) -> Any:
        """Send the headers of a file; the caller copies its content."""
        if self.path.partition("?")[0] in ("/", f"/{INDEX}"):
            self._list_reports()
        return super().send_head()


class _Arriving(RawIOBase):
    """What arrives on a connection within some seconds. A timeout of the socket would begin again with every byte."""

    def __init__(self, connection: socket.socket, seconds: float) -> None:
        self._connection = connection
        self._until = time.monotonic() + seconds

    def readable(self) -> bool:
        """It can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Wait for some bytes.

        Raises:
            TimeoutError: there is no time left.
        """
        self._connection.settimeout(max(0.001, self._until - time.monotonic()))
        return self._connection.recv_into(buffer)


def _policy_of(file: Path | None) -> str:
    if file is None or file.suffix != ".html":
        return _NOTHING
    with file.open("rb") as page:
        match = _POLICY.search(page.read(_HEAD).decode("utf-8", "replace"))
    return match[1] if match else _NOTHING


@contextmanager
def serving(folder: Path, host: str, port: int, list_reports: Callable[[], object] = lambda: None) -> Iterator[int]:
    """Serve a folder in a thread; gives the port, a free one for 0. `list_reports` writes the list of reports.

    Raises:
        OSError: the port is taken.
    """
    kind = _Server6 if ":" in host else ThreadingHTTPServer
    with kind((host, port), partial(ReportHandler, list_reports=list_reports, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.1,), name="reports", daemon=True)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


class _Server6(ThreadingHTTPServer):
    address_family = socket.AF_INET6
