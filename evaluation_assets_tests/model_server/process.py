"""A model server in a process of its own."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import orjson

from evaluation_assets_tests.forked_commands import fork
from evaluation_assets_tests.model_server.application import Models
from evaluation_assets_tests.model_server.scripts import Scripted
from evaluation_assets_tests.model_server.serving import serve


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as the server's log has it: status and answered are None while no answer has been sent."""

    number: int
    path: str
    sha256: str
    arrived: float
    status: int | None
    fault: str | None
    answered: float | None
    waited: float
    body: Any = None


def _serve(parent: Connection, port: int, latency: float, spread: float, keep_bodies: bool) -> None:
    """Serve until the process is told to stop, or the one that started it has ended."""

    def watch() -> None:
        with contextlib.suppress(EOFError, ConnectionResetError):
            parent.recv_bytes()
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()
    serve(Models(latency, keep_bodies, spread), port, parent.send)


class ModelServer:
    """A server in a process of its own."""

    def __init__(
        self,
        script: Scripted = (),
        *,
        port: int = 0,
        latency: float = 0.0,
        spread: float = 0.0,
        keep_bodies: bool = True,
    ) -> None:
        ours, theirs = multiprocessing.Pipe()
        self._parent = ours
        self.process = fork(_serve, theirs, port, latency, spread, keep_bodies)
        theirs.close()
        try:
            self.url: str = ours.recv()
            if script:
                self.script(script)
        except BaseException:
            self.kill()
            raise

    @property
    def openai_url(self) -> str:
        return f"{self.url}/v1"

    @property
    def anthropic_url(self) -> str:
        return f"{self.url}/anthropic"

    @property
    def vertex_url(self) -> str:
        return f"{self.url}/vertex/v1"

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def requests(self, bodies: bool = True) -> list[Asked]:
        """All requests since the start or the last reset."""
        return [Asked(**one) for one in orjson.loads(self._call(f"/log?bodies={int(bodies)}"))]

    def script(self, script: Scripted) -> None:
        """Replace the script; the log and the cached prefixes stay."""
        self._call("/script", orjson.dumps(script))

    def reset(self) -> None:
        """Forget the log, the cached prefixes and what of the script is used up."""
        self._call("/reset", b"")

    def stop(self) -> None:
        """End it as its operator would: answers under way have a second."""
        self._end(self.process.terminate)

    def kill(self) -> None:
        """End it as a power cut would."""
        self._end(self.process.kill)

    def _end(self, signal: Callable[[], None]) -> None:
        signal()
        self.process.join(timeout=10)
        if self.process.exitcode is None:
            self.process.kill()
            self.process.join()
        self._parent.close()

    def _call(self, path: str, body: bytes | None = None) -> bytes:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(urllib.request.Request(self.url + path, data=body), timeout=60) as response:
                return response.read()
        except urllib.error.HTTPError as error:
            with error:
                raise ValueError(error.read().decode()) from None


@contextlib.contextmanager
def model_server(
    script: Scripted = (),
    *,
    port: int = 0,
    latency: float = 0.0,
    spread: float = 0.0,
    keep_bodies: bool = True,
) -> Iterator[ModelServer]:
    """A model server for the length of a block."""
    server = ModelServer(script, port=port, latency=latency, spread=spread, keep_bodies=keep_bodies)
    try:
        yield server
    finally:
        server.stop()
