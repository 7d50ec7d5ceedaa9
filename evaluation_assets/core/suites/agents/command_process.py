"""The process of a command: it is given one text, and ends with all processes of its group.

Streams of asyncio are not used: with them, Python 3.11 waits for the end of a process until its pipes are closed, and
a process that the command started in a session of its own can keep them open for ever.
"""

import asyncio
import contextlib
import os
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_KEPT_OF_STDERR = 1500
_REST_S = 2.0
"""Seconds in which what stands in the pipes is read, once the whole group has been killed."""
_STDIN, _STDOUT = 0, 1


class TooMuchOutput(Exception):
    """The command wrote more than it may."""


@dataclass(frozen=True, slots=True)
class Finished:
    """How a command ended: `errors` is the end of its standard error."""

    status: int
    output: bytes
    errors: str


class _Pipes(asyncio.SubprocessProtocol):
    """Collects what a process writes; `exited` is set when it has ended, `closed` when its pipes are closed, too."""

    def __init__(self, most_output: int) -> None:
        loop = asyncio.get_running_loop()
        self.exited: asyncio.Future[None] = loop.create_future()
        self.closed: asyncio.Future[None] = loop.create_future()
        self.output = bytearray()
        self.errors = b""
        self._most_output = most_output

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd != _STDOUT:
            self.errors = (self.errors + data)[-_KEPT_OF_STDERR:]
        elif len(self.output) <= self._most_output:
            self.output += data
            if len(self.output) > self._most_output and not self.exited.done():
                self.exited.set_exception(TooMuchOutput)

    def process_exited(self) -> None:
        if not self.exited.done():
            self.exited.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.closed.done():
            self.closed.set_result(None)


async def run_command(
    command: Sequence[str], given: bytes, folder: Path | str | None, environment: Mapping[str, str], most_output: int
) -> Finished:
    """Run a command with `given` as its standard input until it ends; cancelling this kills it with its group.

    Processes that the command leaves behind do not delay its end: those of its group are killed.

    Raises:
        OSError: it cannot be started.
        TooMuchOutput: it wrote more than `most_output` bytes to its standard output.
    """
    transport, pipes = await asyncio.get_running_loop().subprocess_exec(
        lambda: _Pipes(most_output), *command, cwd=folder, env=environment, start_new_session=True
    )
    try:
        stdin = transport.get_pipe_transport(_STDIN)
        assert isinstance(stdin, asyncio.WriteTransport)
        stdin.write(given)
        stdin.write_eof()
        try:
            await pipes.exited
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(transport.get_pid(), signal.SIGKILL)
        await asyncio.wait([pipes.closed], timeout=_REST_S)
    finally:
        transport.close()
    status = transport.get_returncode()
    assert status is not None
    return Finished(status, bytes(pipes.output), pipes.errors.decode("utf-8", "replace"))
