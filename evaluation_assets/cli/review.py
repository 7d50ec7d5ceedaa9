"""`review`: label the trajectories of a drop in a browser; labels are written as they are given."""

import getpass
import re
import secrets
import unicodedata
from functools import partial
from http import HTTPStatus
from http.server import ThreadingHTTPServer
from typing import Any, Final

import click
import orjson

from evaluation_assets.cli.opening import page_of, show
from evaluation_assets.cli.options import PORT, with_home
from evaluation_assets.cli.output import echo, refuse
from evaluation_assets.cli.serving.report_server import FileHandler
from evaluation_assets.core.review.desk import InvalidLabel, ReviewDesk
from evaluation_assets.core.system.installation import Installation

_MOST: Final = 4 << 20
"""Largest body of labels, in bytes."""


@click.command()
@click.argument("drop")
@click.option("--annotator", help="Your name in the labels (default: your user name).")
@click.option("--port", type=PORT, default=0, help="Port on this machine (default: a free one).")
@click.option("--print", "only_print", is_flag=True, help="Print the address; open no browser.")
@with_home
def review(home: Installation, drop: str, annotator: str | None, port: int, only_print: bool) -> None:
    """Label the runs of a drop in a browser.

    The review queue opens; scores are hidden until you have labelled a run. Labels are written to the folder
    labels/ of the home folder as you give them, until Ctrl-C. `judges` compares the judges with them.
    """
    name = unicodedata.normalize("NFC", getpass.getuser() if annotator is None else annotator.strip())
    if not re.fullmatch(r"[\w.@+-]{1,80}", name):
        refuse(f"--annotator {name!r}: use letters, digits and . @ + - _, at most 80")
    page = page_of(home, drop)
    runs = frozenset(home.table(drop, "preprocessed_trajectories").values("trajectory_id"))
    desk = ReviewDesk(home, drop, name, runs)
    token = secrets.token_urlsafe(24)
    try:
        desk.check_writable()
    except OSError as problem:
        refuse(f"{desk.file} cannot be written: {problem.strerror}")
    try:
        server = ThreadingHTTPServer(("127.0.0.1", port), partial(_Handler, desk, token, directory=page.parent.path))
    except OSError as problem:
        refuse(f"port {port} cannot be used: {problem.strerror}; choose another with --port")
    with server:
        show(f"http://127.0.0.1:{server.server_port}/{page.name}?review={token}#/review", only_print)
        echo(f"Labels of {name} are written to {desk.file}; press Ctrl-C to stop.", err=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            echo(f"{len(desk.labels())} labels are in {desk.file}. Next: {home.command('judges')}", err=True)


class _Handler(FileHandler):
    """Serves the files of one report, and takes labels from the page that knows the token."""

    def __init__(self, desk: ReviewDesk, token: str, *args: Any, **options: Any) -> None:
        self._desk = desk
        self._token = token
        super().__init__(*args, **options)

    def do_GET(self) -> None:  # noqa: N802  (the names that http.server calls)
        if self.path != "/review":
            super().do_GET()
        elif self._may():
            said = {"annotator": self._desk.annotator, "file": str(self._desk.file), "labels": self._desk.labels()}
            self._answer(HTTPStatus.OK, orjson.dumps(said), "application/json")

    def do_POST(self) -> None:  # noqa: N802
        length = self.headers.get("Content-Length", "")
        if not self._may():
            return
        if self.path != "/review" or not length.isdecimal() or int(length) > _MOST:
            self._answer(HTTPStatus.BAD_REQUEST, b"labels are posted to /review, at most 4 MiB")
            return
        try:
            count = self._desk.save(self.rfile.read(int(length)))
        except InvalidLabel as problem:
            self._answer(HTTPStatus.UNPROCESSABLE_ENTITY, str(problem).encode())
        except OSError as problem:
            self._answer(HTTPStatus.INTERNAL_SERVER_ERROR, f"{self._desk.file}: {problem.strerror}".encode())
        else:
            self._answer(HTTPStatus.OK, orjson.dumps({"labels": count}), "application/json")

    def _may(self) -> bool:
        """Whether the request comes from the page that was opened: other pages of the browser do not know the token."""
        if secrets.compare_digest(self.headers.get("X-Review-Token", "").encode(), self._token.encode()):
            return True
        self._answer(HTTPStatus.FORBIDDEN, b"open the address that evaluation-assets review printed")
        return False

    def _answer(self, status: HTTPStatus, body: bytes, kind: str = "text/plain; charset=utf-8") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
