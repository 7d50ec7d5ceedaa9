"""Serve the reports of an installation to browsers: files below one folder, read-only."""

import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from upath import UPath

from evaluation_assets.core.reporting.index import INDEX, write_index

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
_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")


class ReportHandler(SimpleHTTPRequestHandler):
    """Answers GET and HEAD for files below a folder; no listings, hidden files or links that lead out of it.

    Pages get the policy that they declare as a header; other files may load and run nothing. A server on the loopback
    interface answers only requests for a name of this machine, so that no foreign page reaches it by rebinding its own.
    """

    def send_head(self) -> Any:
        """Send the headers of a file; the caller copies its content."""
        if not self._is_for_this_server():
            self.send_error(HTTPStatus.MISDIRECTED_REQUEST)
            return None
        if urlsplit(self.path).path in ("/", f"/{INDEX}"):
            write_index(UPath(self.directory))
        if self._file() is None:
            self.send_error(HTTPStatus.NOT_FOUND)
            return None
        return super().send_head()

    def end_headers(self) -> None:
        """Add the headers that restrict what a browser does with the content."""
        self.send_header("Content-Security-Policy", f"{_policy_of(self._file())}; frame-ancestors 'none'")
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
        path = unquote(urlsplit(self.path).path)
        if path.endswith("/"):
            path += INDEX
        parts = path.split("/")[1:]
        if "\0" in path or any(part.startswith(".") or not part or "\\" in part for part in parts):
            return None
        root = Path(self.directory).resolve()
        file = root.joinpath(*parts).resolve()
        return file if file.is_file() and file.is_relative_to(root) else None

    def _is_for_this_server(self) -> bool:
        if not ip_address(self.connection.getsockname()[0]).is_loopback:
            return True
        return urlsplit(f"//{self.headers.get('Host', '')}").hostname in _LOOPBACK_NAMES


def _policy_of(file: Path | None) -> str:
    if file is None or file.suffix != ".html":
        return _NOTHING
    with file.open("rb") as page:
        found = _POLICY.search(page.read(_HEAD).decode("utf-8", "replace"))
    return found[1] if found else _NOTHING


@contextmanager
def serving(folder: Path, host: str, port: int) -> Iterator[int]:
    """Serve a folder in a thread; gives the port, a free one for 0.

    Raises:
        OSError: the port is taken.
    """
    kind = _Server6 if ":" in host else ThreadingHTTPServer
    with kind((host, port), partial(ReportHandler, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever, name="reports", daemon=True)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


class _Server6(ThreadingHTTPServer):
    address_family = socket.AF_INET6
