"""A model server in a process of its own."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from evaluation_assets_tests.model_server.scripts import Scripted


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
        root = str(Path(__file__).parents[2])
        command = [sys.executable, "-m", "evaluation_assets_tests.model_server", "--with-parent"]
        command += ["--port", str(port), "--latency", str(latency), "--spread", str(spread)]
        command += [] if keep_bodies else ["--forget-bodies"]
        paths = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": paths}
        )
        try:
            assert self.process.stdout is not None
            self.url = self.process.stdout.readline().strip()
            if not self.url:
                raise RuntimeError(f"the model server ended with {self.process.wait()}")
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
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for pipe in filter(None, (self.process.stdin, self.process.stdout)):
            pipe.close()

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
